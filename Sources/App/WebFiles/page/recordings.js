import { traitsOf } from "./api.js";
import { Button, element, scrollBehavior } from "./dom.js";
import { FootagePlayer, buildsMedia } from "./footage-player.js";
import { lateFault } from "./late-faults.js";
import { Newest } from "./newest.js";
import { RecordingActions } from "./recording-actions.js";
import { getDays, getRecordingPicture, getRecordings, makeRecordingLink } from "./recordings-api.js";
import { locale, t } from "./text.js";
import { TimelineBar } from "./timeline-bar.js";
import {
  clock, dateOf, daySpan, joinedSpans, lengthText, nextRecorded, recordingAt, recordingWords, shortClock, spanOf,
} from "./timeline.js";
import { inWords } from "./words.js";

/**
 * @typedef {import("./types").Recording} Recording
 * @typedef {import("./timeline.js").Span} Span
 */

/**
 * The button that opens the recordings of a camera.
 * @type {import("./panels.js").PanelKind}
 */
export const recordingsPanel = {
  name: "recordings",
  fits: (device) => traitsOf(device).PushAvStreamTransport !== undefined,
  make: (host) => {
    /** @type {RecordingsView | null} */
    let view = null;
    const close = () => { view?.close(); view = null; };
    const button = new Button("history", t("recordings.recordings"), () => {
      view = new RecordingsView(host.device.id, host.device.name, () => { view = null; });
    }, "button compact quiet");
    host.place("controls", button.node);
    return {
      update: () => button.node.setAttribute("aria-label", t("recordings.recordingsOfName", { name: host.device.name })),
      suspend: close, remove: close,
    };
  },
};

/**
 * Opens the recordings of a camera.
 * @param {string} device
 * @param {string} name
 * @param {() => void} closed
 * @param {number} [at] the time to play first, in milliseconds since 1970; the latest recording if it is missing
 */
export function openRecordings(device, name, closed, at) { return new RecordingsView(device, name, closed, at); }

const speeds = [0.5, 1, 2, 4, 8];
/** @param {string} date */
const dayText = (date) => new Date(daySpan(date).from).toLocaleDateString(locale, {
  weekday: "short", day: "numeric", month: "short" });

