import { PageError, send } from "./api.js";
import { language, t } from "./text.js";
import { authorization } from "./token.js";

/**
 * What a browser is notified of.
 * @typedef {{ doorbell: boolean, detections: string[], devices?: string[], picture: boolean }} Wishes
 */
/**
 * This browser, as the gateway knows it.
 * @typedef {{ id: string, createdAt: string, service: string, wishes: Wishes }} Subscription
 */

/**
 * What this browser keeps of its subscription. Older pages kept only the id.
 * @typedef {{ id: string, principal?: string, endpoint?: string, wishes?: Wishes }} Kept
 *   principal: whose it is; endpoint: the address at the push service that the gateway has
 */

// Where this browser keeps which subscription is its own.
const storageKey = "gatehouse.push";
const path = "/v1/push-subscriptions";

/**
 * Why this browser cannot be notified, and null if it can.
 * @param {{ isSecure: boolean, hasWorker: boolean, hasPush: boolean, isAppleWithoutApp: boolean, permission: string }} facts
 */
export function obstacle({ isSecure, hasWorker, hasPush, isAppleWithoutApp, permission }) {
  if (!isSecure) return t("push.needsHTTPS");
  // Apple's phones and tablets notify only of pages on the home screen.
  if (isAppleWithoutApp) return t("push.needsHomeScreen");
  if (!hasWorker || !hasPush) return t("push.unsupported");
  if (permission === "denied") return t("push.denied");
  return null;
}

/** What the browser says about it. */
export function facts() {
  const isApple = /iPhone|iPad/u.test(navigator.userAgent);
  return {
    isSecure: window.isSecureContext, hasWorker: "serviceWorker" in navigator, hasPush: "PushManager" in window,
    isAppleWithoutApp: isApple && !matchMedia("(display-mode: standalone)").matches,
    permission: "Notification" in window ? Notification.permission : "default",
  };
}

/**
 * The bytes of a key in base64url.
 * @param {string} text
 */
export function bytesOf(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (one) => one.charCodeAt(0));
}

/** @returns {Kept | null} */
function kept() {
  const text = localStorage.getItem(storageKey);
  if (text === null) return null;
  try {
    const { id, principal, endpoint, wishes } = JSON.parse(text);
    return { id, principal, endpoint, wishes };
  } catch {
    return { id: text };
  }
}

// How often this page has ended the notifications.
let ends = 0;

/**
 * Remembers who is signed in. The function that it returns says whether they have signed out since, here or in another tab,
 * or have ended the notifications.
 * @returns {() => boolean}
 */
function asking() {
  const [number, person] = [ends, authorization()];
  return () => number !== ends || person !== authorization();
}

/** @param {Kept} own */
function keep(own) { localStorage.setItem(storageKey, JSON.stringify(own)); }

/**
 * A browser of this person, as the gateway knows it.
 * @param {string} id
 * @returns {Promise<Subscription | null>}
 */
async function find(id) {
  const { subscriptions } = await send("GET", path);
  return subscriptions.find((/** @type {Subscription} */ one) => one.id === id) ?? null;
}

/**
 * What the gateway knows of this browser; null if it is not notified, also because the gateway has an address of it that the
 * browser has given up.
 * @returns {Promise<Subscription | null>}
 */
export async function currentSubscription() {
  const own = kept();
  const known = own && await find(own.id);
  if (!known) return null;
  const registration = await navigator.serviceWorker?.getRegistration("/");
  const subscription = await registration?.pushManager.getSubscription();
  if (!subscription) return null;
  return own.endpoint === undefined || own.endpoint === subscription.endpoint ? known : null;
}

/** Starts the script that shows notifications. @returns {Promise<ServiceWorkerRegistration>} */
async function register() {
  try {
    // The language is part of the address, so that the script knows it while no page is open.
    return await navigator.serviceWorker.register(`/service-worker.js?language=${language}`);
  } catch (error) {
    // A page counts as secure even if somebody went past the browser's warning about its certificate. Its scripts do not.
    if (error instanceof DOMException && error.name === "SecurityError") {
      throw new PageError("UNTRUSTED", t("push.untrusted"), error.message);
    }
    throw error;
  }
}

/**
 * Subscribes this browser.
 * @param {Wishes} wishes
 * @param {string} principal who is signed in
 * @returns {Promise<Subscription>}
 */
export async function subscribe(wishes, principal) {
  const isOver = asking();
  // Some browsers ask only in the moment of a press, so the question does not wait for the script.
  const [registration, permission] = await Promise.all([register(), Notification.requestPermission()]);
  if (permission !== "granted") throw new PageError("NOT_ALLOWED", t("push.denied"));
  return report(registration, wishes, principal, isOver);
}

/**
 * Gets this browser's subscription, and tells the gateway about it. Nothing is left of it for a person who has signed
 * out meanwhile.
 * @param {ServiceWorkerRegistration} registration
 * @param {Wishes} wishes
 * @param {string} principal
 * @param {() => boolean} isOver
 * @returns {Promise<Subscription>}
 */
