import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, test } from "node:test";

import { ask } from "../../Sources/App/WebFiles/page/ask.js";
import { openDialog } from "../../Sources/App/WebFiles/page/dialog.js";
import { answerQuestion, replaceDocument, restore } from "./elements.js";

let body;
beforeEach(() => ({ body } = replaceDocument()));
afterEach(restore);

const questions = () => body.querySelectorAll(".ask");
const settle = () => new Promise(setImmediate);
/** Asks, and keeps the answer. */
function asking(options) {
  const asked = { answer: undefined };
  const wait = async () => { asked.answer = await ask({ question: "Remove the room?", yes: "Remove", ...options }); };
  wait();
  return asked;
}

test("a dangerous question has its name, its details and the focus on the button that changes nothing", async () => {
  const asked = asking({ details: ["Its devices stay.", "Its automations end."], isDangerous: true, no: "Keep it" });
  const [node] = questions();
  const named = (id) => node.querySelectorAll("h2, p").find((one) => one.id === id).textContent;
  assert.equal(named(node.getAttribute("aria-labelledby")), "Remove the room?");
  assert.deepEqual(node.getAttribute("aria-describedby").split(" ").map(named), ["Its devices stay.", "Its automations end."]);
  assert.equal(document.activeElement.textContent, "Keep it");
  await answerQuestion(body, true);
  assert.deepEqual([asked.answer, questions().length], ["", 0]);
});

test("the key Escape says no, and the browser does not close the dialog below with it", async () => {
  const { node: below } = openDialog("Rooms", "");
  const asked = asking({});
  let isPrevented = false;
  const key = (more) => questions()[0].listeners.get("keydown")({
    key: "Escape", isComposing: false, defaultPrevented: false, preventDefault: () => { isPrevented = true; }, ...more,
  });
  key({ isComposing: true });
  key({ key: "a" });
  assert.deepEqual([isPrevented, questions().length], [false, 1]);
  key({});
  await settle();
  assert.deepEqual([isPrevented, asked.answer, questions().length, below.open], [true, null, 0, true]);
});

test("a second question above the first one has a name of its own, and each gets its answer", async () => {
  const first = asking({});
  const second = asking({ question: "Delete the recording?" });
  const names = questions().map((one) => one.getAttribute("aria-labelledby"));
  assert.equal(new Set(names).size, 2);
  await answerQuestion(body, true);
  assert.deepEqual([first.answer, second.answer], [undefined, ""]);
  await answerQuestion(body, false);
  assert.deepEqual([first.answer, second.answer], [null, ""]);
});

test("the page leaves no question to the browser, in which somebody may have switched them off", () => {
  const page = new URL("../../Sources/App/WebFiles/page/", import.meta.url);
  const found = readdirSync(page).filter((name) => name.endsWith(".js"))
    .filter((name) => /(?<![.\w`])(?:window\.)?(?:confirm|alert|prompt)\(/.test(readFileSync(new URL(name, page), "utf8")));
  assert.deepEqual(found, []);
});
