import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { LiveLease } from "../../Sources/App/WebFiles/page/live-lease.js";

const before = { fetch: globalThis.fetch };
/** What the gateway answers, in order. @type {Response[]} */
let answers = [];
let requests = 0;
beforeEach(() => {
  answers = [];
  requests = 0;
  globalThis.fetch = async () => {
    requests += 1;
    return answers.shift();
  };
});
afterEach(() => Object.assign(globalThis, before));

const granted = (seconds) => Response.json({ liveSessionDurationSeconds: seconds });
const refused = (status, code) => Response.json({ error: { status, message: "" } }, { status: code });

/** A lease, and the timer that its view has set last. */
function lease() {
  const timers = [];
  const live = {
    device: { id: "yard" }, session: "s1", generation: 1, hasEnded: false,
    after: (pause, name, action) => timers.push({ pause, name, action }),
    ended: () => { live.hasEnded = true; },
  };
  return { made: new LiveLease(live), live, timers };
}

test("a lease is extended half a minute before it ends, again and again", async () => {
  const { made, live, timers } = lease();
  made.begin(300);
  answers = [granted(60), granted(20)];
  for (const pause of [270_000, 30_000]) {
    assert.deepEqual([timers.at(-1).pause, timers.at(-1).name], [pause, "lease"]);
    await timers.at(-1).action();
  }
  assert.equal(timers.at(-1).pause, 10_000);
  assert.deepEqual([requests, live.hasEnded], [2, false]);
});

test("a failed extension is tried again until the lease has ended", async () => {
  const { made, live, timers } = lease();
  made.begin(300);
  answers = [refused("UNAVAILABLE", 503), refused("UNAVAILABLE", 503)];
  await timers.at(-1).action();
  assert.deepEqual([timers.at(-1).pause, live.hasEnded], [5000, false]);
  made.end = performance.now() - 1;
  await timers.at(-1).action();
  assert.equal(live.hasEnded, true);
});

test("a session that the gateway does not know has ended", async () => {
  const { made, live, timers } = lease();
  made.begin(300);
  answers = [refused("NOT_FOUND", 404)];
  await timers.at(-1).action();
  assert.deepEqual([timers.length, live.hasEnded], [1, true]);
});

test("an answer for an older connection changes nothing", async () => {
  const { made, live, timers } = lease();
  for (const answer of [granted(300), refused("NOT_FOUND", 404)]) {
    made.begin(300);
    const { length } = timers;
    answers = [answer];
    const extended = timers.at(-1).action();
    live.generation += 1;
    await extended;
    assert.deepEqual([timers.length, live.hasEnded], [length, false]);
  }
});
