import { getAccess, getDevices, getEvents, getRooms, getStructures, PageError, unreadCamera } from "./api.js";
import { happeningPanel } from "./happening.js";
import { Newest } from "./newest.js";
import { t } from "./text.js";

// So many devices are asked what happened last. A home with more buttons has the history.
const mostHistories = 50;

/**
 * What is read, and who shows it.
 * @typedef {object} ReaderParts
 * @property {import("./home.js").Home} home
 * @property {import("./rights.js").Rights} rights
 * @property {Pick<import("./configuration.js").ConfigurationWatch, "look" | "lookSoon" | "isBehind">} configuration
 * @property {Pick<import("./access.js").AccessCard, "look" | "isBehind">} access
 * @property {Pick<import("./visitors.js").Visitors, "show">} visitors
 * @property {() => void} shown called when the home and the rights are known
 */

/** Reads what the token permits and the home, then what is around it. */
export class HomeReader {
  /** @param {ReaderParts} parts */
  constructor(parts) {
    this.parts = parts;
    // Counts how often the page has forgotten everything, so that an answer for who was signed in before shows nothing.
    this.forgotten = 0;
    this.requests = new Newest();
    /** The newest load has failed, so the home may show less than there is. */
    this.isBehind = false;
  }

  /** Nobody is signed in any more, or perhaps somebody else. */
  forget() {
    this.forgotten += 1;
    this.isBehind = false;
  }

  /** Reads what could not be read. An event reports a change once, and none reports what changed without a connection. */
  again() {
    const { home, configuration, access } = this.parts;
    // No event reports cameras that the token may watch and not read.
    const hasUnread = [...home.tiles.values()].some(({ reported }) => reported.source?.state === "unknown");
    if (this.isBehind || hasUnread) {
      this.load().catch(() => {});
      return;
    }
    if (configuration.isBehind) configuration.lookSoon();
    if (access.isBehind) access.look().catch(() => {});
  }

  /** @param {number} forgotten as it was when the request was made */
  requireSame(forgotten) {
    if (forgotten !== this.forgotten) throw new PageError("ABORTED", t("api.thisWasCancelled"));
  }

  /**
   * It also runs after a time without a connection.
   * @param {{ isFirst?: boolean }} [options]
   */
  async load(options) {
    const { forgotten } = this;
    this.isBehind = false;
    try {
      await this.read(options);
    } catch (error) {
      if (forgotten === this.forgotten) this.isBehind = true;
      throw error;
    }
    this.parts.shown();
    // The home is shown meanwhile.
    this.lookAround();
  }

  /** @param {{ isFirst?: boolean }} [options] */
  async read(options) {
    const { home, rights } = this.parts;
    const { forgotten } = this;
    const before = JSON.stringify(rights.grants);
    const request = this.requests.begin();
    await home.load(async () => {
      const [devices, own, structures, rooms] = await Promise.all(
        [getDevices(options), getAccess(), getStructures(), getRooms()]);
      this.requireSame(forgotten);
      if (!request.takes()) return null;
      this.learn(own);
      const read = new Set(devices.map(({ id }) => id));
      const unread = own.devices.filter(({ id, isCamera }) => isCamera && !read.has(id)).map(unreadCamera);
      return { devices: [...devices, ...unread], structures, rooms };
    });
    if (JSON.stringify(rights.grants) !== before) home.refresh();
  }

  /** @param {import("./types").OwnAccess} own */
  learn(own) {
    const { home, rights } = this.parts;
    // What somebody else has watched is nobody's business, and starts no views.
    if (own.principal !== rights.principal) home.resumed.clear();
    rights.learn(own);
  }

  /**
   * Reads what is around the devices: their settings, who may use them, and what happened last. What fails does not keep the
   * rest away. again() repeats the first two; what happened last comes with the next load, if no event is earlier.
   */
  async lookAround() {
    const { home, rights, configuration, access } = this.parts;
    const { forgotten } = this;
    await Promise.allSettled([configuration.look(), access.look()]);
    if (forgotten !== this.forgotten) return;
    const told = [...home.tiles.values()].map(({ reported }) => reported)
      .filter((device) => rights.may("read", device) && happeningPanel.fits(device));
    await Promise.allSettled(told.slice(0, mostHistories).map(({ id }) => this.readHistory(id)));
  }

  /**
   * Reads what happened last at a device. The event stream reports what follows. A visitor who rang just before the
   * stream was connected is still at the door.
   * @param {string} id
   */
  async readHistory(id) {
    const { home, visitors } = this.parts;
    const { forgotten } = this;
    const latest = await getEvents(id, 10);
    this.requireSame(forgotten);
    if (latest.length > 0) home.event(latest[0].event, latest[0]);
    const press = latest.find(({ event }) => event === "DoorbellPressed");
    if (press) visitors.show(press);
  }
}
