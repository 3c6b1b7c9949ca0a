import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { statusOf } from "../../Sources/App/WebFiles/page/api.js";
import { changeWishes, currentSubscription, renew, subscribe, unsubscribe } from "../../Sources/App/WebFiles/page/push.js";
import { useToken } from "../../Sources/App/WebFiles/page/token.js";

const names = ["window", "navigator", "matchMedia", "Notification", "localStorage", "fetch"];
/** @type {Map<string, PropertyDescriptor | undefined>} */
let before = new Map();
/** The browser: its permission, and its subscription at its push service. */
let browser = { permission: "granted", endpoint: "" };
/** The subscriptions that the gateway has of this person, and how many it has got. */
let gateway = { subscriptions: [], count: 0 };
/** The requests to the gateway. @type {string[]} */
let requests = [];
/** The notifications that the browser shows. */
let shown = [];
/** What the registration of the worker fails with. @type {DOMException | null} */
let refusal = null;
/** @type {Map<string, string>} */
let items = new Map();

const stored = () => JSON.parse(items.get("gatehouse.push") ?? "null");
const wishes = { doorbell: true, detections: ["person"], picture: false };

function subscriptionOf(endpoint) { return { endpoint, toJSON: () => ({ endpoint, keys: {} }), unsubscribe: async () => { browser.endpoint = ""; } }; }

/** What the gateway answers. */
function answer(method, path, body) {
  const id = path.split("/")[3];
  if (path === "/v1/push") return { publicKey: "BAAB" };
  if (method === "GET") return { subscriptions: gateway.subscriptions };
  if (method === "DELETE") {
    gateway.subscriptions = gateway.subscriptions.filter((one) => one.id !== id);
    return {};
  }
  if (method === "PATCH") return {};
  let found = gateway.subscriptions.find(({ endpoint }) => endpoint === body.endpoint);
  if (!found) {
    found = { id: `p${++gateway.count}`, endpoint: body.endpoint };
    gateway.subscriptions.push(found);
  }
  return Object.assign(found, { wishes: body.wishes });
}

beforeEach(() => {
  before = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  browser = { permission: "granted", endpoint: "" };
  gateway = { subscriptions: [], count: 0 };
  requests = [];
  shown = [];
  refusal = null;
  items = new Map();
  const manager = {
    getSubscription: async () => (browser.endpoint ? subscriptionOf(browser.endpoint) : null),
    subscribe: async () => {
      browser.endpoint ||= "https://push.example/first";
      return subscriptionOf(browser.endpoint);
    },
  };
  const registration = { pushManager: manager, getNotifications: async () => shown };
  const Notification = { get permission() { return browser.permission; }, requestPermission: async () => browser.permission };
  set("Notification", Notification);
  set("window", { isSecureContext: true, PushManager: true, Notification });
  set("matchMedia", () => ({ matches: false }));
  set("navigator", { userAgent: "", serviceWorker: {
    register: async () => {
      if (refusal) throw refusal;
      return registration;
    },
    ready: Promise.resolve(registration), getRegistration: async () => registration,
  } });
  set("localStorage", { getItem: (key) => items.get(key) ?? null, setItem: (key, text) => items.set(key, text), removeItem: (key) => items.delete(key) });
  set("fetch", async (path, { method, body }) => {
    requests.push(`${method} ${path}`);
    return Response.json(answer(method, path, body && JSON.parse(body)));
  });
});
afterEach(() => {
  for (const [name, value] of before) {
    if (value) Object.defineProperty(globalThis, name, value);
    else delete globalThis[name];
  }
});

test("a worker that the browser refuses because of the certificate is explained", async () => {
  refusal = new DOMException("An SSL certificate error occurred when fetching the script.", "SecurityError");
  await assert.rejects(subscribe(wishes, "owner"), (error) => {
    assert.equal(statusOf(error), "UNTRUSTED");
    assert.match(error.message, /certificate/);
    assert.match(error.details, /SSL/);
    return true;
  });
  assert.deepEqual([requests, items.size], [[], 0]);
});

test("a browser that is subscribed is known, and nothing is asked of one that is not", async () => {
  assert.equal(await renew("owner"), null);
  assert.deepEqual(requests, []);
  const made = await subscribe(wishes, "owner");
  assert.deepEqual(stored(), { id: "p1", principal: "owner", endpoint: "https://push.example/first", wishes });
  requests = [];
  assert.equal((await renew("owner")).id, made.id);
  assert.equal((await currentSubscription()).id, made.id);
  assert.ok(requests.every((one) => one.startsWith("GET ")));
});

