import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { Candidates } from "../../Sources/App/WebFiles/page/candidates.js";
import { blockFields } from "../../Sources/App/WebFiles/page/condition-rows.js";
import { starterList } from "../../Sources/App/WebFiles/page/starter-rows.js";
import { stepList } from "../../Sources/App/WebFiles/page/step-rows.js";
import { replaceDocument, restore } from "./elements.js";

// A row that is drawn again loses the keyboard's focus, and somebody without a pointer would begin at the top.

let body;
const desk = { candidates: new Candidates([]), structureID: "s1", hasCoordinates: true, nameOf: () => "", placed: () => {}, hint: () => document.createElement("p") };
const delay = (seconds) => ({ kind: "delay", seconds });
const days = () => ({ kind: "days", structure: "s1", days: ["monday"] });
const named = (button) => button.getAttribute("aria-label") ?? button.textContent;
/** What has the focus, which is in the page. */
function held() {
  assert.ok(document.activeElement?.isConnected, "the focus is lost");
  return named(document.activeElement);
}
function press(words) {
  const button = body.querySelectorAll("button").find((one) => named(one) === words);
  assert.ok(button && !button.disabled, words);
  button.focus();
  button.listeners.get("click")();
  return held();
}

beforeEach(() => ({ body } = replaceDocument()));
afterEach(restore);

test("a step that is moved keeps the focus at its button, and at an end of the list at the other one", () => {
  const steps = [delay(60), delay(120), delay(180)];
  body.append(stepList(steps, desk));
  assert.equal(press("Move step 1 down"), "Move step 2 down");
  assert.equal(press("Move step 2 down"), "Move step 3 up");
  assert.equal(press("Move step 3 up"), "Move step 2 up");
  assert.deepEqual(steps.map(({ seconds }) => seconds), [120, 60, 180]);
});

test("the focus goes on to the row that takes the place of one that is removed", () => {
  body.append(stepList([delay(60), delay(120), delay(180)], desk));
  assert.equal(press("Remove step 2"), "Remove step 2");
  assert.equal(press("Remove step 2"), "Remove step 1");
  assert.equal(press("Remove step 1"), "Add a step");
});

test("a row that is added has the focus at its first field", () => {
  const starters = [{ kind: "manual" }];
  body.append(starterList(starters, desk));
  press("Add a starter");
  const choices = body.querySelectorAll("kind");
  assert.deepEqual([choices.length, choices.indexOf(document.activeElement)], [2, 1]);
});

test("comparisons that are added and removed keep the focus in their condition", () => {
  const block = { kind: "condition", join: "and", rows: [days()], seconds: null };
  body.append(blockFields(block, desk, false));
  press("Another comparison");
  assert.equal(body.querySelectorAll("what").indexOf(document.activeElement), 1);
  press("Another comparison");
  assert.equal(press("Remove comparison 2"), "Remove comparison 2");
  // A single comparison cannot be removed.
  assert.equal(press("Remove comparison 2"), "Another comparison");
});

test("branches that are added and removed keep the focus in their step", () => {
  const choice = { kind: "choice", branches: [{ block: { kind: "condition", join: "and", rows: [days()], seconds: null }, steps: [] }], otherwise: null };
  const parallel = { kind: "parallel", branches: [[delay(1)], [delay(2)]] };
  body.append(stepList([choice, parallel], desk));
  press("Else, if");
  assert.equal(body.querySelectorAll("what").indexOf(document.activeElement), 1);
  assert.equal(press("Else"), "Add a step");
  assert.equal(press("Remove Else"), "Else");
  assert.equal(press("Remove Else, if"), "Else, if");
  press("Add a branch");
  assert.equal(document.activeElement.name, "kind");
  assert.equal(press("Remove Branch 2"), "Add a branch");
});

test("several branches for other conditions have names of their own, and so have their buttons", () => {
  const branch = () => ({ block: { kind: "condition", join: "and", rows: [days()], seconds: null }, steps: [] });
  body.append(stepList([{ kind: "choice", branches: [branch(), branch(), branch()], otherwise: null }], desk));
  const names = () => body.querySelectorAll(".nested").map(named);
  assert.deepEqual(names(), ["If", "Else, if (1)", "Else, if (2)"]);
  assert.equal(press("Remove Else, if (2)"), "Remove Else, if");
  assert.deepEqual(names(), ["If", "Else, if"]);
});

test("a choice that draws its list again keeps the focus in its own row", () => {
  const steps = [delay(60), delay(120), delay(180)];
  body.append(stepList(steps, desk));
  const second = body.querySelectorAll("kind")[1];
  second.focus();
  second.value = "suppress";
  second.listeners.get("change")();
  assert.deepEqual(steps.map(({ kind }) => kind), ["delay", "suppress", "delay"]);
  const choices = body.querySelectorAll("kind");
  assert.equal(choices.indexOf(document.activeElement), 1);
});
