import { getGateway, setToken, statusOf } from "./api.js";
import { byID } from "./dom.js";
import { Watcher } from "./event-stream.js";
import { SignInForm } from "./sign-in.js";

/**
 * What the page does along with its connection.
 * @typedef {object} Handlers
 * @property {(options: { isFirst: boolean }) => Promise<void>} load reads the home
 * @property {() => void} opened the home is shown, and what was going on before may go on
 * @property {() => void} found the event stream stands, perhaps that of another gateway than before
 * @property {() => void} changed whether the event stream stands
 * @property {() => void} closed the token is gone
 * @property {(name: string, data: any) => void} event
 */

/** The way to the gateway: from the token over the home to the event stream, and back to the token. */
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
    // Counts the attempts to open the home, so that an older one that is still under way does nothing.
    this.opening = 0;
  }

  get isOpen() { return this.watcher !== null; }

  /** @param {string} message why, or "" */
  signOut(message = "") {
    this.opening++;
    clearTimeout(this.openTimer);
    this.watcher?.stop();
    this.watcher = null;
    this.link.isUp = false;
    setToken("");
    this.handlers.closed();
    this.showHome(false);
    this.notice.hide();
    this.say("", "Signed out");
    this.form.show(message);
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
      this.signOut("This token is not known to the gateway.");
      return;
    }
    this.say("offline", "Gateway not reached");
    this.notice.show("The gateway does not answer. Is it running, and is this device in its network?",
      status === "UNREACHABLE" || !(error instanceof Error) ? null : error.message);
    this.openTimer = setTimeout(() => this.open(), 2000 + 2000 * Math.random());
  }

  /** @param {boolean} isUp */
  streamChanged(isUp) {
    this.link.isUp = isUp;
    if (isUp) {
      this.say("online", "Connected");
      getGateway().then((told) => this.learn(told)).catch(() => {});
      this.handlers.found();
    } else {
      this.say("waiting", "Reconnecting");
    }
    this.handlers.changed();
  }

  /** The network has changed, or this device has slept: connections of before may be dead. */
  renew() { this.watcher?.renew(); }

  /** @param {import("./types").Gateway} told */
  learn(told) {
    Object.assign(this.gateway, told);
    byID("version", HTMLElement).textContent = `${told.name} ${told.version}`;
  }

  /** @param {boolean} isShown */
  showHome(isShown) { for (const id of ["cameras", "add"]) byID(id, HTMLElement).hidden = !isShown; }

  /**
   * @param {"" | "online" | "offline" | "waiting"} state
   * @param {string} text
   */
  say(state, text) {
    byID("link", HTMLElement).className = "link " + state;
    byID("link-text", HTMLElement).textContent = text;
  }
}
