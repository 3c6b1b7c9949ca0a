import { locale, t } from "./text.js";

/**
 * What the timeline of recordings shows, and where: decisions without a browser. Times are milliseconds since 1970.
 *
 * @typedef {import("./types").Recording} Recording
 */

/** @typedef {{ from: number, until: number }} Span a stretch of time */

/** The shortest time that the timeline shows at once: two minutes. */
export const shortestView = 120000;

/**
 * The day that begins at midnight of this date, where the viewer is. Days with a change of the clock are shorter or
 * longer than others.
 * @param {string} date as in 2026-11-22
 * @returns {Span}
 */
export function daySpan(date) {
  const [year, month, day] = date.split("-").map(Number);
  return { from: new Date(year ?? 1970, (month ?? 1) - 1, day).getTime(),
    until: new Date(year ?? 1970, (month ?? 1) - 1, (day ?? 1) + 1).getTime() };
}

/**
 * The date of a time, where the viewer is, as in 2026-11-22.
 * @param {number} time
 */
export function dateOf(time) {
  const date = new Date(time);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part, place) => String(part).padStart(place === 0 ? 4 : 2, "0")).join("-");
}

/**
 * The time of day, to the second.
 * @param {number} time
 */
export function clock(time) {
  return new Date(time).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

/**
 * The time of day, to the minute.
 * @param {number} time
 */
export function shortClock(time) { return new Date(time).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" }); }

/**
 * The time of a recording.
 * @param {Recording} recording
 * @returns {Span}
 */
export function spanOf(recording) { return { from: Date.parse(recording.start), until: Date.parse(recording.end) }; }

/**
 * When recordings exist: spans that touch, or nearly, become one, so that a day of many recordings is drawn with few
 * elements.
 * @param {Recording[]} recordings
 * @param {number} tolerance milliseconds between two spans that are drawn as one
 * @returns {Span[]}
 */
export function joinedSpans(recordings, tolerance) {
  const spans = recordings.map(spanOf).sort((one, other) => one.from - other.from);
  /** @type {Span[]} */
  const joined = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last && span.from - last.until <= tolerance) last.until = Math.max(last.until, span.until);
    else joined.push({ ...span });
  }
  return joined;
}

/**
 * Where a time is in a view, from 0 (left) to 1.
 * @param {number} time
 * @param {Span} view
 */
export function placeOf(time, view) { return (time - view.from) / (view.until - view.from); }

/**
 * The time at a place of a view. Places outside count as the nearest end.
 * @param {number} place
 * @param {Span} view
 */
export function timeAt(place, view) {
  return view.from + Math.min(1, Math.max(0, place)) * (view.until - view.from);
}

/**
 * A view of another length around a time, inside the day. The time stays at its place where that is possible.
 * @param {Span} view
 * @param {number} factor below 1 to see more detail
 * @param {number} center
 * @param {Span} day
 * @returns {Span}
 */
export function zoomed(view, factor, center, day) {
  const length = Math.min(day.until - day.from, Math.max(shortestView, (view.until - view.from) * factor));
  const place = Math.min(1, Math.max(0, placeOf(center, view)));
  return within(center - place * length, length, day);
}

/**
 * The view, moved so that a time is in its middle part.
 * @param {Span} view
 * @param {number} time
 * @param {Span} day
 * @returns {Span}
 */
export function following(view, time, day) {
  const place = placeOf(time, view);
  if (place >= 0.1 && place <= 0.9) return view;
  const length = view.until - view.from;
  return within(time - length / 2, length, day);
}

/**
 * @param {number} from
 * @param {number} length
 * @param {Span} day
 * @returns {Span}
 */
function within(from, length, day) {
  const start = Math.max(day.from, Math.min(from, day.until - length));
  return { from: start, until: start + length };
}

/**
 * The times at which the scale has a label: full hours or minutes, at most so many.
 * @param {Span} view
 * @param {number} most
 * @returns {number[]}
 */
export function ticks(view, most) {
  const minute = 60000;
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((one) => one * minute);
  const step = steps.find((one) => (view.until - view.from) / one <= most) ?? 24 * 60 * minute;
  // Labels are at round times of the place, not of UTC.
  const zone = new Date(view.from).getTimezoneOffset() * minute;
  const first = Math.ceil((view.from - zone) / step) * step + zone;
  const times = [];
  for (let time = first; time <= view.until && times.length <= most; time += step) times.push(time);
  return times;
}

/**
 * The recording that shows a time; of several, the shortest, because it belongs to an event.
 * @param {Recording[]} recordings
 * @param {number} time
 * @returns {Recording | undefined}
 */
export function recordingAt(recordings, time) {
  return recordings.filter((one) => spanOf(one).from <= time && time < spanOf(one).until)
    .sort((one, other) => one.durationSeconds - other.durationSeconds)[0];
}

/**
 * Where playing goes on from a time: the time itself if it was recorded, else the next recorded one. Undefined when
 * nothing was recorded later that day.
 * @param {Span[]} spans in the order of time
 * @param {number} time
 */
export function nextRecorded(spans, time) {
  for (const span of spans) if (time < span.until) return Math.max(time, span.from);
  return undefined;
}

/**
 * What was recorded and why, in a few words.
 * @param {Recording} recording
 */
export function recordingWords(recording) {
  const reason = recording.trigger.reason || { command: t("timeline.byHand"), motion: t("timeline.motion"), continuous: t("timeline.continuous") }[
    recording.trigger.kind] || recording.trigger.kind;
  return recording.isRunning ? t("timeline.running", { reason }) : reason;
}

/**
 * A length of time for a person.
 * @param {number} seconds
 */
export function lengthText(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * The recordings that stand for something that happened. Continuous ones have no mark.
 * @param {Recording[]} recordings
 * @returns {{ time: number, recording: Recording }[]}
 */
export function marks(recordings) {
  return recordings.filter((one) => one.trigger.kind !== "continuous" || one.trigger.events.length > 0)
    .map((recording) => ({ time: Date.parse(recording.trigger.at), recording }));
}

/**
 * What a download offers first: the recording of an event as a whole, and of a long one ten minutes around the time.
 * @param {Recording} recording
 * @param {number} time
 * @returns {Span}
 */
export function downloadSpan(recording, time) {
  const span = spanOf(recording);
  if (span.until - span.from <= 600000) return span;
  return { from: Math.max(span.from, time - 300000), until: Math.min(span.until, time + 300000) };
}
