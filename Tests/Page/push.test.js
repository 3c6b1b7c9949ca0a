import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import { bytesOf, obstacle } from "../../Sources/App/WebFiles/page/push.js";

const fine = { isSecure: true, hasWorker: true, hasPush: true, isAppleWithoutApp: false, permission: "default" };

test("what keeps a browser from being notified is said, the first obstacle first", () => {
  assert.equal(obstacle(fine), null);
  assert.equal(obstacle({ ...fine, permission: "granted" }), null);
  const cases = [
    [{ isSecure: false, hasWorker: false, hasPush: false }, /https/iu],
    [{ isAppleWithoutApp: true, hasPush: false }, /home screen/iu],
    [{ hasPush: false }, /browser/iu],
    [{ permission: "denied" }, /settings|refused|blocked|denied/iu],
  ];
  for (const [facts, expected] of cases) assert.match(obstacle({ ...fine, ...facts }) ?? "", expected);
});

test("keys are read from base64url without padding", () => {
  assert.deepEqual([...bytesOf("-_8")], [251, 255]);
  assert.deepEqual([...bytesOf("BAAB")], [4, 0, 1]);
});

const source = await readFile(new URL("../../Sources/App/WebFiles/page/service-worker.js", import.meta.url), "utf8");

/**
 * The service worker, with what it shows and opens.
 * @param {string} search
 * @param {{ url: string, focus?: () => Promise<void>, postMessage?: (message: unknown) => void }[]} [windows]
 */
function worker(search, windows = [], permission = "granted") {
  /** @type {Record<string, (event: unknown) => void>} */
  const listeners = {};
  const shown = [];
  const opened = [];
  const subscribed = [];
  const self = {
    Notification: { permission },
    location: { href: `https://home.example/service-worker.js${search}`, origin: "https://home.example" },
    addEventListener: (name, listener) => { listeners[name] = listener; },
    registration: {
      showNotification: (title, options) => { shown.push({ title, ...options }); },
      pushManager: { subscribe: async (options) => { subscribed.push(options); } },
    },
    clients: { matchAll: () => Promise.resolve(windows), openWindow: (address) => { opened.push(address); } },
  };
  const tables = runInNewContext(`${source}; texts`, { self, URL });
  const happen = async (name, event) => {
    const waits = [];
    listeners[name]({ ...event, waitUntil: (promise) => waits.push(promise) });
    await Promise.all(waits);
  };
  return { shown, opened, subscribed, tables, happen, push: (message) => happen("push", { data: { json: () => message } }) };
}

const press = { kind: "doorbell", deviceID: "d1", key: "front-door", name: "Front door", at: "2026-01-31T12:00:00Z" };

test("a visitor is shown in the language of the page, with the picture if there is one", async () => {
  for (const [search, title] of [["?language=de", "Es klingelt: Front door"], ["", "Somebody is at Front door"]]) {
    const { shown, push } = worker(search);
    await push({ ...press, picture: "/v1/push-pictures/p/s.jpg" });
    assert.equal(shown[0].title, title);
    assert.equal(shown[0].image, "/v1/push-pictures/p/s.jpg");
    assert.equal(shown[0].data.path, "/#camera/front-door");
    assert.ok(shown[0].requireInteraction && shown[0].renotify);
  }
});

test("a name is shown as it is, whatever it contains", async () => {
  const { shown, push } = worker("");
  await push({ ...press, name: "$& {name}" });
  assert.equal(shown[0].title, "Somebody is at $& {name}");
  assert.equal("image" in shown[0], false);
});

test("a second press replaces the first notification, and that of a camera does not", async () => {
  const { shown, push } = worker("");
  await push(press);
  await push(press);
  await push({ ...press, kind: "detection", detection: "person" });
  await push({ ...press, kind: "detection", detection: "something new" });
  assert.equal(shown[0].tag, shown[1].tag);
  assert.notEqual(shown[1].tag, shown[2].tag);
  assert.equal(shown[2].requireInteraction, false);
  assert.equal(shown[3].title, "News from Front door");
});

test("a pressed notification shows its camera in a window that is open, or in a new one", async () => {
  const messages = [];
  const window = { url: "https://home.example/#wall", focus: async () => {}, postMessage: (message) => messages.push(message) };
  const notification = { close: () => {}, data: { path: "/#camera/front-door" } };
  const open = worker("", [{ url: "https://home.example/camera/yard" }, window]);
  await open.happen("notificationclick", { notification });
  assert.equal(JSON.stringify(messages), '[{"show":"/#camera/front-door"}]');
  assert.deepEqual(open.opened, []);
  const closed = worker("");
  await closed.happen("notificationclick", { notification });
  assert.deepEqual(closed.opened, ["https://home.example/#camera/front-door"]);
});

test("a browser that has replaced its subscription tells the page, or asks somebody to open it", async () => {
  const oldSubscription = { options: { userVisibleOnly: true } };
  const messages = [];
  const window = (url) => ({ url, postMessage: (message) => messages.push(JSON.stringify(message)) });
  const open = worker("", [window("https://home.example/#wall"), window("https://home.example/camera/yard"), window("https://home.example/")]);
  await open.happen("pushsubscriptionchange", { oldSubscription, newSubscription: null });
  assert.deepEqual([open.subscribed, messages, open.shown], [[oldSubscription.options], ['{"isRotated":true}', '{"isRotated":true}'], []]);

  const closed = worker("?language=de");
  await closed.happen("pushsubscriptionchange", { oldSubscription, newSubscription: {} });
  assert.deepEqual([closed.subscribed, closed.shown.map(({ title, data }) => [title, data.path])], [[], [["Öffne Gatehouse einmal", "/"]]]);

  // Some browsers say nothing of either, and nobody may be asked where notifications are not allowed any more.
  const silent = worker("", [], "denied");
  await silent.happen("pushsubscriptionchange", {});
  assert.deepEqual([silent.subscribed, silent.shown], [[], []]);
});

test("both tables of the service worker have the same texts", () => {
  const { tables } = worker("");
  assert.deepEqual(Object.keys(tables.de), Object.keys(tables.en));
  for (const [key, text] of Object.entries(tables.en)) {
    assert.equal(tables.de[key].includes("{name}"), text.includes("{name}"), key);
  }
});
