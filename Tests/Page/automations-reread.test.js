import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { openAutomation } from "../../Sources/App/WebFiles/page/automation-details.js";
import { openAutomations } from "../../Sources/App/WebFiles/page/automation-list.js";
import { replace, replaceDocument, restore } from "./elements.js";

// The list is read again after a time without a connection, in which no event has reported anything.

let automations = [];
/** The runs of the automation, the newest first. */
let runs = [];
/** The requests for runs. */
let requests = [];
/** Called before runs are answered. */
let beforeRuns = () => {};
let list;
let details;
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
const automation = (more) => ({
  id: "a1", name: "Night light", isActive: true, isValid: true, validationIssues: [], automationGraph: { version: 1, nodes: [] }, ...more,
});
const run = (more) => ({ id: "r1", startedAt: "2026-06-01T09:00:00Z", ...more });

beforeEach(async () => {
  replaceDocument();
  replace("fetch", async (path, { signal }) => {
    if (path.endsWith("/events")) return new Promise((_, reject) => { signal.addEventListener("abort", () => reject(new Error("left"))); });
    if (!path.includes("/runs?")) return Response.json({ automations });
    requests.push(path);
    const query = new URL(path, "http://gateway").searchParams;
    const first = runs.findIndex(({ id }) => id === query.get("before")) + 1;
    const page = runs.slice(first, first + Number(query.get("limit")));
    const isLast = first + page.length === runs.length;
    beforeRuns();
    return Response.json({ runs: page, ...(isLast ? {} : { next: page.at(-1).id }) });
  });
  runs = [run()];
  [requests, beforeRuns] = [[], () => {}];
  automations = [automation({ isRunning: true, lastRun: run() })];
  const structures = new Map([["s1", { id: "s1", name: "Home" }]]);
  list = openAutomations({ structures, tiles: new Map() }, { may: () => true, isOfOthers: () => false });
  list.place.value = "s1";
  list.watch();
  await settle();
  details = openAutomation(list.context(), "a1");
  await settle();
});
afterEach(() => {
  list.node.close();
  restore();
});

async function readAgain() {
  await list.load("s1");
  await settle();
}
/** Runs of the automation, the newest first. */
const several = (count) => Array.from({ length: count }, (_, at) => run({ id: `r${count - at}`, text: `Run ${count - at}.`, end: "completed" }));
/** What happened while the connection was lost. */
function happened(now) {
  runs = now;
  automations = [automation({ lastRun: now[0] })];
}
const shown = () => [...details.runs.textContent.matchAll(/Run \d+/g)].join(", ");

test("an open automation shows what has become of it meanwhile", async () => {
  runs = [run({ id: "r2", end: "failed" }), run()];
  automations = [automation({ name: "Hall light", isActive: false, lastRun: runs[0] })];
  await readAgain();
  assert.deepEqual([details.heading.textContent, details.state.textContent], ["Hall light", "Off"]);
  assert.match(details.runs.textContent, /Something failed/);
});

test("an automation that was deleted meanwhile is not shown any more", async () => {
  automations = [];
  await readAgain();
  assert.deepEqual([details.node.open, list.list.children.length], [false, 0]);
});

test("an open automation shows every run that began in the meantime, and how the earlier runs ended", async () => {
  happened(several(4));
  await readAgain();
  assert.equal(shown(), "Run 4, Run 3, Run 2, Run 1");
});

test("a run that is open keeps its place, and the focus, when runs come above it", async () => {
  const [row] = details.runs.children;
  const [summary] = row.querySelectorAll("summary");
  summary.focus();
  happened(several(3));
  await readAgain();
  assert.deepEqual([details.runs.children[2] === row, document.activeElement === summary], [true, true]);
});

test("as many runs as are shown are reread at once, without a gap, and the earlier ones follow", async () => {
  happened(several(60));
  await readAgain();
  // The one that was shown is not among the newest, and the list has no gap.
  assert.deepEqual([details.runs.children.length, shown().startsWith("Run 60, Run 59"), shown().endsWith("Run 39")], [22, true, true]);
  await details.readRuns();
  assert.equal(shown(), several(60).slice(0, 42).map(({ id }) => `Run ${id.slice(1)}`).join(", "));
  requests = [];
  await readAgain();
  assert.deepEqual([requests.length, requests[0].includes("limit=62"), details.runs.children.length], [1, true, 60]);
});

test("an event about a run is newer than the runs that are reread at the same time", async () => {
  happened(several(3));
  beforeRuns = () => {
    list.store.event("run", { ...run({ id: "r3", startedAt: "2026-06-01T09:00:00Z", text: "Run 3 has failed.", end: "failed" }), automationID: "a1" });
    list.store.event("run", { ...run({ id: "r4", startedAt: "2026-06-01T09:01:00Z", text: "Run 4." }), automationID: "a1" });
  };
  await readAgain();
  assert.match(details.runs.textContent, /Run 4.*Run 3 has failed.*Run 2.*Run 1/);
});
