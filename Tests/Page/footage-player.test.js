import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, mock, test } from "node:test";

import { PageError } from "../../Sources/App/WebFiles/page/api.js";
import { FootagePlayer } from "../../Sources/App/WebFiles/page/footage-player.js";
import { replace, restore, TestElement } from "./elements.js";

/** What happened, in order: attempts, and what was said. */
let log = [];
/** What each attempt does, by its turn; the others do nothing. @type {(Error | null)[]} */
let outcomes = [];
let player;

beforeEach(() => {
  log = [];
  outcomes = [];
  replace("MediaSource", class {
    addEventListener(_, listener) { listener(); }
  });
  mock.method(URL, "createObjectURL", () => "blob:");
  mock.method(URL, "revokeObjectURL", () => {});
  mock.timers.enable({ apis: ["setTimeout"] });
  const video = Object.assign(new TestElement("video"), { currentTime: 0, buffered: { length: 0 }, load: () => {}, removeEventListener: () => {} });
  player = new FootagePlayer("yard", video, 0, () => undefined, (error) => log.push(error ? error.status : "goes on"));
  player.step = async () => {
    log.push("attempt");
    const outcome = outcomes.shift();
    if (outcome) throw outcome;
    return false;
  };
});
afterEach(() => {
  player.close();
  mock.timers.reset();
  mock.restoreAll();
  restore();
});

const settle = async () => { for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate); };
async function pass(milliseconds) {
  await settle();
  mock.timers.tick(milliseconds);
  await settle();
}

for (const status of ["UNREACHABLE", "UNAVAILABLE"]) {
  test(`a fetch that has ended with ${status} is repeated after three seconds, and the words about it go`, async () => {
    outcomes = [new PageError(status, "no")];
    player.run(0);
    await pass(2999);
    assert.deepEqual(log, ["attempt", status]);
    await pass(1);
    assert.deepEqual(log, ["attempt", status, "attempt", "goes on"]);
  });
}

test("the pause grows while nothing answers, and begins again after an answer", async () => {
  outcomes = Array.from({ length: 6 }, () => new PageError("UNREACHABLE", "no"));
  player.run(0);
  const pauses = [3000, 6000, 12_000, 24_000, 30_000, 30_000];
  for (const [index, pause] of pauses.entries()) {
    await pass(pause - 1);
    assert.equal(log.filter((one) => one === "attempt").length, index + 1);
    await pass(1);
  }
  assert.equal(log.at(-1), "goes on");
  outcomes = [new PageError("UNREACHABLE", "no")];
  await pass(1000);
  log = [];
  await pass(3000);
  assert.deepEqual(log, ["attempt", "goes on"]);
});

test("what cannot be played is not repeated, but another time is tried at once", async () => {
  outcomes = [new PageError("UNSUPPORTED", "no")];
  player.run(0);
  await pass(60_000);
  assert.deepEqual(log, ["attempt", "UNSUPPORTED"]);
  player.seek(5000);
  await settle();
  assert.deepEqual(log, ["attempt", "UNSUPPORTED", "attempt", "goes on"]);
});

test("a player that is closed while it waits tries nothing more", async () => {
  outcomes = [new PageError("UNREACHABLE", "no")];
  player.run(0);
  await settle();
  player.close();
  await pass(60_000);
  assert.deepEqual(log, ["attempt", "UNREACHABLE"]);
});

test("a buffer that is used for hours collects no listeners", async () => {
  const count = (event) => getEventListeners(buffer, event).length;
  const buffer = new EventTarget();
  for (const name of ["updateend", "error", "updateend"]) {
    const done = player.done(buffer, () => setImmediate(() => buffer.dispatchEvent(new Event(name))));
    if (name === "error") await assert.rejects(done, { status: "UNREADABLE" });
    else await done;
    assert.deepEqual([count("updateend"), count("error")], [0, 0]);
  }
  await assert.rejects(player.done(buffer, () => { throw new DOMException("full", "QuotaExceededError"); }), { name: "QuotaExceededError" });
  assert.deepEqual([count("updateend"), count("error")], [0, 0]);
});
