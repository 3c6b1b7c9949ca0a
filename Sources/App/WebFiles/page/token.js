import { withoutToken } from "./address.js";

// A token that somebody signs in with is kept until they sign out: a phone closes its tabs by itself. A token that comes in an
// address belongs to its tab, so that a link does not sign out the person who is signed in here.

const storageKey = "gatehouse.token";
let token = "";

/**
 * A store of the browser; null where the browser stores nothing.
 * @param {"localStorage" | "sessionStorage"} name
 * @returns {Storage | null}
 */
function store(name) {
  try {
    return globalThis[name];
  } catch {
    return null;
  }
}

/** The token of this tab alone; "" if it has none. */
function ownToken() { return store("sessionStorage")?.getItem(storageKey) ?? ""; }

/** The token that this tab would have if it were opened now. What cannot be stored lasts as long as the page. */
function keptToken() { return ownToken() || (store("localStorage")?.getItem(storageKey) ?? (store("localStorage") ? "" : token)); }

/**
 * Uses the token of the address's fragment, which browsers never send, and takes it out of the address; or the one that is
 * kept.
 * @param {{ ignoresAddress?: boolean }} options ignoresAddress: only the one that is kept counts
 * @returns {boolean} whether there is one
 */
export function takeToken({ ignoresAddress = false } = {}) {
  const given = ignoresAddress ? undefined : new URLSearchParams(location.hash.slice(1)).get("token")?.trim();
  if (given) {
    history.replaceState(null, "", location.pathname + location.search + withoutToken(location.hash));
    token = given;
    if (store("localStorage")?.getItem(storageKey)) store("sessionStorage")?.setItem(storageKey, given);
    else store("localStorage")?.setItem(storageKey, given);
  } else {
    token = keptToken();
  }
  return token !== "";
}

/**
 * Uses a token while this page is open, and does not keep it: the person who is signed in here stays signed in.
 * @param {string} value
 */
export function useToken(value) { token = value.trim(); }

/**
 * Keeps the token of somebody who has signed in.
 * @param {string} value
 */
export function keepToken(value) {
  token = value.trim();
  store("sessionStorage")?.removeItem(storageKey);
  store("localStorage")?.setItem(storageKey, token);
}

/**
 * Forgets the token of this page.
 * @param {{ everywhere?: boolean }} options everywhere: this browser forgets every token
 */
export function forgetToken({ everywhere = false } = {}) {
  const kept = store("localStorage");
  if (everywhere || kept?.getItem(storageKey) === token) kept?.removeItem(storageKey);
  store("sessionStorage")?.removeItem(storageKey);
  token = "";
}

/**
 * Calls the handler when somebody signs in or out in another tab, unless this tab has a token of its own. A page in the browser's
 * back/forward cache hears of that when it returns.
 * @param {() => void} handler
 */
export function whenTokenChanges(handler) {
  addEventListener("storage", ({ key }) => {
    // A store that was cleared has no key.
    if ((key === storageKey || key === null) && ownToken() === "") handler();
  });
  addEventListener("pageshow", ({ persisted }) => { if (persisted && keptToken() !== token) handler(); });
}

/** The header that every request needs. */
export function authorization() { return "Bearer " + token; }

/** The protocols that a WebSocket needs: a script cannot set its headers. The gateway chooses the first one. */
export function socketProtocols() { return ["gatehouse", "gatehouse.bearer." + token]; }
