import { getHistory, getHistoryFilters, getHistoryPicture } from "./api.js";
import { openDialog } from "./dialog.js";
import { element, icon } from "./dom.js";
import { historyKind, historyQuery, historyWords } from "./history-words.js";
import { byName } from "./places.js";
import { openRecordings } from "./recordings.js";
import { inWords } from "./words.js";

/** @typedef {import("./types").HistoryItem} HistoryItem */

// A page that scrolls without end would take the browser's memory.
const mostRows = 2000;

/**
 * Opens the history.
 * @param {import("./home.js").Home} home
 * @param {string} device the device that is chosen at first, or ""
 */
export function openHistory(home, device) { return new HistoryView(home, device); }

/** What happened in the home, the latest first, with filters. Older pages are read when the end of the list is near. */
class HistoryView {
  /**
   * @param {import("./home.js").Home} home
   * @param {string} device the device that is chosen at first, or ""
   */
  constructor(home, device) {
    this.home = home;
    const { node, body } = openDialog("History", "history-dialog", () => this.finish());
    this.node = node;
    this.isClosed = false;
    // Counts the lists, so that a page of the list before is not added to this one.
    this.number = 0;
    this.day = "";
    this.rows = 0;
    /** @type {string | undefined} */
    this.cursor = undefined;
    this.isLoading = false;
    /** @type {string[]} */
    this.urls = [];
    /** @type {WeakMap<Element, string>} */
    this.pictures = new WeakMap();

    this.device = this.choice("Device");
    this.kind = this.choice("What");
    this.date = element("input");
    this.date.type = "date";
    this.date.setAttribute("aria-label", "Day");
    this.date.addEventListener("change", () => this.restart());
    this.device.append(new Option("All devices", ""));
    for (const tile of [...home.tiles.values()].map(({ device: one }) => one).sort(byName)) {
      this.device.append(new Option(tile.name, tile.id));
    }
    this.device.value = device;
    this.kind.append(new Option("Everything", ""));
    this.message = element("p", "recordings-message");
    this.message.setAttribute("role", "status");
    this.list = element("div", "history-list");
    this.end = element("div", "history-end");
    body.append(element("div", "filters", this.device, this.kind, this.date), this.message, this.list, this.end);
    this.observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        if (target === this.end) this.more();
        else this.show(target);
      }
    }, { root: node, rootMargin: "400px" });
    this.observer.observe(this.end);
    this.filters();
    this.restart();
  }

  /** @param {string} label */
  choice(label) {
    const made = element("select");
    made.setAttribute("aria-label", label);
    made.addEventListener("change", () => this.restart());
    return made;
  }

  async filters() {
    try {
      const { kinds, oldest } = await getHistoryFilters();
      this.kind.append(...kinds.map((kind) => new Option(historyKind(kind), kind)));
      if (oldest) this.date.min = dayOf(new Date(oldest));
      this.date.max = dayOf(new Date());
    } catch (error) {
      this.say(inWords(error, "history").message);
    }
  }

  /** @param {string} text */
  say(text) {
    this.message.textContent = text;
    this.message.hidden = text === "";
  }

  restart() {
    this.number += 1;
    this.release();
    this.list.replaceChildren();
    this.cursor = undefined;
    this.day = "";
    this.rows = 0;
    this.isLoading = false;
    this.say("Looking …");
    this.more(true);
  }

  /** @param {boolean} [isFirst] */
  async more(isFirst = false) {
    if (this.isLoading || (!isFirst && !this.cursor)) return;
    if (this.rows >= mostRows) {
      this.say("There is more. Choose a device or a day to see it.");
      return;
    }
    const { number } = this;
    this.isLoading = true;
    try {
      const filter = { device: this.device.value, kind: this.kind.value, day: this.date.value };
      const { items, cursor } = await getHistory(historyQuery(filter, this.cursor));
      if (this.isClosed || number !== this.number) return;
      this.cursor = cursor;
      for (const item of items) this.add(item);
      this.rows += items.length;
      this.say(this.rows === 0 ? "Nothing has happened that fits." : "");
      // The observer reports the end again only after it was out of sight.
      this.observer.unobserve(this.end);
      this.observer.observe(this.end);
    } catch (error) {
      if (number === this.number && !this.isClosed) this.say(inWords(error, "history").message);
    }
    if (number === this.number) this.isLoading = false;
  }

  /** @param {HistoryItem} item */
  add(item) {
    const time = new Date(item.timestamp);
    const day = time.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
    if (day !== this.day) {
      this.day = day;
      this.list.append(element("h3", "", day), element("ol", "happenings"));
    }
    const name = this.home.tiles.get(item.deviceID)?.device.name ?? "A device that is gone";
    const clock = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    const words = element("span", "", element("strong", "", historyWords(item)), element("small", "", `${name}, ${clock}`));
    const plays = item.clip !== undefined || item.recordingID !== undefined;
    const row = element(plays ? "button" : "div", "happened");
    if (item.thumbnail) {
      const picture = element("img");
      picture.alt = "";
      row.append(picture);
      this.pictures.set(picture, item.thumbnail);
      this.observer.observe(picture);
    }
    row.append(words);
    if (plays && row instanceof HTMLButtonElement) {
      row.type = "button";
      row.append(icon("play"));
      row.setAttribute("aria-label", `Play: ${historyWords(item)}, ${name}, ${clock}`);
      row.addEventListener("click", () => openRecordings(item.deviceID, name, () => {}, time.getTime()));
    }
    this.list.lastElementChild?.append(element("li", "", row));
  }

  /**
   * Shows a picture that has come near.
   * @param {Element} picture
   */
  async show(picture) {
    this.observer.unobserve(picture);
    const path = this.pictures.get(picture);
    if (!path || !(picture instanceof HTMLImageElement)) return;
    try {
      const url = URL.createObjectURL(await getHistoryPicture(path));
      // The list it belongs to may be gone.
      if (this.isClosed || !picture.isConnected) {
        URL.revokeObjectURL(url);
        return;
      }
      this.urls.push(url);
      picture.src = url;
    } catch {
      // A picture that is gone leaves its place empty.
      picture.remove();
    }
  }

  release() { for (const url of this.urls.splice(0)) URL.revokeObjectURL(url); }

  finish() {
    this.isClosed = true;
    this.observer.disconnect();
    this.release();
  }
}

/**
 * A day as an input for dates takes it, in the viewer's time.
 * @param {Date} date
 */
function dayOf(date) {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}
