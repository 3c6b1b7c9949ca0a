import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { makeConnection } from "../../Sources/App/WebFiles/page/live-connection.js";

const names = ["RTCPeerConnection", "MediaStream"];
const before = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
beforeEach(() => {
  globalThis.RTCPeerConnection = class extends EventTarget { addTransceiver(kind) { return { kind }; } };
  globalThis.MediaStream = class { addTrack() {} };
});
afterEach(() => {
  for (const [name, value] of before) {
    if (value) Object.defineProperty(globalThis, name, value);
    else delete globalThis[name];
  }
});

test("a connection that is given up says nothing more to its view", () => {
  let changes = 0;
  const live = {
    generation: 1, gateway: {}, device: { canTalk: false }, pc: null, listening: new AbortController(),
    pathLoss: { connectionChanged: () => { changes += 1; } },
  };
  const { pc } = makeConnection(live);
  pc.dispatchEvent(new Event("connectionstatechange"));
  assert.equal(changes, 1);
  live.listening.abort();
  pc.dispatchEvent(new Event("connectionstatechange"));
  assert.equal(changes, 1);
});
