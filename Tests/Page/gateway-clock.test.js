import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { send } from "../../Sources/App/WebFiles/page/api.js";
import { Watcher } from "../../Sources/App/WebFiles/page/event-stream.js";
import { gatewayTime, learnTime } from "../../Sources/App/WebFiles/page/gateway-clock.js";

const now = Date.parse("2026-06-01T09:00:00Z");
const stated = (date) => new Headers(date ? { date } : {});
afterEach(() => learnTime(stated(new Date(now).toUTCString()), now));

test("the gateway's time goes on from its last answer, on a device whose clock is a day late or early", () => {
  for (const wrong of [-86_400_000, 86_400_000]) {
    learnTime(stated("Mon, 01 Jun 2026 09:00:00 GMT"), now + wrong);
    assert.equal(gatewayTime(now + wrong + 5000), now + 5000);
  }
});

test("an answer without a time, or with one that cannot be read, changes nothing", () => {
  learnTime(stated("Mon, 01 Jun 2026 09:01:00 GMT"), now);
  for (const date of ["", "yesterday"]) learnTime(stated(date), now);
  assert.equal(gatewayTime(now), now + 60_000);
});

test("each answer and each event stream tells the time", async () => {
  const before = { fetch: globalThis.fetch, document: globalThis.document };
  const hour = 3_600_000;
  const answer = (ahead, body) => async () => new Response(body, { headers: { date: new Date(Date.now() + ahead).toUTCString() } });
  const ahead = () => Math.round((gatewayTime() - Date.now()) / hour);
  globalThis.document = { visibilityState: "visible" };
  try {
    globalThis.fetch = answer(2 * hour, "{}");
    await send("GET", "/v1/gateway");
    assert.equal(ahead(), 2);
    globalThis.fetch = answer(5 * hour, ": hello\n\n");
    await new Promise((resolve) => {
      const watcher = new Watcher(() => {}, () => {
        watcher.stop();
        resolve(null);
      });
    });
    assert.equal(ahead(), 5);
  } finally {
    Object.assign(globalThis, before);
  }
});
