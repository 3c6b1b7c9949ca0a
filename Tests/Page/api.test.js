import assert from "node:assert/strict";
import { test } from "node:test";

import {
  addCandidates, ageOf, answers, command, getDevices, getEvents, getGateway, getPicture, post, restartICE, statusOf,
  whenRefused,
} from "../../Sources/App/WebFiles/page/api.js";
import { useToken } from "../../Sources/App/WebFiles/page/token.js";

/** Runs an action whose requests get this answer. Answers the requests, and what the action threw or returned. */
async function ask(answer, action) {
  const before = globalThis.fetch;
  const requests = [];
  globalThis.fetch = async (path, options) => {
    requests.push({ path, ...options });
    return answer(options);
  };
  try {
    return { requests, result: await action() };
  } catch (error) {
    return { requests, error };
  } finally {
    globalThis.fetch = before;
  }
}

const json = (body, status = 200) => () => new Response(JSON.stringify(body), { status });

test("requests name the method, the path and the token, and have a body only if there is one", async () => {
  const read = await ask(json({ devices: [{ id: "yard", source: {} }, { id: "lamp" }] }), () => getDevices());
  assert.deepEqual(read.result, [{ id: "yard", source: {} }, { id: "lamp" }]);
  assert.equal(read.requests[0].method, "GET");
  assert.equal(read.requests[0].path, "/v1/devices");
  assert.match(read.requests[0].headers.authorization, /^Bearer /);
  assert.ok(!("body" in read.requests[0]));
  const { requests } = await ask(json({}), () => command("front door", "DoorbellPress", "press"));
  assert.equal(requests[0].path, "/v1/devices/front%20door/traits/DoorbellPress/commands/press");
  assert.equal(requests[0].body, "{}");
  assert.equal(requests[0].headers["content-type"], "application/json");
  const { requests: [history] } = await ask(json({ events: [] }), () => getEvents("a/b", 10));
  assert.equal(history.path, "/v1/devices/a%2Fb/events?limit=10");
});

test("candidates go to their session as a fragment of a description", async () => {
  const { requests: [request] } = await ask(() => new Response(null, { status: 204 }),
    () => addCandidates("front door", "abc", "a=ice-ufrag:one\r\n", new AbortController().signal));
  assert.equal(request.method, "PATCH");
  assert.equal(request.path, "/whep/front%20door/abc");
  assert.equal(request.headers["content-type"], "application/trickle-ice-sdpfrag");
  assert.equal(request.headers["if-match"], "*");
  assert.match(request.headers.authorization, /^Bearer /);
  assert.equal(request.body, "a=ice-ufrag:one\r\n");
});

test("an ICE restart returns the gateway's fragment", async () => {
  const { requests: [request], result } = await ask(() => new Response("a=ice-ufrag:two\r\n"),
    () => restartICE("yard", "abc", "a=ice-ufrag:one\r\n", new AbortController().signal));
  assert.deepEqual([request.method, request.path, request.headers["if-match"]], ["PATCH", "/whep/yard/abc", "*"]);
  assert.equal(result, "a=ice-ufrag:two\r\n");
});

test("an error of the gateway keeps its status and its words", async () => {
  const body = { error: { code: 14, status: "UNAVAILABLE", message: "yard is not reachable" } };
  const { error } = await ask(json(body, 503), () => post("/v1/cameras/yard/reconnect"));
  assert.equal(statusOf(error), "UNAVAILABLE");
  assert.equal(error.message, "yard is not reachable");
});

test("an answer of something else in between is an error too", async () => {
  const { error } = await ask(() => new Response("<html>", { status: 502 }), () => getDevices());
  assert.equal(statusOf(error), "502");
  assert.equal(error.message, "The gateway answered with status 502.");
  const cut = await ask(() => new Response("{"), () => getDevices());
  assert.equal(statusOf(cut.error), "UNREACHABLE");
});

test("a gateway that is gone is not reachable", async () => {
  const gone = () => { throw new TypeError("fetch failed"); };
  const { error } = await ask(gone, () => getGateway());
  assert.equal(statusOf(error), "UNREACHABLE");
  assert.equal((await ask(gone, () => answers())).result, false);
  assert.equal((await ask(() => new Response("", { status: 503 }), () => answers())).result, false);
  assert.equal((await ask(() => new Response("ok"), () => answers())).result, true);
});

test("a request that is cancelled says so", async () => {
  const abort = new AbortController();
  const hang = ({ signal }) => new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    abort.abort();
  });
  const { error } = await ask(hang, () => getPicture("/v1/devices/yard/snapshot.jpg", abort.signal));
  assert.equal(statusOf(error), "ABORTED");
});

test("a request that was cancelled before it began is not sent", async () => {
  const { requests, error } = await ask(json({}),
    () => addCandidates("yard", "abc", "a=ice-ufrag:one\r\n", AbortSignal.abort()));
  assert.deepEqual([statusOf(error), requests], ["ABORTED", []]);
});

test("a token that is refused is reported, except to the one who tries it", async () => {
  let refusals = 0;
  whenRefused(() => { refusals += 1; });
  const refusal = json({ error: { status: "UNAUTHENTICATED", message: "no" } }, 401);
  await ask(refusal, () => getDevices());
  assert.equal(refusals, 1);
  const { error } = await ask(refusal, () => getGateway({ isFirst: true }));
  assert.equal(statusOf(error), "UNAUTHENTICATED");
  assert.equal(refusals, 1);
  whenRefused(() => {});
});

test("a refusal of the token before does not concern who has signed in meanwhile", async () => {
  let refusals = 0;
  whenRefused(() => { refusals += 1; });
  useToken("ana");
  await ask(() => {
    useToken("ben");
    return new Response(JSON.stringify({ error: { status: "UNAUTHENTICATED", message: "no" } }), { status: 401 });
  }, () => getDevices());
  assert.equal(refusals, 0);
  whenRefused(() => {});
  useToken("");
});

test("only errors of the gateway and of the page have a status", () => {
  for (const error of [new Error("x"), "x", null, undefined]) assert.equal(statusOf(error), "");
});

test("the age of a picture is exact to the millisecond if the gateway states it", () => {
  assert.equal(ageOf(new Headers({ "age-milliseconds": "1250", age: "1" })), 1250);
  assert.equal(ageOf(new Headers({ age: "3" })), 3000);
  assert.equal(ageOf(new Headers()), 0);
  assert.equal(ageOf(new Headers({ age: "soon" })), 0);
});
