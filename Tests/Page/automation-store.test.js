import assert from "node:assert/strict";
import { test } from "node:test";

import { AutomationStore } from "../../Sources/App/WebFiles/page/automation-store.js";

const one = (id, more = {}) => ({ id, name: id, isRunning: false, ...more });
const run = (id, startedAt, more = {}) => ({ id, automationID: "a1", startedAt, ...more });

function made() {
  const changed = [];
  const store = new AutomationStore((id) => changed.push(id));
  return { store, changed };
}

test("what an event says while the list is read is newer", async () => {
  const { store } = made();
  let answer;
  const load = store.load(() => new Promise((resolve) => { answer = resolve; }));
  store.event("automation", one("a1", { name: "new" }));
  store.event("automationRemoved", { automationID: "a2" });
  answer([one("a1", { name: "old" }), one("a2"), one("a3")]);
  await load;
  assert.deepEqual([...store.automations.values()].map(({ name }) => name), ["new", "a3"]);
});

test("a list for another home is not shown", async () => {
  const { store } = made();
  const load = store.load(async () => [one("a1")]);
  // Another home was chosen.
  store.clear();
  assert.deepEqual([await load, store.automations.size], [false, 0]);
  const failing = store.load(async () => { throw new Error("the home before"); });
  store.clear();
  assert.equal(await failing, false);
});

test("an older list does not take the place of a newer one, and its failure is nobody's news", async () => {
  const { store } = made();
  const waiting = [];
  const read = () => new Promise((resolve, reject) => { waiting.push({ resolve, reject }); });
  const names = () => [...store.automations.values()].map(({ name }) => name);
  const loads = [store.load(read), store.load(read), store.load(read)];
  waiting[1].resolve([one("a1", { name: "newer" })]);
  assert.equal(await loads[1], true);
  waiting[0].resolve([one("a1", { name: "older" }), one("a2")]);
  assert.equal(await loads[0], false);
  assert.deepEqual(names(), ["newer"]);
  waiting[2].reject(new Error("the newest"));
  await assert.rejects(loads[2], /the newest/);
  const failing = store.load(read);
  const last = store.load(read);
  waiting[3].reject(new Error("an older one"));
  assert.equal(await failing, false);
  waiting[4].resolve([]);
  await last;
  assert.deepEqual(names(), []);
});

test("runs are shown at their automation, and an older one does not replace a newer", () => {
  const { store, changed } = made();
  store.put(one("a1"));
  store.event("run", run("r1", "2026-11-23T10:00:00.000Z"));
  assert.equal(store.automations.get("a1").isRunning, true);
  store.event("run", run("r1", "2026-11-23T10:00:00.000Z", { end: "completed" }));
  assert.equal(store.automations.get("a1").isRunning, false);
  store.event("run", run("r0", "2026-11-23T09:00:00.000Z"));
  assert.equal(store.automations.get("a1").lastRun.id, "r1");
  store.event("run", run("r9", "2026-11-23T11:00:00.000Z", { automationID: "other" }));
  assert.deepEqual(changed, ["a1", "a1", "a1"]);
});

test("a trigger that counted for nothing does not end the run that goes on", () => {
  const { store } = made();
  store.put(one("a1"));
  store.event("run", run("r1", "2026-11-23T10:00:00.000Z"));
  store.event("run", run("r2", "2026-11-23T10:00:01.000Z", { end: "alreadyRunning" }));
  assert.equal(store.automations.get("a1").isRunning, true);
  store.event("run", run("r1", "2026-11-23T10:00:00.000Z", { end: "completed" }));
  assert.equal(store.automations.get("a1").isRunning, false);
});

test("weeks of runs leave one run for each automation", () => {
  const { store } = made();
  store.put(one("a1"));
  for (let number = 0; number < 10000; number += 1) {
    store.event("run", run(`r${number}`, new Date(number * 1000).toISOString(), { end: "completed" }));
  }
  assert.equal(store.automations.size, 1);
  assert.equal(store.automations.get("a1").lastRun.id, "r9999");
  assert.equal(store.loads.size, 0);
});
