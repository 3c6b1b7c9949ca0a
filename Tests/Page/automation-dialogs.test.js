import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { openAutomation } from "../../Sources/App/WebFiles/page/automation-details.js";
import { openEditor } from "../../Sources/App/WebFiles/page/automation-editor.js";
import { answerQuestion, replace, replaceDocument, restore } from "./elements.js";

let body;
/** Answers a request of the page. */
let answer = async () => Response.json({});
let kept = [];
const automation = {
  id: "a1", name: "Night light", isActive: true, validationIssues: [], etag: "1", ownerID: "anna",
  automationGraph: { version: 1, nodes: [{ type: "manualStarter" }, { type: "delay", for: 60 }] },
};
const context = {
  home: { structures: new Map(), tiles: new Map() }, structureID: "s1", isOfOthers: () => false, nameOf: () => "Lamp",
  known: () => automation, listen: () => () => {}, keep: (one) => kept.push(one), forget: () => {},
};
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
const form = (words) => body.querySelectorAll("form").find((one) => one.textContent.includes(words));

beforeEach(() => {
  ({ body } = replaceDocument());
  replace("HTMLSelectElement", document.createElement("select").constructor);
  kept = [];
  replace("fetch", (path, options) => answer(path, options));
});
afterEach(restore);

test("an automation that was changed is done, even if it cannot be read afterwards", async () => {
  const requests = [];
  answer = async (path, { method }) => {
    requests.push(`${method} ${path}`);
    if (path.endsWith("/candidates")) return Response.json({ candidates: [] });
    if (method === "PATCH") return Response.json({});
    return Response.json({ error: { status: "UNAVAILABLE", message: "busy" } }, { status: 503 });
  };
  openEditor(context, automation);
  await settle();
  form("Save").listeners.get("submit")({ preventDefault() {} });
  await settle();
  assert.deepEqual(requests.slice(-2), ["PATCH /v1/automations/a1", "GET /v1/automations/a1"]);
  // Saving again would fail, because the automation is not the one that was read.
  assert.deepEqual([body.querySelectorAll("dialog").length, kept], [0, []]);
});

test("an editor asks before it loses what somebody has changed, and only then", async () => {
  const suggestions = [{ ...automation, name: "Suggested" }];
  answer = async (path) => Response.json(path.endsWith("/suggestions") ? { suggestions } : { candidates: [] });
  openEditor(context, null);
  await settle();
  const [node] = body.querySelectorAll("dialog");
  const button = (words) => node.querySelectorAll("button").find((one) => one.textContent === words);
  const press = (words) => button(words).listeners.get("click")({});
  const escape = () => {
    let isPrevented = false;
    node.listeners.get("cancel")({ target: node, cancelable: true, preventDefault: () => { isPrevented = true; } });
    return isPrevented;
  };
  const questions = () => body.querySelectorAll(".ask").length;
  assert.deepEqual([escape(), questions()], [false, 0]);
  // The stand-ins for elements are found by their `name`, which the editor gives to its fields.
  const [name] = node.querySelectorAll("name");
  name.value = "Mine";
  name.listeners.get("input")({});
  const pressBeside = () => {
    node.listeners.get("pointerdown")({ target: node });
    node.listeners.get("click")({ target: node });
  };
  for (const leave of [escape, () => press("Close"), () => press("Cancel"), () => press("Suggested"), pressBeside]) {
    leave();
    assert.equal(questions(), 1);
    await answerQuestion(body, false);
    assert.deepEqual([questions(), node.isConnected, name.isConnected], [0, true, true]);
  }
  press("Suggested");
  await answerQuestion(body, true);
  const [suggested] = node.querySelectorAll("name");
  assert.deepEqual([node.isConnected, name.isConnected, suggested.value], [true, false, "Suggested"]);
  suggested.value = "Mine";
  suggested.listeners.get("input")({});
  press("Cancel");
  await answerQuestion(body, true);
  assert.equal(node.isConnected, false);
});

test("why an automation ran is said of the moment that was asked for last", async () => {
  const waiting = [];
  answer = async (path) => {
    if (!path.includes("/explain")) return Response.json({ runs: [] });
    return new Promise((resolve) => { waiting.push((text) => resolve(Response.json({ text, runs: [] }))); });
  };
  openAutomation(context, "a1");
  await settle();
  const question = form("Explain");
  const [when] = question.querySelectorAll("input");
  for (const time of ["2026-03-01T10:00", "2026-03-01T11:00"]) {
    when.value = time;
    question.listeners.get("submit")({ preventDefault() {} });
  }
  await settle();
  waiting[1]("the later moment");
  await settle();
  waiting[0]("the earlier moment");
  await settle();
  assert.equal(question.parentNode.lastElementChild.textContent, "the later moment");
});

test("a run that is opened, and that goes on, keeps the focus", async () => {
  answer = async (path) => Response.json(path.includes("/runs/") ? { id: "r1", entries: [] } : { runs: [{ id: "r1", startedAt: "2026-03-01T10:00:00Z" }] });
  let tell = () => {};
  openAutomation({ ...context, listen: (listener) => {
    tell = listener.changed;
    return () => {};
  } }, "a1");
  await settle();
  const details = body.querySelectorAll(".run")[0];
  const [summary] = details.children;
  summary.focus();
  details.open = true;
  details.listeners.get("toggle")();
  await settle();
  assert.deepEqual([details.children.length, document.activeElement === summary], [2, true]);
  tell({ ...automation, lastRun: { id: "r1", startedAt: "2026-03-01T10:00:00Z", text: "It waits" } }, "a1");
  await settle();
  assert.deepEqual([/It waits/.test(details.textContent), document.activeElement === summary], [true, true]);
});