/** The recordings of one camera: a player, the timeline of a day, and the list of what happened. */
class RecordingsView {
  /**
   * @param {string} device
   * @param {string} name
   * @param {() => void} closed
   * @param {number} [at] the time to play first, in milliseconds since 1970; the latest recording if it is missing
   */
  constructor(device, name, closed, at) {
    this.device = device;
    this.first = at;
    this.zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
    /** @type {Recording[]} */
    this.recordings = [];
    /** @type {Span[]} */
    this.spans = [];
    /** @type {string[]} */
    this.dates = [];
    this.date = dateOf(Date.now());
    this.day = daySpan(this.date);
    // The time that is shown, or chosen with the pointer.
    this.time = this.day.from;
    /** @type {FootagePlayer | null} */
    this.player = null;
    this.isClosed = false;
    this.requests = new Newest();
    /** @type {Set<string>} */
    this.urls = new Set();
    // The picture at the pointer.
    this.stillURL = "";
    // When the element's playlist begins, in browsers that do not put media together.
    /** @type {number | undefined} */
    this.linkStart = undefined;
    this.previewWanted = 0;
    this.isPreviewing = false;

    this.video = element("video", "recorded");
    this.video.playsInline = true;
    this.video.controls = false;
    this.still = element("img", "still");
    this.still.alt = "";
    this.still.hidden = true;
    this.clock = element("output", "clock");
    // It goes on with the video, and would be read out each second. The timeline says the time.
    this.clock.setAttribute("aria-live", "off");
    this.message = element("p", "recordings-message");
    this.message.setAttribute("role", "status");
    this.playButton = new Button("play", t("recordings.play"), () => this.toggle(), "button primary");
    this.speed = element("select", "button");
    this.speed.setAttribute("aria-label", t("recordings.playbackSpeed"));
    for (const speed of speeds) this.speed.append(new Option(`${speed.toLocaleString(locale)}×`, String(speed), speed === 1, speed === 1));
    this.speed.addEventListener("change", () => { this.video.playbackRate = Number(this.speed.value); });
    this.dayChoice = element("select", "button");
    this.dayChoice.setAttribute("aria-label", t("recordings.day"));
    this.dayChoice.addEventListener("change", () => this.openDay(this.dayChoice.value));
    this.earlier = new Button("back", t("recordings.earlier"), () => this.step(-1), "button compact");
    this.later = new Button("forward", t("recordings.later"), () => this.step(1), "button compact");
    this.timeline = new TimelineBar(this.day, {
      scrubbed: (time) => this.scrub(time), chosen: (time) => this.goTo(time, !this.video.paused),
    });
    this.list = element("ol", "happenings");
    /** @type {RecordingActions} */
    const actions = new RecordingActions(this);
    this.node = element("dialog", "recordings",
      element("header", "recordings-head", element("h2", "", name),
        new Button("close", t("recordings.close"), () => this.close(), "button compact").node),
      element("div", "recorded-screen", this.video, this.still), this.clock, this.message, this.timeline.node,
      element("div", "controls", this.playButton.node, this.speed,
        new Button("closer", t("recordings.closer"), () => this.timeline.zoom(0.5), "button compact").node,
        new Button("wider", t("recordings.wider"), () => this.timeline.zoom(2), "button compact").node,
        this.earlier.node, this.dayChoice, this.later.node,
        actions.downloadButton.node, actions.deleteButton.node),
      actions.form, this.list);
    this.title = t("recordings.recordingsOfName", { name });
    this.node.setAttribute("aria-label", this.title);
    this.node.addEventListener("close", () => { this.finish(); closed(); });
    this.video.addEventListener("timeupdate", () => this.followVideo());
    this.video.addEventListener("seeked", () => { this.still.hidden = true; });
    this.video.addEventListener("playing", () => { this.still.hidden = true; });
    for (const event of ["play", "pause"]) this.video.addEventListener(event, () => this.showPlaying());
    this.observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting && entry.target instanceof HTMLElement) this.loadPicture(entry.target);
      }
    }, { root: this.node, rootMargin: "200px" });
    document.body.append(this.node);
    this.node.showModal();
    this.attempt(() => this.load());
  }

  /**
   * @param {() => Promise<unknown>} action
   * @param {{ isChange?: boolean }} options isChange: somebody who has closed the dialog wants to know, too
   */
  async attempt(action, { isChange = false } = {}) {
    const tellLate = lateFault();
    try {
      await action();
    } catch (error) {
      const fault = inWords(error, "recordings");
      if (!this.isClosed) this.say(fault.message);
      else if (isChange) tellLate(this.title, fault);
    }
  }

  /** @param {string} text */
  say(text) {
    this.message.textContent = text;
    this.message.hidden = text === "";
  }

  async load() {
    this.say(t("recordings.lookingForRecordings"));
    this.dates = (await getDays(this.device, this.zone)).map(({ date }) => date).reverse();
    if (this.isClosed) return;
    const today = dateOf(Date.now());
    const choices = this.dates.length > 0 ? this.dates : [today];
    this.dayChoice.replaceChildren(...choices.map((date) => new Option(dayText(date), date)));
    const wanted = this.first === undefined ? undefined : dateOf(this.first);
    await this.showDay(wanted && this.dates.includes(wanted) ? wanted : this.dates[0] ?? today);
  }

  /** @param {string} date */
  openDay(date) { this.attempt(() => this.showDay(date)); }

  /** @param {number} direction 1 for a later day */
  step(direction) {
    const date = this.dates[this.dates.indexOf(this.date) - direction];
    if (date) this.openDay(date);
  }

  /** @param {string} date */
  async showDay(date) {
    this.closePlayer();
    this.date = date;
    this.day = daySpan(date);
    this.timeline.open(this.day);
    this.dayChoice.value = date;
    const place = this.dates.indexOf(date);
    this.earlier.node.disabled = place < 0 || place >= this.dates.length - 1;
    this.later.node.disabled = place <= 0;
    // A request before this one is about another day, or about a recording that is deleted by now.
    const request = this.requests.begin();
    /** @type {Recording[]} */
    let recordings;
    try {
      recordings = await getRecordings(this.device, this.day.from, this.day.until);
    } catch (error) {
      if (request.isLast()) throw error;
      return;
    }
    if (this.isClosed || !request.isLast()) return;
    this.recordings = recordings;
    this.timeline.recordings = recordings;
    this.spans = joinedSpans(recordings, 1000);
    this.say(recordings.length === 0 ? t("recordings.emptyDay") : "");
    this.showList();
    const latest = recordings[0];
    const { first } = this;
    this.first = undefined;
    if (first !== undefined && first >= this.day.from && first < this.day.until && latest) {
      this.timeline.scaleBy(1 / 8, first);
      this.goTo(first);
    } else if (latest) {
      const at = Date.parse(latest.trigger.at);
      const { from, until } = spanOf(latest);
      this.timeline.scaleBy(1 / 8, from);
      this.goTo(at >= from && at < until && latest.trigger.kind !== "continuous" ? from : Math.max(from, until - 60000),
        false);
    } else this.show(this.day.from);
  }

  /**
   * Shows a time, and plays on from there.
   * @param {number} wanted
   * @param {boolean} [plays]
   */
  goTo(wanted, plays = true) {
    const time = nextRecorded(this.spans, wanted) ?? this.spans.at(-1)?.from;
    if (time === undefined) return;
    this.show(time);
    if (!buildsMedia()) {
      this.attempt(() => this.playLink(time, plays));
      return;
    }
    if (this.player) this.player.seek(time);
    else {
      this.player = new FootagePlayer(this.device, this.video, this.day.from,
        (from) => nextRecorded(this.spans, from), (error) => { this.say(error ? inWords(error, "recordings").message : ""); });
      this.attempt(() => this.player?.run(time) ?? Promise.resolve());
    }
    this.video.playbackRate = Number(this.speed.value);
    if (plays) this.video.play().catch(() => {});
  }

  /**
   * For browsers that take a playlist and nothing else.
   * @param {number} time
   * @param {boolean} plays
   */
  async playLink(time, plays) {
    const link = await makeRecordingLink(this.device, time, this.day.until);
    if (this.isClosed) return;
    this.video.src = link.playlist;
    this.linkStart = time;
    this.video.playbackRate = Number(this.speed.value);
    if (plays) await this.video.play();
  }

  toggle() {
    if (!this.video.paused) this.video.pause();
    else if (this.player || this.linkStart) this.video.play().catch(() => {});
    else this.goTo(this.time);
  }

  showPlaying() {
    this.playButton.shape = this.video.paused ? "play" : "pause";
    this.playButton.label = this.video.paused ? t("recordings.play") : t("recordings.pause");
    this.playButton.node.title = this.video.paused ? t("recordings.play") : t("recordings.pause");
  }

  followVideo() {
    if (this.timeline.isScrubbing || this.video.seeking) return;
    const time = this.player ? this.player.time
      : this.linkStart === undefined ? this.time : this.linkStart + this.video.currentTime * 1000;
    if (this.video.readyState >= 2) this.still.hidden = true;
    this.show(time);
  }

  /** @param {number} time */
  show(time) {
    this.time = time;
    this.clock.textContent = clock(time);
    this.timeline.show(time);
    for (const node of this.list.children) {
      if (node instanceof HTMLElement) {
        node.classList.toggle("now", Number(node.dataset["from"]) <= time && time < Number(node.dataset["until"]));
      }
    }
  }

  /** @param {number} time */
  scrub(time) {
    this.show(time);
    this.previewWanted = time;
    if (!this.isPreviewing) this.preview();
  }

  // One picture at a time: while the pointer moves, those in between are left out.
  async preview() {
    this.isPreviewing = true;
    let shown = 0;
    while (this.timeline.isScrubbing && this.previewWanted !== shown && !this.isClosed) {
      shown = this.previewWanted;
      if (!recordingAt(this.recordings, shown)) continue;
      try {
        const blob = await getRecordingPicture(this.device, `thumbnail.jpg?width=480&at=${
          encodeURIComponent(new Date(shown).toISOString())}`);
        if (this.isClosed) break;
        this.giveBack(this.stillURL);
        this.stillURL = this.keep(blob);
        this.still.src = this.stillURL;
        this.still.hidden = false;
      } catch {
        // There is no picture at this time; the next one may be there.
      }
    }
    this.isPreviewing = false;
  }

  /** @param {Blob} blob */
  keep(blob) {
    const url = URL.createObjectURL(blob);
    this.urls.add(url);
    return url;
  }

  /**
   * Gives the memory of a picture back.
   * @param {string} url "" for none
   */
  giveBack(url) { if (this.urls.delete(url)) URL.revokeObjectURL(url); }

  showList() {
    this.observer.disconnect();
    this.list.replaceChildren(...this.recordings.map((recording) => {
      const { from, until } = spanOf(recording);
      const image = element("img");
      image.alt = "";
      const node = element("li", "", element("button", "happened", image, element("span", "",
        element("strong", "", shortClock(Date.parse(recording.trigger.at))),
        element("span", "", recordingWords(recording)),
        element("small", "", lengthText(recording.durationSeconds)))));
      node.dataset["from"] = String(from);
      node.dataset["until"] = String(until);
      node.dataset["id"] = recording.id;
      node.addEventListener("click", () => {
        this.timeline.scaleBy(Math.max(300000, 4 * (until - from)) / this.timeline.visibleLength, from);
        this.goTo(Math.max(from, this.day.from));
        this.node.scrollTo({ top: 0, behavior: scrollBehavior() });
      });
      this.observer.observe(node);
      return node;
    }));
  }

  /** @param {HTMLElement} node */
  async loadPicture(node) {
    const image = node.querySelector("img");
    const id = node.dataset["id"];
    this.observer.unobserve(node);
    if (!image || !id) return;
    try {
      const blob = await getRecordingPicture(this.device, `${id}/thumbnail.jpg?width=240`);
      // The list of another day may be shown by now, or none.
      if (!this.isClosed && node.isConnected) image.src = this.keep(blob);
    } catch {
      // A recording without pictures keeps an empty place.
      image.hidden = true;
    }
  }

  closePlayer() {
    this.player?.close();
    this.player = null;
    this.linkStart = undefined;
    for (const url of this.urls) this.giveBack(url);
    this.still.hidden = true;
  }

  close() { this.node.close(); }

  finish() {
    this.isClosed = true;
    this.video.pause();
    this.closePlayer();
    this.observer.disconnect();
    this.node.remove();
  }
}
