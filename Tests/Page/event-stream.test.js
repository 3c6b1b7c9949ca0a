import assert from "node:assert/strict";
import { test } from "node:test";

import { whenRefused } from "../../Sources/App/WebFiles/page/api.js";
import { EventParser, nextPause, Watcher } from "../../Sources/App/WebFiles/page/event-stream.js";

const stream = 'id: 7\nevent: device\ndata: {"id":"yard"}\n\n: heartbeat\n\n'
  + 'id: 8\nevent: session\ndata: {"change":"ended"}\n\n';
const events = [{ event: "device", data: { id: "yard" } }, { event: "session", data: { change: "ended" } }];

test("a stream says the same wherever it is cut", () => {
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const parser = new EventParser();
    const found = [...parser.take(stream.slice(0, cut)), ...parser.take(stream.slice(cut))];
    assert.deepEqual(found, events, `cut at ${cut}`);
    assert.equal(parser.lastID, "8");
  }
  const parser = new EventParser();
  assert.deepEqual([...stream].flatMap((character) => [...parser.take(character)]), events);
});

test("the last id is that of an event that was whole and has been handed out", () => {
  const parser = new EventParser();
  const found = parser.take(stream);
  assert.equal(parser.lastID, "");
  found.next();
  assert.equal(parser.lastID, "7");
  found.next();
  assert.equal(parser.lastID, "8");
  assert.deepEqual([...parser.take("id: 9\nevent: device\n")], []);
  assert.equal(parser.lastID, "8");
});

test("an event that cannot be read comes after those before it, and the next connection continues after it", () => {
  const parser = new EventParser();
  const found = parser.take('id: 1\nevent: a\ndata: 1\n\nid: 2\nevent: b\ndata: {"cut\n\nid: 3\nevent: c\ndata: 3\n\n');
  assert.deepEqual(found.next().value, { event: "a", data: 1 });
  assert.throws(() => found.next(), SyntaxError);
  assert.equal(parser.lastID, "2");
});

test("data with line breaks comes in several fields", () => {
  const parser = new EventParser();
  assert.deepEqual([...parser.take('event: automation\ndata: {"nodes":\ndata: [1,\ndata: 2]}\n\n')],
    [{ event: "automation", data: { nodes: [1, 2] } }]);
});

test("what was half there when a connection ended is not put before what the next one brings", () => {
  const parser = new EventParser();
  assert.deepEqual([...parser.take('id: 1\nevent: device\ndata: {"id')], []);
  parser.reset();
  assert.deepEqual([...parser.take(stream)], events);
});

test("pauses double, up to two seconds while somebody looks", () => {
  const from = (isVisible) => [500, 1000, 1500, 8000, 15000].map((pause) => nextPause(pause, isVisible));
  assert.deepEqual(from(true), [1000, 2000, 2000, 2000, 2000]);
  assert.deepEqual(from(false), [1000, 2000, 3000, 15000, 15000]);
});

/**
 * Runs a watcher against answers, one a connection, until they are used up. Answers what it asked for and reported.
 * @param {(() => Response)[]} answers
 */
async function watch(answers) {
  const requests = [];
  const reports = [];
  const left = [...answers];
  const before = { fetch: globalThis.fetch, document: globalThis.document };
  globalThis.document = { visibilityState: "visible" };
  try {
    await new Promise((resolve) => {
      let watcher = null;
      globalThis.fetch = async (path, { headers }) => {
        requests.push(`${path} ${headers["last-event-id"] ?? "-"}`);
        return left.shift()();
      };
      watcher = new Watcher((event, data) => reports.push({ event, data }), (state) => {
        reports.push(state);
        if (state !== "disconnected") return;
        if (left.length > 0) {
          // The next connection need not wait for the pause.
          setImmediate(() => watcher.renew());
        } else {
          watcher.stop();
          resolve(null);
        }
      });
    });
  } finally {
    Object.assign(globalThis, before);
  }
  return { requests, reports };
}

test("a watcher comes back and says where it stopped", async () => {
  const { requests, reports } = await watch([
    () => new Response(stream + "id: 9\nevent: device\n"),
    () => new Response("busy", { status: 503 }),
    () => { throw new TypeError("no network"); },
    () => new Response("id: 10\nevent: device\ndata: {}\n\n"),
  ]);
  assert.deepEqual(requests, ["/v1/events -", "/v1/events 8", "/v1/events 8", "/v1/events 8"]);
  assert.deepEqual(reports, ["connected", ...events, "disconnected", "disconnected", "disconnected", "connected",
    { event: "device", data: {} }, "disconnected"]);
});

test("a connection whose event cannot be read is closed, and the next one continues after that event", async () => {
  const { requests, reports } = await watch([
    () => new Response("id: 1\nevent: a\ndata: 1\n\nid: 2\nevent: b\ndata: {\n\nid: 3\nevent: c\ndata: 3\n\n"),
    () => new Response("id: 3\nevent: c\ndata: 3\n\n"),
  ]);
  assert.deepEqual(requests, ["/v1/events -", "/v1/events 2"]);
  assert.deepEqual(reports, ["connected", { event: "a", data: 1 }, "disconnected", "connected", { event: "c", data: 3 },
    "disconnected"]);
});

test("a token that is refused is reported, and ends the attempts", async () => {
  let refusals = 0;
  whenRefused(() => { refusals += 1; });
  const { requests } = await watch([() => new Response("", { status: 401 })]);
  whenRefused(() => {});
  assert.equal(refusals, 1);
  assert.equal(requests.length, 1);
});
