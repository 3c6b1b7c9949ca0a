import assert from "node:assert/strict";
import { test } from "node:test";

import { configurationFault, ConfigurationWatch } from "../../Sources/App/WebFiles/page/configuration.js";

const problem = { file: "/etc/gatehouse.yaml", line: 7, key: "cameras[0].source", reason: "is missing" };

test("a config in order is not mentioned", () => {
  assert.equal(configurationFault({ problems: [], needsRestart: [] }), null);
});

test("the first problem of a config is named with its place, before what needs a restart", () => {
  const fault = configurationFault({ problems: [problem, { ...problem, line: 9 }], needsRestart: ["http.port"] });
  assert.match(fault.message, /^The config file has a problem\./);
  assert.equal(fault.details, "/etc/gatehouse.yaml, line 7: cameras[0].source is missing");
});

test("keys that take effect at the next start are named", () => {
  const fault = configurationFault({ problems: [], needsRestart: ["http.port", "media.port"] });
  assert.match(fault.message, /when the gateway restarts\.$/);
  assert.equal(fault.details, "http.port, media.port");
});

/**
 * Runs an action with a watch whose requests get these answers. Answers what the page showed.
 * @param {(path: string) => Promise<Response>} answer
 * @param {(watch: ConfigurationWatch) => Promise<void>} action
 */
async function watching(answer, action) {
  const before = globalThis.fetch;
  const shown = [];
  globalThis.fetch = answer;
  try {
    const home = { describe: (cameras) => shown.push(cameras[0]?.name ?? "none"), emptyWords: "" };
    const notice = { show: (message, details) => shown.push(details ?? message) };
    await action(new ConfigurationWatch(home, notice));
  } finally {
    globalThis.fetch = before;
  }
  return shown;
}

const cameras = (name) => new Response(JSON.stringify({ cameras: [{ id: "yard", name }], removed: [] }));
const status = (needsRestart) => new Response(JSON.stringify({ problems: [], needsRestart }));

test("an answer that comes late does not replace what a later look has shown", async () => {
  const answers = {};
  const names = [new Promise((resolve) => { answers.late = resolve; }), cameras("New"), cameras("Newer"), cameras("Newest")];
  const statuses = [status([]), new Promise((resolve) => { answers.slow = resolve; }), status(["http.port"])];
  const shown = await watching(async (path) => (path === "/v1/cameras" ? names : statuses).shift(), async (watch) => {
    const first = watch.look();
    await watch.look();
    answers.late(cameras("Old"));
    await first;
    // The same between the two answers of a look.
    const third = watch.look();
    await new Promise(setImmediate);
    await watch.look();
    answers.slow(status(["media.port"]));
    await third;
  });
  assert.deepEqual(shown, ["New", "", "Newer", "Newest", "http.port"]);
});

test("a look that fails is known to be missing until one succeeds, and a token without the right misses nothing", async () => {
  const answers = [new Response("", { status: 503 }), cameras("Yard"), status([]),
    new Response(JSON.stringify({ error: { status: "PERMISSION_DENIED", message: "no" } }), { status: 403 })];
  await watching(async () => answers.shift(), async (watch) => {
    await assert.rejects(watch.look());
    assert.equal(watch.isBehind, true);
    await watch.look();
    assert.equal(watch.isBehind, false);
    await watch.look();
    assert.equal(watch.isBehind, false);
  });
});

test("a token that may see settings no longer sees none of those before", async () => {
  const answers = [cameras("Yard"), status([]),
    new Response(JSON.stringify({ error: { status: "PERMISSION_DENIED", message: "no" } }), { status: 403 })];
  const shown = await watching(async () => answers.shift(), async (watch) => {
    await watch.look();
    await watch.look();
  });
  assert.deepEqual(shown, ["Yard", "", "none", ""]);
});

test("settings that come after a sign-out are not shown", async () => {
  const late = {};
  const held = new Promise((resolve) => { late.release = resolve; });
  const shown = await watching(() => held, async (watch) => {
    const look = watch.look();
    watch.forget();
    late.release(cameras("Yard"));
    await look;
  });
  assert.deepEqual(shown, []);
});