test("an address that the browser has replaced takes the place of the one before, with the same wishes", async () => {
  await subscribe(wishes, "owner");
  browser.endpoint = "https://push.example/second";
  // The gateway would send to a dead address.
  assert.equal(await currentSubscription(), null);
  const renewed = await renew("owner");
  assert.deepEqual(gateway.subscriptions, [{ id: "p2", endpoint: "https://push.example/second", wishes }]);
  assert.deepEqual([renewed.id, (await currentSubscription()).id], ["p2", "p2"]);
});

test("a browser that the gateway has forgotten subscribes again, and so does one that has lost its subscription", async () => {
  await subscribe(wishes, "owner");
  await changeWishes("p1", { ...wishes, doorbell: false });
  gateway.subscriptions = [];
  assert.deepEqual((await renew("owner")).wishes, { ...wishes, doorbell: false });
  browser.endpoint = "";
  assert.equal(await currentSubscription(), null);
  assert.equal((await renew("owner")).wishes.doorbell, false);
  assert.equal(gateway.subscriptions.length, 1);
});

test("what an older page has kept is taken over", async () => {
  await subscribe(wishes, "owner");
  items.set("gatehouse.push", "p1");
  assert.equal((await currentSubscription()).id, "p1");
  await renew("owner");
  assert.deepEqual(stored(), { id: "p1", principal: "owner", endpoint: "https://push.example/first", wishes });
});

test("nobody is subscribed by what somebody else wanted, or without the permission", async () => {
  await subscribe(wishes, "owner");
  gateway.subscriptions = [];
  assert.equal(await renew("ana"), null);
  browser.permission = "default";
  assert.equal(await renew("owner"), null);
  assert.deepEqual(gateway.subscriptions, []);
  browser.permission = "granted";
  await unsubscribe();
  assert.equal(await renew("owner"), null);
  assert.deepEqual([gateway.subscriptions, browser.endpoint, items.size], [[], "", 0]);
});

test("the end of the notifications takes away those that are still shown", async () => {
  await subscribe(wishes, "owner");
  const closed = [];
  shown = ["person", "doorbell"].map((tag) => ({ close: () => closed.push(tag) }));
  await unsubscribe();
  assert.deepEqual(closed, ["person", "doorbell"]);
});

test("a browser that ends its subscription slowly does not keep the gateway from hearing of it", async () => {
  await subscribe(wishes, "owner");
  requests = [];
  navigator.serviceWorker.getRegistration = () => new Promise(() => {});
  unsubscribe({ authorization: "Bearer before" });
  await new Promise((resolve) => { setImmediate(resolve); });
  assert.deepEqual([requests, gateway.subscriptions, items.size], [["DELETE /v1/push-subscriptions/p1"], [], 0]);
});

/** Calls the function once, between a request and its answer. */
function beforeTheAnswer(request, run) {
  const answered = globalThis.fetch;
  globalThis.fetch = async (path, options) => {
    const response = await answered(path, options);
    if (`${options.method} ${path}` === request) {
      globalThis.fetch = answered;
      await run();
    }
    return response;
  };
}

// Here, the page ends the notifications itself. In another tab, only the token changes.
const signOuts = {
  here: async () => { await unsubscribe({ authorization: "Bearer anna's" }); },
  "in another tab": async () => {
    items.delete("gatehouse.push");
    browser.endpoint = "";
    useToken("");
  },
};
for (const [where, signOut] of Object.entries(signOuts)) {
  test(`a subscription whose person signs out ${where} before the answer leaves nothing`, async () => {
    useToken("anna's");
    for (const request of ["GET /v1/push", "POST /v1/push-subscriptions"]) {
      beforeTheAnswer(request, signOut);
      await assert.rejects(subscribe(wishes, "anna"), (error) => statusOf(error) === "ABORTED", request);
      assert.deepEqual([items.size, browser.endpoint, gateway.subscriptions], [0, "", []], request);
      useToken("anna's");
    }
    useToken("");
  });

  test(`wishes of a person who signs out ${where} before the answer are not kept`, async () => {
    useToken("anna's");
    await subscribe(wishes, "anna");
    beforeTheAnswer("PATCH /v1/push-subscriptions/p1", signOut);
    await changeWishes("p1", { ...wishes, doorbell: false });
    assert.equal(items.size, 0);
    useToken("");
  });
}

test("nobody is subscribed for the one who signs in while a permission is asked for", async () => {
  useToken("anna's");
  Notification.requestPermission = async () => {
    useToken("ben's");
    return "granted";
  };
  await assert.rejects(subscribe(wishes, "anna"), (error) => statusOf(error) === "ABORTED");
  assert.deepEqual([requests, items.size], [[], 0]);
  useToken("");
});
