import { getHistory, getHistoryFilters, getHistoryPicture } from "./api.js";
import { openDialog } from "./dialog.js";
import { element, icon } from "./dom.js";
import { deviceOf } from "./events.js";
import { historyKind, historyQuery, historyWords, isAbove } from "./history-words.js";
import { Newest } from "./newest.js";
import { byName } from "./places.js";
import { openRecordings } from "./recordings.js";
import { locale, t } from "./text.js";
import { inWords } from "./words.js";

/** @typedef {import("./types").HistoryItem} HistoryItem */

// A page that scrolls without end would take the browser's memory.
const mostRows = 2000;
// Milliseconds for which events are collected before the newest page is read again.
const pause = 500;

/** @type {Set<HistoryView>} */
const views = new Set();

/**
 * Opens the history.
 * @param {import("./home.js").Home} home
 * @param {string} device the device that is chosen at first, or ""
 */
export function openHistory(home, device) { return new HistoryView(home, device); }

/**
 * An event of the home: what it is about may be in the history now.
 * @param {string} name
 * @param {any} data
 */
export function growHistory(name, data) {
  const id = name === "device" ? data?.id : deviceOf(data);
  if (id) for (const view of views) view.growSoon(id);
}

/** The event stream is connected again. It may have left out what happened meanwhile. */
export function catchUpHistory() { for (const view of views) view.grow(); }

/**
 * What happened in the home, the latest first, with filters. Older pages are read when the end of the list is near, and
 * the newest one again when something happens.
 */
class HistoryView {
  /**
   * @param {import("./home.js").Home} home
   * @param {string} device the device that is chosen at first, or ""
   */
  constructor(home, device) {
    this.home = home;
    const { node, body } = openDialog(t("historyView.history"), "history-dialog", () => this.finish());
    this.node = node;
    this.isClosed = false;
    // Counts the lists, so that a page of the list before is not added to this one.
    this.number = 0;
    /**
     * The rows by the items' identifiers, each with the item's text.
     * @type {Map<string, { text: string, row: HTMLElement }>}
     */
    this.rows = new Map();
    /**
     * The item that a row shows.
     * @type {WeakMap<Element, HistoryItem>}
     */
    this.items = new WeakMap();
    this.growing = new Newest();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {string | undefined} */
    this.cursor = undefined;
    this.isLoading = false;
    /**
     * The addresses of the pictures that are shown.
     * @type {Map<Element, string>}
     */
    this.urls = new Map();
    /** @type {WeakMap<Element, string>} */
    this.pictures = new WeakMap();

    this.device = this.choice(t("historyView.device"));
    this.kind = this.choice(t("historyView.what"));
    this.date = element("input");
    this.date.type = "date";
    this.date.setAttribute("aria-label", t("historyView.day"));
    this.date.max = dayOf(new Date());
    this.date.addEventListener("change", () => this.restart());
    // The list may stay open overnight.
    this.date.addEventListener("focus", () => { this.date.max = dayOf(new Date()); });
    this.device.append(new Option(t("historyView.allDevices"), ""));
    for (const tile of [...home.tiles.values()].map(({ device: one }) => one).sort(byName)) {
      this.device.append(new Option(tile.name, tile.id));
    }
    this.device.value = device;
    this.kind.append(new Option(t("historyView.everything"), ""));
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
    views.add(this);
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
    this.rows.clear();
    this.isLoading = false;
    this.say(t("historyView.looking"));
    this.more(true);
  }

  /** @param {boolean} [isFirst] */
  async more(isFirst = false) {
    if (this.isLoading || (!isFirst && !this.cursor)) return;
    if (this.rows.size >= mostRows) {
      this.say(t("historyView.more"));
      return;
    }
    const { number } = this;
    this.isLoading = true;
    try {
      const { items, cursor } = await this.read(this.cursor);
      if (this.isClosed || number !== this.number) return;
      this.cursor = cursor;
      for (const item of items) this.add(item);
      this.say(this.rows.size === 0 ? t("historyView.nothingHasHappenedThatFits") : "");
      // The observer reports the end again only after it was out of sight.
      this.observer.unobserve(this.end);
      this.observer.observe(this.end);
    } catch (error) {
      if (number === this.number && !this.isClosed) this.say(inWords(error, "history").message);
    }
    if (number === this.number) this.isLoading = false;
  }

  /** @param {string | undefined} cursor */
  read(cursor) {
    return getHistory(historyQuery({ device: this.device.value, kind: this.kind.value, day: this.date.value }, cursor));
  }

