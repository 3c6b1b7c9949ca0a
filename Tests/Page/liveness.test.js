import assert from "node:assert/strict";
import { test } from "node:test";

import {
  attemptAfter, cameraTrouble, closingOf, duration, isStuck, isWorthRetrying, judge, mayChange, patience, pauseAfterRefusal,
  pauseBefore, Pulse,
} from "../../Sources/App/WebFiles/page/liveness.js";

const well = {
  state: "live", silence: 100, usualGap: 66, hasPicture: true, isOnline: true, hasLink: true, answers: null,
  ice: "connected", source: { state: "flowing" },
};

/** What the page says of a view that is well except for these facts; true if it is live, false if nothing is said. */
function say(facts) {
  const verdict = judge({ ...well, ...facts });
  return verdict.text ?? verdict.isLive;
}

test("a view may be silent for one to five seconds, or for two and a half usual gaps", () => {
  assert.deepEqual([undefined, 0, 66, 400, 401, 1000, 2000, 9000].map((gap) => patience(gap)),
    [1000, 1000, 1000, 1000, 1002.5, 2500, 5000, 5000]);
});

test("the usual gap is the median of the latest nine, without pauses", () => {
  const pulse = new Pulse();
  assert.equal(pulse.usualGap, 0);
  for (const now of [0, 1000, 2000, 2100, 3000, 4000, 60000]) pulse.beat(now);
  assert.equal(pulse.usualGap, 1000);
  assert.equal(pulse.last, 60000);
  for (let count = 1; count <= 9; count += 1) pulse.beat(60000 + 40 * count);
  assert.equal(pulse.usualGap, 40);
});

test("beats that stand for several pictures say nothing about the gap", () => {
  const pulse = new Pulse();
  for (const now of [0, 250, 500]) pulse.beat(now, false);
  assert.equal(pulse.usualGap, 0);
  assert.equal(pulse.last, 500);
});

test("a view is live as long as its pictures come in time", () => {
  assert.equal(say({}), true);
  assert.equal(say({ silence: 1000 }), true);
  assert.equal(say({ silence: 1001 }), "No picture for 1 s");
  assert.equal(say({ usualGap: 1000, silence: 2400 }), true);
  assert.equal(say({ usualGap: 1000, silence: 2501 }), "No picture for 2 s");
});

test("only a view that has shown something stalls", () => {
  for (const state of ["starting", "connecting", "stopped", "failed"]) {
    for (const silence of [null, 10, 9000]) assert.equal(say({ state, silence }), false, `${state} ${silence}`);
  }
  assert.equal(say({ silence: null }), false);
  assert.equal(say({ state: "reconnecting", silence: null }), false);
  // An old picture is not a live view, however recent it is.
  assert.equal(say({ state: "reconnecting", silence: 10 }), "No picture: the view is restarting");
});

test("every combination is live, stalled or neither, and says why only if it is stalled", () => {
  const choices = {
    state: ["starting", "connecting", "live", "reconnecting", "stopped", "failed"],
    silence: [null, 0, 350, 1500, 4500, 90000], usualGap: [0, 66, 1000], hasPicture: [true, false],
    isOnline: [true, false], hasLink: [true, false], answers: [true, false, null],
    ice: [undefined, "new", "connected", "disconnected", "failed"],
    source: [undefined, { state: "flowing" }, { state: "backingOff" }, { state: "what is this" }],
  };
  let cases = [{}];
  for (const [name, values] of Object.entries(choices)) {
    cases = cases.flatMap((facts) => values.map((value) => ({ ...facts, [name]: value })));
  }
  for (const facts of cases) {
    const { isLive, isStalled, text, cause } = judge(facts);
    const seen = facts.silence !== null && ["live", "reconnecting"].includes(facts.state);
    if (isLive) assert.equal(facts.state, "live");
    if (isLive) assert.ok(facts.silence <= patience(facts.usualGap) && !["disconnected", "failed"].includes(facts.ice));
    assert.equal(isLive || isStalled, seen);
    assert.ok(!(isLive && isStalled));
    assert.equal(text !== null, isStalled);
    if (!isStalled) assert.equal(cause, null);
    else assert.ok(text.startsWith(facts.hasPicture ? "No picture" : "No sound") && (!cause || text.endsWith(cause)));
    if (isStalled && !facts.isOnline) assert.equal(cause, "this device has no network connection");
  }
});

