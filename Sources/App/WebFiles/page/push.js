import { PageError, send } from "./api.js";
import { language, t } from "./text.js";

/**
 * What a browser is notified of.
 * @typedef {{ doorbell: boolean, detections: string[], devices?: string[], picture: boolean }} Wishes
 */
/**
 * This browser, as the gateway knows it.
 * @typedef {{ id: string, createdAt: string, service: string, wishes: Wishes }} Subscription
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

/** @returns {string | null} */
function ownID() { return localStorage.getItem(storageKey); }

/**
 * What the gateway knows of this browser; null if it is not notified.
 * @returns {Promise<Subscription | null>}
 */
export async function currentSubscription() {
  const id = ownID();
  if (id === null) return null;
  const { subscriptions } = await send("GET", path);
  return subscriptions.find((/** @type {Subscription} */ one) => one.id === id) ?? null;
}

/**
 * Subscribes this browser.
 * @param {Wishes} wishes
 * @returns {Promise<Subscription>}
 */
export async function subscribe(wishes) {
  if (await Notification.requestPermission() !== "granted") throw new PageError("NOT_ALLOWED", t("push.denied"));
  const { publicKey } = await send("GET", "/v1/push");
  // The language is part of the address, so that the script knows it while no page is open.
  const registration = await navigator.serviceWorker.register(`/service-worker.js?language=${language}`);
  await navigator.serviceWorker.ready;
  const made = await withKey(registration.pushManager, bytesOf(publicKey));
  const { endpoint, keys } = made.toJSON();
  /** @type {Subscription} */
  const subscription = await send("POST", path, { endpoint, keys, wishes });
  localStorage.setItem(storageKey, subscription.id);
  return subscription;
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
  await send("PATCH", `${path}/${encodeURIComponent(id)}`, { ...wishes, devices: wishes.devices ?? [] });
}

/**
 * Sends a notification to this browser.
 * @param {string} id
 * @returns {Promise<{ isAccepted: boolean, reason?: string }>}
 */
export async function tryOut(id) { return send("POST", `${path}/${encodeURIComponent(id)}/test`); }

/** Ends the notifications of this browser. A gateway that is not reached finds out with the next one. */
export async function unsubscribe() {
  const id = ownID();
  localStorage.removeItem(storageKey);
  const registration = await navigator.serviceWorker?.getRegistration("/");
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  if (id !== null) await send("DELETE", `${path}/${encodeURIComponent(id)}`, undefined, { isFirst: true, read: () => null });
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