  /**
   * Something happened at a device. Several events lead to one request.
   * @param {string} id
   */
  growSoon(id) {
    if (this.device.value !== "" && this.device.value !== id) return;
    if (this.date.value !== "" && this.date.value !== dayOf(new Date())) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.grow();
    }, pause);
  }

  /** Reads the newest page, and adds what is new in it. */
  async grow() {
    if (this.isClosed) return;
    // The list is not there yet. What it does not bring comes afterwards.
    if (this.isLoading && this.rows.size === 0) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.grow();
      }, pause);
      return;
    }
    const { number } = this;
    const request = this.growing.begin();
    try {
      const { items, cursor } = await this.read(undefined);
      if (this.isClosed || number !== this.number || !request.takes() || items.length === 0) return;
      // More has happened than a page holds: there would be a gap.
      if (cursor && this.rows.size > 0 && !items.some(({ id }) => this.rows.has(id))) {
        this.restart();
        return;
      }
      if (this.rows.size === 0) this.cursor = cursor;
      for (const item of items) this.add(item);
      for (let left = this.rows.size - mostRows; left > 0; left -= 1) this.dropLast();
      this.say("");
    } catch {
      // The next event leads to another attempt, and the list still shows what was read.
    }
  }

  /**
   * Puts an item in its place, or replaces an earlier form of it: a recording gets its picture later.
   * @param {HistoryItem} item
   */
  add(item) {
    const text = JSON.stringify(item);
    const known = this.rows.get(item.id);
    if (known?.text === text) return;
    const isHeld = known !== undefined && known.row.contains(document.activeElement);
    if (known) this.drop(known.row);
    const row = this.row(item);
    this.rows.set(item.id, { text, row });
    this.items.set(row, item);
    // Older pages are added at the end, so the search begins there.
    const day = this.dayList(new Date(item.timestamp));
    let before = day.lastElementChild;
    while (before && this.belongsAbove(item, before)) before = before.previousElementSibling;
    if (before) before.after(row);
    else day.prepend(row);
    if (isHeld) row.querySelector("button")?.focus({ preventScroll: true });
  }

  // The oldest row makes room for what happens.
  dropLast() {
    const day = this.list.lastElementChild;
    const row = day?.lastElementChild;
    const item = row && this.items.get(row);
    if (!item) return;
    this.rows.delete(item.id);
    this.drop(row);
    if (day.lastElementChild) return;
    day.previousElementSibling?.remove();
    day.remove();
  }

  /**
   * Takes a row out of the list, and gives back the memory of its picture.
   * @param {Element} row
   */
  drop(row) {
    for (const picture of row.querySelectorAll("img")) {
      this.observer.unobserve(picture);
      const url = this.urls.get(picture);
      if (url) URL.revokeObjectURL(url);
      this.urls.delete(picture);
    }
    row.remove();
  }

  /**
   * @param {HistoryItem} item
   * @param {Element} row
   */
  belongsAbove(item, row) {
    const shown = this.items.get(row);
    return shown !== undefined && isAbove(item, shown);
  }

  /**
   * The list of a day, under its heading.
   * @param {Date} time
   */
  dayList(time) {
    const day = dayOf(time);
    let before = this.list.lastElementChild;
    // A list follows each heading.
    while (before instanceof HTMLElement && (before.dataset.day ?? "") < day) {
      before = before.previousElementSibling?.previousElementSibling ?? null;
    }
    if (before instanceof HTMLElement && before.dataset.day === day) return before;
    const words = time.toLocaleDateString(locale, { weekday: "long", day: "numeric", month: "long" });
    const made = element("ol", "happenings");
    made.dataset.day = day;
    if (before) before.after(element("h3", "", words), made);
    else this.list.prepend(element("h3", "", words), made);
    return made;
  }

  /** @param {HistoryItem} item */
  row(item) {
    const time = new Date(item.timestamp);
    const name = this.home.tiles.get(item.deviceID)?.device.name ?? t("historyView.aDeviceThatIsGone");
    const clock = time.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
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
      row.setAttribute("aria-label", t("history.play", { what: historyWords(item), name, time: clock }));
      row.addEventListener("click", () => openRecordings(item.deviceID, name, () => {}, time.getTime()));
    }
    return element("li", "", row);
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
      this.urls.set(picture, url);
      picture.src = url;
    } catch {
      // A picture that is gone leaves its place empty.
      picture.remove();
    }
  }

  release() {
    for (const url of this.urls.values()) URL.revokeObjectURL(url);
    this.urls.clear();
  }

  finish() {
    this.isClosed = true;
    views.delete(this);
    clearTimeout(this.timer);
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
