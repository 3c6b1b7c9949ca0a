import { endSignIn } from "./api.js";
import { closeDialogs } from "./dialog.js";
import { catchUpHistory } from "./history-view.js";
import { renewMoments } from "./moments.js";
import { renew, unsubscribe } from "./push.js";
import { t } from "./text.js";
import { authorization, takeToken } from "./token.js";

/**
 * The parts of the page that depend on who is signed in and on the connection.
 * @typedef {object} Parts
 * @property {Pick<import("./home.js").Home, "check" | "forget" | "resume" | "suspend" | "tick">} home
 * @property {Pick<import("./views.js").Views, "check" | "close" | "open" | "replaced" | "tick" | "view">} views
 * @property {Pick<import("./home-reader.js").HomeReader, "again" | "forget" | "load">} reader
 * @property {Pick<import("./configuration.js").ConfigurationWatch, "forget">} configuration
 * @property {Pick<import("./visitors.js").Visitors, "forget">} visitors
 * @property {Pick<import("./access.js").AccessCard, "hide">} access
 * @property {Pick<import("./rights.js").Rights, "principal">} rights
 * @property {Pick<import("./events.js").Events, "dispatch">} events
 * @property {() => void} hideButtons hides the buttons that not everybody has
 */

/** @typedef {Pick<import("./connection.js").Connection, "changeToken" | "isOpen" | "open" | "renew" | "signOut">} Connected */

// Milliseconds that a sign-out waits for the end of the notifications, before it ends the token at the gateway.
const patience = 5000;

/** What the parts of the page do when somebody signs in or out, when the connection changes, and when the page comes and goes. */
export class Wiring {
  /**
   * @param {Parts} parts
   * @param {(handlers: import("./connection.js").Handlers) => Connected} connect
   */
  constructor(parts, connect) {
    this.parts = parts;
    /** @type {(() => Promise<void>) | null} ends the token of a sign-out that waits for the end of the notifications */
    this.endToken = null;
    this.connection = connect({
      load: (options) => parts.reader.load(options),
      opened: () => this.opened(),
      found: () => this.found(),
      changed: () => this.tick(true),
      closed: () => this.closed(),
      replaced: () => parts.views.replaced(),
      event: (name, data) => parts.events.dispatch(name, data),
    });
  }

  /** The page is loaded. */
  begin() {
    if (takeToken()) this.connection.open();
    else this.connection.signOut();
  }

  opened() {
    const { home, views } = this.parts;
    views.open();
    if (!views.view) home.resume();
    this.keepNotified();
  }

  found() {
    const { home, views, reader } = this.parts;
    home.check();
    views.check();
    // No event repeats what changed meanwhile.
    reader.load().catch(() => {});
    catchUpHistory();
  }

  // The next person may see less than this one.
  closed() {
    const { home, views, reader, configuration, visitors, access, hideButtons } = this.parts;
    views.close();
    closeDialogs();
    reader.forget();
    home.forget();
    configuration.forget();
    visitors.forget();
    hideButtons();
    access.hide();
  }

  // If it fails, the dialog of the notifications says so.
  keepNotified() { renew(this.parts.rights.principal).catch(() => {}); }

  /** The browser has replaced its subscription to notifications. */
  rotated() { if (this.connection.isOpen) this.keepNotified(); }

  /** Somebody has pressed the button. The page shows nothing from now on, whether or not the gateway and the push service answer. */
  async signOut() {
    const headers = { authorization: authorization() };
    this.connection.signOut("", { everywhere: true });
    const endToken = async () => {
      if (this.endToken === endToken) this.endToken = null;
      // If the gateway cannot be reached, the token lasts until it expires.
      await endSignIn(headers).catch(() => {});
    };
    this.endToken = endToken;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const limit = new Promise((resolve) => { timer = setTimeout(resolve, patience); });
    await Promise.race([unsubscribe(headers).catch(() => {}), limit]);
    clearTimeout(timer);
    if (this.endToken === endToken) await endToken();
  }

  /** Somebody has signed in or out in another tab. */
  tokenChanged() {
    if (takeToken()) this.connection.changeToken();
    else this.connection.signOut();
  }

  /** The gateway no longer accepts the token. */
  refused() { if (this.connection.isOpen) this.connection.signOut(t("app.tokenNoLongerAccepted")); }

  /** Called from time to time: reads what could not be read, if somebody looks. */
  lookAgain() { if (document.visibilityState === "visible" && this.connection.isOpen) this.parts.reader.again(); }

  /** @param {boolean} isWholeSecond */
  tick(isWholeSecond) {
    this.parts.home.tick(isWholeSecond);
    this.parts.views.tick(isWholeSecond);
    if (isWholeSecond) renewMoments();
  }

  /** A page that is left ends its sessions, and waits for nothing. */
  left() {
    this.parts.views.close();
    this.parts.home.suspend();
    this.endToken?.();
  }

  /** A page that returns from the browser's back/forward cache watches again. */
  returned() { if (this.connection.isOpen) this.connection.open(); }
}
