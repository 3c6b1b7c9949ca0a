import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { liveViewPanel } from "../../Sources/App/WebFiles/page/live-view.js";
import { OneSound } from "../../Sources/App/WebFiles/page/one-sound.js";
import { replace, replaceDocument, restore, TestElement } from "./elements.js";

let sound;
beforeEach(() => {
  replaceDocument();
  replace("fetch", async () => new Response("{}", { status: 404 }));
  sound = new OneSound();
});
afterEach(restore);

/** The panel of a camera, in a tile of its own. It starts no connections. */
function made() {
  const device = { id: "yard", name: "Yard", type: "C", endpoints: [], source: { state: "flowing", tracks: [{ kind: "audio" }] } };
  const panel = liveViewPanel({
    gateway: {}, link: { isUp: true }, rights: { may: () => true }, snapshots: { add: () => {}, remove: () => {} }, sound,
  }).make({ device, node: new TestElement(), place: () => {}, say: () => {}, changed: () => {} });
  const { live } = panel;
  live.start = ({ hasShown = false } = {}) => Object.assign(live, { state: "live", hasShown });
  return panel;
}

test("a view that goes on in another tile keeps its sound, its silence, and that it has shown something", () => {
  for (const [isHeard, hasShown] of [[true, true], [false, true], [true, false]]) {
    const before = made();
    before.watch();
    before.hear(isHeard);
    before.live.hasShown = hasShown;
    const kept = before.suspend();
    before.remove();
    const after = made();
    after.resume(kept);
    assert.deepEqual([after.isHeard, after.live.hasShown], [isHeard, hasShown]);
    assert.equal(sound.heard, isHeard ? after : null);
    after.remove();
  }
});

test("a view that goes on does not take the sound from another camera", () => {
  const before = made();
  before.watch();
  const kept = before.suspend();
  before.remove();
  const other = made();
  other.watch();
  const after = made();
  after.resume(kept);
  assert.deepEqual([after.isHeard, other.isHeard], [false, true]);
  // One that has stopped is not heard.
  const last = after.suspend();
  other.live.stop();
  after.resume({ ...last, isHeard: true });
  assert.equal(after.isHeard, true);
});

test("a sound that the browser has refused is tried again", () => {
  const view = made();
  view.watch();
  view.video.muted = true;
  view.live.needsTap = true;
  view.resume(view.suspend());
  assert.equal(view.isHeard, true);
});

test("a view that was not on does not go on", () => {
  const view = made();
  view.resume(view.suspend());
  assert.equal(view.isActive, false);
});

test("a press for the sound leaves no error, whether the view restarts or the browser refuses", async () => {
  for (const [name, isHeard] of [["AbortError", true], ["NotAllowedError", false]]) {
    const view = made();
    view.watch();
    view.live.needsTap = true;
    view.video.muted = true;
    view.video.play = async () => { throw new DOMException("no", name); };
    view.unmute();
    await new Promise(setImmediate);
    // The button stays where the browser refuses.
    assert.deepEqual([view.isHeard, view.live.needsTap], [isHeard, !isHeard], name);
    view.remove();
  }
});