async function report(registration, wishes, principal, isOver) {
  if (isOver()) throw cancelled();
  const headers = { authorization: authorization() };
  const { publicKey } = await send("GET", "/v1/push");
  await navigator.serviceWorker.ready;
  const made = await withKey(registration.pushManager, bytesOf(publicKey));
  if (isOver()) {
    // It may be newer than the end of the one before.
    await made.unsubscribe();
    throw cancelled();
  }
  const { endpoint, keys } = made.toJSON();
  /** @type {Subscription} */
  const subscription = await send("POST", path, { endpoint, keys, wishes });
  if (isOver()) {
    const options = { headers, isFirst: true, keepalive: true, read: () => null };
    // A gateway that cannot be reached, or that no longer knows the token, finds out with the next notification.
    await send("DELETE", `${path}/${encodeURIComponent(subscription.id)}`, undefined, options).catch(() => {});
    throw cancelled();
  }
  keep({ id: subscription.id, principal, endpoint, wishes: subscription.wishes });
  return subscription;
}

function cancelled() { return new PageError("ABORTED", t("api.thisWasCancelled")); }

/**
 * Subscribes this browser again if it has another subscription than the gateway knows: browsers replace them, their services
 * end them, and the gateway forgets those. Called when the page is opened. It asks nothing, and does nothing for a browser
 * in which nobody wanted to be notified, or somebody else.
 * @param {string} principal who is signed in
 * @returns {Promise<Subscription | null>} null if this browser is not notified
 */
export async function renew(principal) {
  const before = kept();
  if (before === null || obstacle(facts()) !== null || Notification.permission !== "granted") return null;
  const known = await find(before.id);
  const wishes = known?.wishes ?? (before.principal === principal ? before.wishes : undefined);
  if (wishes === undefined) return null;
  // The script also gets the language that the page has now.
  const registration = await register();
  const own = await registration.pushManager.getSubscription();
  if (known && own && own.endpoint === before.endpoint) return known;
  // Somebody has signed out meanwhile.
  if (kept()?.id !== before.id) return null;
  const renewed = await report(registration, wishes, principal, asking());
  if (known && known.id !== renewed.id) {
    // If the gateway keeps the one before, its service tells it that nobody is there.
    await send("DELETE", `${path}/${encodeURIComponent(known.id)}`, undefined, { read: () => null }).catch(() => {});
  }
  return renewed;
}

/**
 * A subscription for this key. One for another key, of a gateway that was set up again, is given up.
 * @param {PushManager} manager
 * @param {Uint8Array} key
 */
async function withKey(manager, key) {
  const options = { userVisibleOnly: true, applicationServerKey: key };
  try {
    return await manager.subscribe(options);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    if (error.name !== "InvalidStateError") throw new PageError("UNAVAILABLE", t("push.noService"), error.message);
    await (await manager.getSubscription())?.unsubscribe();
    return await manager.subscribe(options);
  }
}

/**
 * Changes what this browser is notified of.
 * @param {string} id
 * @param {Wishes} wishes
 */
export async function changeWishes(id, wishes) {
  const isOver = asking();
  await send("PATCH", `${path}/${encodeURIComponent(id)}`, { ...wishes, devices: wishes.devices ?? [] });
  if (!isOver()) keep({ ...kept(), id, wishes });
}

/**
 * Sends a notification to this browser.
 * @param {string} id
 * @returns {Promise<{ isAccepted: boolean, reason?: string }>}
 */
export async function tryOut(id) { return send("POST", `${path}/${encodeURIComponent(id)}/test`); }

/**
 * Ends the notifications of this browser, and takes away those that it still shows. A gateway that cannot be reached finds out
 * with the next notification.
 * @param {{ authorization?: string }} [headers] with the token, if the page has forgotten it
 */
export async function unsubscribe(headers) {
  ends += 1;
  const id = kept()?.id;
  localStorage.removeItem(storageKey);
  const options = { headers, isFirst: true, keepalive: true, read: () => null };
  await Promise.all([
    id === undefined ? null : send("DELETE", `${path}/${encodeURIComponent(id)}`, undefined, options), unsubscribeBrowser(),
  ]);
}

async function unsubscribeBrowser() {
  const registration = await navigator.serviceWorker?.getRegistration("/");
  for (const shown of await registration?.getNotifications?.().catch(() => []) ?? []) shown.close();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

/**
 * Shows what a notification is about that somebody has pressed.
 * @param {(fragment: string) => void} show
 */
export function whenPressed(show) {
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    if (typeof data?.show === "string" && data.show.startsWith("/#")) show(data.show.slice(1));
  });
}

/**
 * Calls the handler when the browser has replaced its subscription while the page is open.
 * @param {() => void} handler
 */
export function whenRotated(handler) {
  navigator.serviceWorker?.addEventListener("message", ({ data }) => { if (data?.isRotated === true) handler(); });
}
