import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { LiveSilence } from "../../Sources/App/WebFiles/page/live-silence.js";
import { replace, restore } from "./elements.js";

let page = {};
let browser = {};
let now = 0;
/** Whether the gateway answers. */
let isThere = true;
let questions = 0;
beforeEach(() => {
  page = { visibilityState: "visible" };
  browser = { onLine: true };
  now = 1_000_000;
  mock.method(performance, "now", () => now);
  isThere = true;
  questions = 0;
  replace("document", page);
  replace("navigator", browser);
  replace("fetch", async () => {
    questions += 1;
    return new Response("", { status: isThere ? 200 : 503 });
  });
});
afterEach(() => {
  mock.restoreAll();
  restore();
});

const inbound = (packets, frames) => new Map([
  ["v", { type: "inbound-rtp", kind: "video", packetsReceived: packets, framesDecoded: frames, codecId: "c" }],
  ["c", { type: "codec", mimeType: "video/H265" }],
]);

/** The silence of a view whose connection has the steps and the statistics, and what it asked of the view. */
function silence({ steps = ["encryption agreed"], statistics = inbound(0, 0) } = {}) {
  const asked = [];
  const live = {
    generation: 1, liveSince: null, state: "connecting", answer: "", notes: [], begin: now, verdict: { isStalled: false },
    isConnected: true, talk: { isTalking: false }, link: { isUp: true }, device: { flowingSince: 1 }, watch: { pulse: { last: null } },
    fallback: { heardAt: null }, pc: { connectionState: "connecting" },
    statistics: async () => statistics, hasStep: (name) => steps.includes(name),
    after: (pause, name) => asked.push(`${name} ${pause}`), change: (state, fault) => asked.push(`${state}${fault.mild ? ", mild" : ""}`),
    failed: (error) => asked.push(error.status), readGatewaySteps: () => asked.push("steps"), restart: () => asked.push("restart"),
    weigh: () => asked.push("weigh"),
  };
  const made = new LiveSilence(live);
  made.start();
  return { made, live, asked };
}

test("packets that bring no picture are the browser's fault", async () => {
  const { made, asked } = silence({ statistics: inbound(900, 0) });
  await made.explain(1);
  assert.deepEqual([asked, made.canDecode], [["NO_DECODER"], false]);
});

test("a connection without encryption has no path", async () => {
  const { made, asked } = silence({ steps: [] });
  await made.explain(1);
  assert.deepEqual([asked, made.canDecode], [["NO_PATH"], true]);
});

test("a connection on which nothing comes says so and stays", async () => {
  const { made, asked } = silence();
  await made.explain(1);
  assert.deepEqual([asked, questions, made.canDecode], [["connecting, mild", "steps"], 0, true]);
});

test("a gateway that does not answer, and a page that is hidden, are waited for", async () => {
  const { made, asked } = silence({ statistics: inbound(900, 0) });
  isThere = false;
  await made.explain(1);
  page.visibilityState = "hidden";
  await made.explain(1);
  assert.deepEqual(asked, ["silence 8000", "silence 8000"]);
});

test("nothing is said of an older connection, or after a picture", async () => {
  const { made, live, asked } = silence({ statistics: inbound(900, 1) });
  await made.explain(1);
  await made.explain(0);
  live.liveSince = 1;
  await made.explain(1);
  assert.deepEqual(asked, []);
});

test("while the picture stands still, the gateway is asked now and then whether it answers", async () => {
  const { made, live, asked } = silence();
  live.verdict.isStalled = true;
  isThere = false;
  made.tick();
  made.tick();
  await new Promise((resolve) => { setImmediate(resolve); });
  made.tick();
  assert.deepEqual([questions, made.answers], [1, false]);
  assert.ok(asked.includes("weigh"));
  live.verdict.isStalled = false;
  made.tick();
  assert.equal(made.answers, null);
});

test("a connection that was cut off is tried again, and says nothing about the network or the browser", async () => {
  const cuts = [
    ["the event stream", ({ live }) => { live.link.isUp = false; }, ({ live }) => { live.link.isUp = true; }],
    ["the network", () => { browser.onLine = false; }, () => { browser.onLine = true; }],
  ];
  for (const [name, cut, mend] of cuts) {
    for (const [steps, statistics] of [[[], inbound(0, 0)], [["encryption agreed"], inbound(20, 0)]]) {
      const view = silence({ steps, statistics });
      now += 1000;
      cut(view);
      view.made.tick();
      now += 1000;
      mend(view);
      view.made.tick();
      await view.made.explain(1);
      assert.deepEqual(view.asked, ["restart"], `${name} ${steps}`);
      // The next connection is not cut off.
      view.live.begin = now += 1;
      await view.made.explain(1);
      assert.equal(view.asked.at(-1), steps.length === 0 ? "NO_PATH" : "NO_DECODER", name);
    }
  }
});

test("an event stream that is not connected yet is not a loss", async () => {
  const { made, live, asked } = silence({ steps: [] });
  live.link.isUp = false;
  made.start();
  made.tick();
  live.link.isUp = true;
  made.tick();
  await made.explain(1);
  assert.deepEqual(asked, ["NO_PATH"]);
});

test("a gateway that answers again is asked for another connection", async () => {
  const { made, asked } = silence({ steps: [] });
  isThere = false;
  await made.explain(1);
  now += 8000;
  isThere = true;
  await made.explain(1);
  assert.deepEqual(asked, ["silence 8000", "restart"]);
});

test("a connection that has failed without a gateway is tried again", async () => {
  const { made, live, asked } = silence({ steps: [] });
  live.pc.connectionState = "failed";
  isThere = false;
  await made.giveUp(1, false);
  assert.deepEqual(asked, ["UNREACHABLE"]);
});

test("connections that have failed without a gateway count as cut off", async () => {
  const { made, live, asked } = silence({ steps: [] });
  live.pc.connectionState = "failed";
  isThere = false;
  for (let turn = 0; turn < 3; turn += 1) await made.giveUp(1, false);
  isThere = true;
  await made.giveUp(1, false);
  assert.deepEqual(asked, ["UNREACHABLE", "UNREACHABLE", "UNREACHABLE", "NO_PATH"]);
  // They have been counted.
  await made.giveUp(1, false);
  assert.equal(asked.at(-1), "restart");
});

test("a view that somebody starts again counts the connections that are cut off from the beginning", async () => {
  const { made, live, asked } = silence({ steps: [] });
  live.pc.connectionState = "failed";
  isThere = false;
  for (let turn = 0; turn < 3; turn += 1) await made.giveUp(1, false);
  made.start();
  isThere = true;
  await made.giveUp(1, false);
  assert.equal(asked.at(-1), "restart");
});

test("a WebSocket on which nothing comes for 15 seconds begins again, also on a hidden page", () => {
  const { made, live, asked } = silence();
  live.state = "live";
  live.fallback.heardAt = live.watch.pulse.last = now;
  page.visibilityState = "hidden";
  now += 15_000;
  made.tick();
  // A hidden page may look late at what has come.
  now += 60_000;
  live.fallback.heardAt = now - 1000;
  made.tick();
  assert.deepEqual(asked, []);
  now += 14_001;
  made.tick();
  assert.deepEqual(asked, ["restart"]);
});

test("a hidden page does not judge WebRTC by its pictures", () => {
  const { made, live, asked } = silence();
  live.state = "live";
  live.watch.pulse.last = now;
  page.visibilityState = "hidden";
  now += 60_000;
  made.tick();
  assert.deepEqual(asked, []);
  page.visibilityState = "visible";
  made.tick();
  assert.deepEqual(asked, ["restart"]);
});