test("with the gateway gone a view is given up sooner", () => {
  assert.equal(say({ silence: 299, hasLink: false }), true);
  assert.equal(say({ silence: 301, hasLink: false }), "No picture: the gateway does not answer");
  assert.equal(say({ silence: 301, answers: false }), "No picture: the gateway does not answer");
  assert.equal(say({ silence: 301, isOnline: false }), "No picture: this device has no network connection");
  // What is on its way may take two gaps.
  assert.equal(say({ silence: 900, usualGap: 500, hasLink: false }), true);
});

test("the nearest cause is named", () => {
  assert.equal(say({ ice: "disconnected" }), "No picture: the connection to the gateway is interrupted");
  assert.equal(say({ ice: "failed", state: "reconnecting", silence: 7500, hasLink: true }),
    "No picture for 7 s: the view is restarting");
  assert.equal(say({ silence: 7500, hasLink: false, answers: true }), "No picture for 7 s: the camera sends nothing");
  assert.equal(say({ silence: 7500, answers: true }), "No picture for 7 s: the camera sends nothing");
  assert.equal(say({ silence: 3900, answers: true }), "No picture for 3 s");
  const refused = { state: "givenUp", cause: "credentials" };
  assert.equal(say({ silence: 7500, source: refused }),
    "No picture for 7 s: the camera does not accept the user name or password");
  assert.equal(say({ silence: 90000, state: "reconnecting", hasLink: false, answers: false }),
    "No picture for 1 min 30 s: the gateway does not answer");
  assert.equal(say({ silence: 2000, hasPicture: false }), "No sound for 2 s");
});

test("a camera that brings nothing is explained", () => {
  const cases = [
    ...[undefined, "unknownName", "refused", "noRoute", "timedOut", "silent", "insecure", "noMedia", "ended", "other", "one of tomorrow"]
      .flatMap((cause) => ["backingOff", "givenUp"].map((state) => [{ state, cause }, "the camera is not reachable"])),
    ...[
      ["credentials", "the camera does not accept the user name or password"],
      ["passwordWithheld", "the gateway does not send the password, because it cannot do so safely"],
      ["refusedElsewhere", "another server that the camera points to refuses the request"],
      ["wrongAddress", "the camera has no stream at this address"],
      ["unplayable", "the camera offers nothing that can be played"],
      ["busy", "the camera is busy; it may be serving too many programs"],
      ["gateway", "the gateway cannot connect to the camera; the gateway’s log says why"],
      ["noPublisher", "nobody publishes to this camera"],
    ].map(([cause, expected]) => [{ state: "givenUp", cause }, expected]),
    [{ state: "stalled" }, "the camera has stopped sending"],
    [{ state: "flowing", cause: "switchedOff" }, "the camera is switched off"],
    [{ state: "idle", cause: "privacy" }, "the camera’s privacy mode is on"],
    [{ state: "idle" }, "the camera is switched off"], [{ state: "stopped" }, "the camera is switched off"],
    [{ state: "flowing" }, null], [{}, null], [undefined, null],
    ...["resolving", "connecting", "authenticating", "describing", "settingUp"]
      .map((state) => [{ state }, "the camera is being connected"]),
  ];
  for (const [source, expected] of cases) assert.equal(cameraTrouble(source), expected, JSON.stringify(source));
});

test("a time is written in its two largest units", () => {
  const cases = [[-5, "0 s"], [999, "0 s"], [1000, "1 s"], [59999, "59 s"], [60000, "1 min 0 s"],
    [3599000, "59 min 59 s"], [3600000, "1 h 0 min"], [86399000, "23 h 59 min"],
    [86400000, "1 d 0 h"], [200000000, "2 d 7 h"]];
  for (const [milliseconds, expected] of cases) assert.equal(duration(milliseconds), expected);
});

