import { element } from "./dom.js";
import { t } from "./text.js";
import {
  clock, following, joinedSpans, marks, placeOf, recordingWords, shortClock, ticks, timeAt, zoomed,
} from "./timeline.js";

/** @typedef {import("./timeline.js").Span} Span */

// Milliseconds by which a key moves on.
const steps = new Map([["ArrowLeft", -5000], ["ArrowRight", 5000], ["PageUp", 60000], ["PageDown", -60000]]);

/** The timeline of a day: what was recorded, the time that is shown, and the pointer, wheel and keys that choose another one. */
export class TimelineBar {
  /**
   * @param {Span} day
   * @param {object} user
   * @param {(time: number) => void} user.scrubbed the pointer is held at this time
   * @param {(time: number) => void} user.chosen
   */
  constructor(day, { scrubbed, chosen }) {
    this.scrubbed = scrubbed;
    this.chosen = chosen;
    this.day = day;
    this.view = { ...day };
    this.time = day.from;
    /** @type {import("./types").Recording[]} */
    this.recordings = [];
    this.isScrubbing = false;
    // What it shows now.
    this.drawn = "";
    this.track = element("div", "timeline-track");
    this.scale = element("div", "timeline-scale");
    this.cursor = element("div", "timeline-cursor");
    this.node = element("div", "timeline", this.track, this.scale, this.cursor);
    this.node.tabIndex = 0;
    this.node.setAttribute("role", "slider");
    this.node.setAttribute("aria-label", t("recordings.timeOfDay"));
    this.node.setAttribute("aria-valuemax", "1000");
    this.describe();
    this.setUpPointer();
    this.setUpKeys();
  }

  /**
   * Takes another day, to be shown as a whole.
   * @param {Span} day
   */
  open(day) {
    this.day = day;
    this.view = { ...day };
  }

  /** @param {number} time */
  show(time) {
    this.time = time;
    if (!this.isScrubbing) this.view = following(this.view, time, this.day);
    this.describe();
    this.draw();
  }

  /** Says the time to those who hear the page. A slider needs a value from the start. */
  describe() {
    this.node.setAttribute("aria-valuetext", clock(this.time));
    this.node.setAttribute("aria-valuenow", String(Math.round(placeOf(this.time, this.day) * 1000)));
  }

  /**
   * Changes how much of the day is visible; the next draw shows it.
   * @param {number} factor below 1 for less of it
   * @param {number} center the time that stays where it is
   */
  scaleBy(factor, center) { this.view = zoomed(this.view, factor, center, this.day); }

  /** @param {number} factor below 1 for less of the day */
  zoom(factor) {
    this.scaleBy(factor, this.time);
    this.draw();
  }

  /** Milliseconds of the day that are visible. */
  get visibleLength() { return this.view.until - this.view.from; }

  draw() {
    const key = `${this.view.from} ${this.view.until} ${this.recordings.length} ${this.day.from}`;
    this.cursor.style.left = `${placeOf(this.time, this.view) * 100}%`;
    this.cursor.hidden = this.time < this.view.from || this.time > this.view.until;
    if (key === this.drawn) return;
    this.drawn = key;
    const pixel = this.visibleLength / Math.max(320, this.node.clientWidth);
    /** @type {HTMLElement[]} */
    const nodes = [];
    for (const span of joinedSpans(this.recordings, pixel)) {
      if (span.until < this.view.from || span.from > this.view.until) continue;
      const node = element("i", "span");
      node.style.left = `${placeOf(span.from, this.view) * 100}%`;
      node.style.width = `max(2px, ${(span.until - span.from) / this.visibleLength * 100}%)`;
      nodes.push(node);
    }
    for (const { time, recording } of marks(this.recordings)) {
      if (time < this.view.from || time > this.view.until) continue;
      const node = element("i", "mark");
      node.style.left = `${placeOf(time, this.view) * 100}%`;
      node.title = `${shortClock(time)} ${recordingWords(recording)}`;
      nodes.push(node);
    }
    this.track.replaceChildren(...nodes);
    this.scale.replaceChildren(...ticks(this.view, Math.max(3, Math.floor(this.node.clientWidth / 72))).map((time) => {
      const label = element("span", "", shortClock(time));
      label.style.left = `${placeOf(time, this.view) * 100}%`;
      return label;
    }));
  }

  /**
   * The time under the pointer.
   * @param {MouseEvent} event
   */
  timeOf(event) {
    const box = this.node.getBoundingClientRect();
    return timeAt((event.clientX - box.left) / box.width, this.view);
  }

  setUpPointer() {
    const { node } = this;
    node.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      node.setPointerCapture(event.pointerId);
      this.isScrubbing = true;
      this.scrubbed(this.timeOf(event));
    });
    node.addEventListener("pointermove", (event) => { if (this.isScrubbing) this.scrubbed(this.timeOf(event)); });
    node.addEventListener("pointerup", (event) => {
      if (!this.isScrubbing) return;
      this.isScrubbing = false;
      this.chosen(this.timeOf(event));
    });
    node.addEventListener("pointercancel", () => { this.isScrubbing = false; });
    node.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.scaleBy(event.deltaY > 0 ? 1.25 : 0.8, this.timeOf(event));
      this.draw();
    }, { passive: false });
  }

  setUpKeys() {
    this.node.addEventListener("keydown", (event) => {
      const step = steps.get(event.key);
      if (step === undefined) return;
      event.preventDefault();
      this.chosen(this.time + step);
    });
  }
}
