import { getGateway, statusOf } from "./api.js";
import { byID, setText } from "./dom.js";
import { Watcher } from "./event-stream.js";
import { SignInForm } from "./sign-in.js";
import { t } from "./text.js";
import { forgetToken } from "./token.js";

/**
 * What the page does when its connection changes.
 * @typedef {object} Handlers
 * @property {(options: { isFirst: boolean }) => Promise<void>} load reads the home
 * @property {() => void} opened the home is shown, and live views may resume
 * @property {() => void} found the event stream is connected, perhaps to another gateway than before
 * @property {() => void} changed the event stream was connected or lost
 * @property {() => void} closed the user is signed out, or perhaps somebody else is signed in
 * @property {() => void} replaced the gateway is a newer one than the page came from
 * @property {(name: string, data: any) => void} event
 */

/** The connection to the gateway: it signs in, reads the home, keeps the event stream, and signs out. */
export class Connection {
  /**
   * @param {import("./types").KnownGateway} gateway filled with what the gateway says of itself
   * @param {import("./types").Link} link kept up to date
   * @param {import("./notice.js").Notice} notice
   * @param {Handlers} handlers
   */
  constructor(gateway, link, notice, handlers) {
    this.gateway = gateway;
    this.link = link;
    this.notice = notice;
    this.handlers = handlers;
    this.form = new SignInForm(() => this.open());
    /** @type {Watcher | null} */
    this.watcher = null;
    /** @type {number | undefined} */
    this.openTimer = undefined;
    // Counts the attempts to open the home, so that an older attempt that is still running does nothing.
    this.opening = 0;
  }

  get isOpen() { return this.watcher !== null; }

  /**
   * @param {string} message why, or ""
   * @param {{ everywhere?: boolean }} [options] everywhere: somebody wants it, so this browser forgets every token
   */
  signOut(message = "", options) {
    this.stop();
    try {
      // The requests that end the views need the token.
      this.hide();
    } finally {
      forgetToken(options);
    }
    this.say("", t("connection.signedOut"));
    this.form.show(message);
  }

  /** This browser has another token, perhaps of somebody else: nothing is shown until the gateway says what it permits. */
  async changeToken() {
    this.stop();
    this.hide();
    await this.open();
  }

  stop() {
    this.opening++;
    clearTimeout(this.openTimer);
    this.watcher?.stop();
    this.watcher = null;
    this.link.isUp = false;
  }

  hide() {
    this.handlers.closed();
    this.showHome(false);
    this.notice.hide();
  }

  async open() {
    const number = ++this.opening;
    clearTimeout(this.openTimer);
    try {
      const told = await getGateway({ isFirst: true });
      if (number !== this.opening) return;
      this.learn(told);
      await this.handlers.load({ isFirst: true });
    } catch (error) {
      if (number === this.opening) this.failed(error);
      return;
    }
    if (number !== this.opening) return;
    this.form.hide();
    this.showHome(true);
    this.handlers.opened();
    this.watcher?.stop();
    this.watcher = new Watcher(this.handlers.event, (state) => {
      if (number === this.opening) this.streamChanged(state === "connected");
    });
  }

  /** @param {unknown} error */
  failed(error) {
    const status = statusOf(error);
    if (status === "UNAUTHENTICATED") {
      this.signOut(t("connection.unknownToken"));
      return;
    }
    this.say("offline", t("connection.gatewayNotReached"));
    this.notice.show(t("connection.noAnswer"),
      status === "UNREACHABLE" || !(error instanceof Error) ? null : error.message);
    this.openTimer = setTimeout(() => this.open(), 2000 + 2000 * Math.random());
  }

  /** @param {boolean} isUp */
  streamChanged(isUp) {
    this.link.isUp = isUp;
    if (isUp) {
      this.say("online", t("connection.connected"));
      getGateway().then((told) => this.learn(told)).catch(() => {});
      this.handlers.found();
    } else {
      this.say("waiting", t("connection.reconnecting"));
    }
    this.handlers.changed();
  }

  /** Connects again at once: the network has changed or this device has slept, so the connection may be dead. */
  renew() { this.watcher?.renew(); }

  /** @param {import("./types").Gateway} told */
  learn(told) {
    if ((this.gateway.version ?? told.version) !== told.version) this.handlers.replaced();
    Object.assign(this.gateway, told);
    byID("version", HTMLElement).textContent = `${told.name} ${told.version}`;
  }

  /** @param {boolean} isShown */
  showHome(isShown) { for (const id of ["home", "home-bar", "signed-in", "sign-out"]) byID(id, HTMLElement).hidden = !isShown; }

  /**
   * @param {"" | "online" | "offline" | "waiting"} state
   * @param {string} text
   */
  say(state, text) {
    byID("link", HTMLElement).className = "link " + state;
    // It is read out, and each attempt to connect says the same.
    setText(byID("link-text", HTMLElement), text);
  }
}
