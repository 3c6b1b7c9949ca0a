import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { LiveSilence } from "../../Sources/App/WebFiles/page/live-silence.js";

const before = { document: globalThis.document, fetch: globalThis.fetch };
let page = {};
/** Whether the gateway answers. */
let isThere = true;
let questions = 0;
beforeEach(() => {
  page = { visibilityState: "visible" };
  isThere = true;
  questions = 0;
  globalThis.document = page;
  globalThis.fetch = async () => {
    questions += 1;
    return new Response("", { status: isThere ? 200 : 503 });
  };
});
afterEach(() => Object.assign(globalThis, before));

const inbound = (packets, frames) => new Map([
  ["v", { type: "inbound-rtp", kind: "video", packetsReceived: packets, framesDecoded: frames, codecId: "c" }],
  ["c", { type: "codec", mimeType: "video/H265" }],
]);

/** The silence of a view whose connection has the steps and the statistics, and what it asked of the view. */
function silence({ steps = ["encryption agreed"], statistics = inbound(0, 0) } = {}) {
  const asked = [];
  const live = {
    generation: 1, liveSince: null, state: "connecting", answer: "", notes: [], begin: 0, verdict: { isStalled: false },
    isConnected: true, talk: { isTalking: false }, link: { isUp: true }, device: { flowingSince: 1 }, watch: { pulse: { last: null } },
    statistics: async () => statistics, hasStep: (name) => steps.includes(name),
    after: (pause, name) => asked.push(`${name} ${pause}`), change: (state, fault) => asked.push(`${state}${fault.mild ? ", mild" : ""}`),
    failed: (error) => asked.push(error.status), readGatewaySteps: () => asked.push("steps"), restart: () => asked.push("restart"),
    weigh: () => asked.push("weigh"),
  };
  return { made: new LiveSilence(live), live, asked };
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
