import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { openAutomation } from "../../Sources/App/WebFiles/page/automation-details.js";
import { openAutomations } from "../../Sources/App/WebFiles/page/automation-list.js";
import { momentElement, renewMoments } from "../../Sources/App/WebFiles/page/moments.js";
import { replace, replaceDocument, restore } from "./elements.js";

// A dialog may stay open overnight. A time without a date would look like one of today.

let body;
const evening = new Date(2026, 5, 1, 14, 3, 0);
const startedAt = evening.toISOString();
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };

beforeEach(() => {
  ({ body } = replaceDocument());
  mock.timers.enable({ apis: ["Date"], now: new Date(2026, 5, 1, 22, 0, 0) });
  renewMoments();
});
afterEach(() => {
  mock.timers.reset();
  restore();
});

/** Goes on to a day of June. */
function wake(day) {
  mock.timers.setTime(new Date(2026, 5, day, 7, 0, 0).getTime());
  renewMoments();
}

test("a moment gets its day when today is over", () => {
  const node = momentElement(startedAt);
  body.append(node);
  assert.match(node.textContent, /^0?2:03:00/);
  wake(2);
  assert.match(node.textContent, /^Yesterday, 0?2:03:00/);
  wake(4);
  assert.match(node.textContent, /^Jun 1, 0?2:03:00/);
});

test("moments are said again once a day", () => {
  const node = momentElement(startedAt);
  body.append(node);
  wake(2);
  node.textContent = "read aloud";
  renewMoments();
  assert.equal(node.textContent, "read aloud");
});

const lastRun = { id: "r1", startedAt, end: "completed" };
const automation = {
  id: "a1", name: "Night light", owner: "anna", isActive: true, isValid: true, validationIssues: [], lastRun,
  automationGraph: { version: 1, nodes: [{ type: "manualStarter" }] },
};

test("the last run of an automation in a list that stays open overnight gets its day", async () => {
  replace("fetch", async (path, { signal }) => {
    if (path.endsWith("/events")) return new Promise((_, reject) => { signal.addEventListener("abort", () => reject(new Error("left"))); });
    return Response.json({ automations: [automation] });
  });
  const structures = new Map([["s1", { id: "s1", name: "Home" }]]);
  const list = openAutomations({ structures, tiles: new Map() }, { may: () => true, isOfOthers: () => true });
  list.place.value = "s1";
  list.watch();
  await settle();
  const [row] = list.rows.values();
  assert.match(row.last.textContent, /anna.* 0?2:03:00.*: Done$/);
  wake(2);
  assert.match(row.last.textContent, /anna.* Yesterday, 0?2:03:00.*: Done$/);
  list.node.close();
});

test("the runs of an automation and their steps get their day, in a dialog that stays open overnight", async () => {
  const run = { ...lastRun, entries: [{ at: startedAt, strand: 0, path: "", kind: "read" }] };
  replace("fetch", async (path) => Response.json(path.includes("/r1") ? run : { runs: [run] }));
  const details = openAutomation({ known: () => automation, listen: () => () => {}, isOfOthers: () => false, nameOf: () => "" }, "a1");
  await settle();
  await details.drawInto("r1");
  const said = () => details.runs.querySelectorAll("time").map((one) => one.textContent);
  assert.ok(said().length >= 2);
  for (const words of said()) assert.match(words, /^0?2:03:00/);
  wake(2);
  for (const words of said()) assert.match(words, /^Yesterday, 0?2:03:00/);
  details.node.close();
});
