import assert from "node:assert/strict";
import { test } from "node:test";

import { PanelRegistry, PanelSet } from "../../Sources/App/WebFiles/page/panels.js";

const doorbell = { id: "door", type: "D", endpoints: [{ id: 1, types: ["D"], traits: { DoorbellPress: {} } }] };
const camera = { id: "door", type: "D", endpoints: [{ id: 1, types: ["D"], traits: {} }] };

/** Panels that write down what is done with them, on a tile that does the same. */
function tile(...kinds) {
  const log = [];
  const registry = new PanelRegistry();
  for (const { name, fits = () => true, ...members } of kinds) {
    registry.register({
      name, fits,
      make: (host) => {
        log.push(`make ${name} at ${host.place}`);
        return { update: () => log.push(`update ${name}`), remove: () => log.push(`remove ${name}`), ...members };
      },
    });
  }
  const panels = new PanelSet(registry.kinds,
    (place) => ({ host: { place }, clear: () => log.push(`clear ${place}`) }));
  return { panels, taken: () => log.splice(0) };
}

/** Runs an action, and answers what it reported to the browser. */
function reported(action) {
  const messages = [];
  globalThis.reportError = (error) => messages.push(error.message);
  try {
    action();
  } finally {
    delete globalThis.reportError;
  }
  return messages;
}

test("two panels with one name are a mistake", () => {
  const registry = new PanelRegistry();
  registry.register({ name: "timeline" });
  assert.throws(() => registry.register({ name: "timeline" }), /two panels have the name timeline/);
});

test("a panel is made once, in its place, and updated each time", () => {
  const { panels, taken } = tile({ name: "view" }, { name: "line" });
  panels.update(camera);
  assert.deepEqual(taken(), ["make view at 0", "make line at 1", "update view", "update line"]);
  panels.update(camera);
  assert.deepEqual(taken(), ["update view", "update line"]);
});

test("a panel comes and goes with the traits that it is for", () => {
  const ring = { name: "ring", fits: (device) => device.endpoints[0].traits.DoorbellPress !== undefined };
  const { panels, taken } = tile({ name: "view" }, ring, { name: "line" });
  panels.update(camera);
  assert.deepEqual(taken(), ["make view at 0", "make line at 2", "update view", "update line"]);
  panels.update(doorbell);
  assert.deepEqual(taken(), ["make ring at 1", "update view", "update ring", "update line"]);
  panels.update(camera);
  assert.deepEqual(taken(), ["remove ring", "clear 1", "update view", "update line"]);
  panels.update(doorbell);
  assert.deepEqual(taken(), ["make ring at 1", "update view", "update ring", "update line"]);
  panels.remove();
  assert.deepEqual(taken().sort(), ["clear 0", "clear 1", "clear 2", "remove line", "remove ring", "remove view"]);
  panels.remove();
  assert.deepEqual(taken(), []);
});

test("a panel needs no members", () => {
  const panels = new PanelSet([{ name: "still", fits: () => true, make: () => ({}) }],
    () => ({ host: {}, clear: () => {} }));
  assert.deepEqual(reported(() => {
    panels.update(camera);
    panels.remove();
  }), []);
  assert.equal(panels.fault(), null);
  assert.equal(panels.isActive, false);
});

test("an exception in one panel does not affect the others", () => {
  const broken = () => { throw new Error("broken wing"); };
  const { panels, taken } = tile({ name: "broken", update: broken, event: broken, remove: broken, fault: broken },
    { name: "view", event: () => {}, fault: () => ({ message: "no picture" }) },
    { name: "never", fits: broken });
  assert.deepEqual(reported(() => panels.update(camera)), ["broken wing", "broken wing"]);
  assert.deepEqual(taken(), ["make broken at 0", "make view at 1", "update view"]);
  assert.deepEqual(reported(() => assert.deepEqual(panels.fault(), { message: "no picture" })), ["broken wing"]);
  assert.deepEqual(reported(() => panels.remove()), ["broken wing"]);
  assert.deepEqual(taken(), ["clear 0", "remove view", "clear 1"]);
});

test("the first fault in the order of the panels is shown", () => {
  let early = null;
  const { panels } = tile({ name: "view", fault: () => early }, { name: "line", fault: () => ({ message: "late" }) });
  panels.update(camera);
  assert.equal(panels.fault().message, "late");
  early = { message: "early" };
  assert.equal(panels.fault().message, "early");
});

test("a tile has something going on if one of its panels has", () => {
  const view = { name: "view", isActive: false };
  for (const [first, second] of [[false, false], [true, false], [false, true], [true, true]]) {
    const { panels } = tile({ ...view, isActive: first }, { name: "line" }, { name: "other", isActive: second });
    panels.update(camera);
    assert.equal(panels.isActive, first || second);
  }
});