test("a view is stuck if a camera that sends shows nothing for 15 seconds, and nothing else explains it", () => {
  const stuck = {
    silence: 16000, sinceStart: 90000, flowingFor: 16000, hasLink: true, answers: true, canDecode: true,
  };
  assert.equal(isStuck(stuck), true);
  assert.equal(isStuck({ ...stuck, answers: null }), true);
  assert.equal(isStuck({ ...stuck, silence: null }), true);
  for (const facts of [{ silence: 15000 }, { silence: null, sinceStart: 15000 }, { flowingFor: 15000 },
    { hasLink: false }, { answers: false }, { canDecode: false }]) {
    assert.equal(isStuck({ ...stuck, ...facts }), false, JSON.stringify(facts));
  }
});

test("attempts count from the start again once a view has shown something for a second", () => {
  assert.deepEqual([attemptAfter(5, 999), attemptAfter(5, 1000), attemptAfter(0, 0)], [5, 0, 0]);
});

test("pauses double up to half a minute, with a jitter of a quarter", () => {
  assert.deepEqual([0, 1, 2, 3, 6, 60].map((attempt) => pauseBefore(attempt, 0.5)),
    [125, 1000, 2000, 4000, 30000, 30000]);
  for (let attempt = 1; attempt < 100; attempt += 1) {
    assert.equal(pauseBefore(attempt, 0), 0.75 * pauseBefore(attempt, 0.5));
    assert.equal(pauseBefore(attempt, 1), 1.25 * pauseBefore(attempt, 0.5));
  }
  assert.equal(pauseBefore(0, 0), 0);
});

test("a camera that rests until somebody watches is not switched off", () => {
  for (const state of ["idle", "stopped"]) assert.equal(cameraTrouble({ state, isOnDemand: true }), null);
  assert.equal(say({ silence: 5000, answers: true, source: { state: "idle", isOnDemand: true } }), "No picture for 5 s");
});

test("a camera that sends again, or whose privacy ends, is worth another attempt", () => {
  const flowing = { state: "flowing" };
  const open = closingOf(flowing, { CameraAvStreamManagement: { softLivestreamPrivacyModeEnabled: false } });
  assert.equal(closingOf({ ...flowing, tracks: [] },
    { CameraAvStreamManagement: { softLivestreamPrivacyModeEnabled: false, allocatedVideoStreams: [] } }), open);
  for (const [source, privacy] of [[{ state: "idle" }, {}], [{ ...flowing, reason: "it is switched off" }, {}],
    [flowing, { softLivestreamPrivacyModeEnabled: true }], [flowing, { hardPrivacyModeOn: true }]]) {
    const closed = closingOf(source, { CameraAvStreamManagement: { softLivestreamPrivacyModeEnabled: false, ...privacy } });
    assert.notEqual(closed, open);
  }
  assert.equal(closingOf(flowing, {}), closingOf(flowing, { CameraAvStreamManagement: {} }));
});

test("a refusal is final only if nothing but a person can change it", () => {
  for (const status of ["FAILED_PRECONDITION", "NO_PATH", "NOT_FOUND", "INVALID_ARGUMENT", "PERMISSION_DENIED", "INTERNAL", ""]) {
    assert.equal(mayChange(status), true, status);
  }
  for (const status of ["UNAUTHENTICATED", "NO_WEBRTC"]) assert.equal(mayChange(status), false, status);
});

test("a view that was refused is tried again after about a minute", () => {
  assert.deepEqual([0, 0.5, 1].map(pauseAfterRefusal), [45000, 60000, 75000]);
});

test("a failed start is tried again if that can help", () => {
  for (const status of ["UNAVAILABLE", "UNREACHABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"]) {
    assert.equal(isWorthRetrying(status, false), true, status);
  }
  for (const status of ["FAILED_PRECONDITION", "INVALID_ARGUMENT", "NOT_FOUND", ""]) {
    assert.equal(isWorthRetrying(status, false), false, status);
    assert.equal(isWorthRetrying(status, true), true, status);
  }
  for (const status of ["UNAUTHENTICATED", "NO_WEBRTC"]) {
    for (const hasShown of [true, false]) assert.equal(isWorthRetrying(status, hasShown), false, status);
  }
});
