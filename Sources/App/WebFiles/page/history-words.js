import { temperatureText } from "./readings.js";
import { happenedWords } from "./status.js";
import { locale, t } from "./text.js";

/** @typedef {import("./types").HistoryItem} HistoryItem */

/** @type {Record<string, string>} */
const kinds = { cameraEvent: t("historyWords.atCameras"), press: t("historyWords.presses"), stateChange: t("historyWords.changes"), recording: t("historyWords.recordings") };

/** @param {string} kind */
export function historyKind(kind) { return kinds[kind] ?? kind; }

/**
 * A name in code, as words: `currentLevel` is "Current level".
 * @param {string} name
 */
export function plain(name) {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/**
 * The value of an attribute, in words.
 * @param {string | undefined} trait
 * @param {string | undefined} attribute
 * @param {unknown} value
 */
export function valueWords(trait, attribute, value) {
  if (value === null || value === undefined) return t("historyWords.notKnown");
  if (attribute === "onOff") return value ? t("historyWords.on") : t("historyWords.off");
  if (trait === "BooleanState") return value ? t("historyWords.closed") : t("historyWords.open");
  if (trait === "OccupancySensing") return Number(value) % 2 === 1 ? t("historyWords.somebodyIsThere") : t("historyWords.nobodyIsThere");
  if (typeof value === "boolean") return value ? t("historyWords.yes") : t("historyWords.no");
  if (typeof value === "number") {
    const isHundredths = trait === "TemperatureMeasurement" || (trait === "Thermostat" && /Setpoint$|emperature$/.test(attribute ?? ""));
    if (isHundredths) return temperatureText(value);
    if (trait === "RelativeHumidityMeasurement") return `${Math.round(value / 100)} %`;
    if (trait === "LevelControl") return `${Math.round(value / 254 * 100)} %`;
    if (attribute === "currentPositionLiftPercent100ths") return t("history.percentOpen", { percent: 100 - Math.round(value / 100) });
    if (/[pP]ercent/.test(attribute ?? "")) return `${value.toLocaleString(locale)} %`;
    return value.toLocaleString(locale);
  }
  if (typeof value === "string") return plain(value).toLowerCase();
  return t("historyWords.changed");
}

/**
 * What happened, as a line.
 * @param {HistoryItem} item
 */
export function historyWords({ kind, trait, attribute, from, to, event }) {
  if (kind === "recording") return t("historyWords.recorded");
  if (kind === "stateChange") {
    const before = from === undefined || from === null ? "" : t("history.was", { value: valueWords(trait, attribute, from) });
    const name = attribute && !["onOff", "stateValue", "occupancy", "lockState", "connectivityState"].includes(attribute)
      ? `${plain(attribute)}: ` : "";
    const text = `${name}${valueWords(trait, attribute, to)}`;
    return text.slice(0, 1).toUpperCase() + text.slice(1) + before;
  }
  return happenedWords(event ?? "") || plain(event ?? kind);
}

/**
 * The query for a page of the history.
 * @param {{ device: string, kind: string, day: string }} filter a day as yyyy-mm-dd in the viewer's time, or ""
 * @param {string} [cursor]
 */
export function historyQuery({ device, kind, day }, cursor) {
  const query = new URLSearchParams({ pageSize: "50" });
  if (device) query.set("device", device);
  if (kind) query.set("kind", kind);
  if (day) {
    const from = new Date(`${day}T00:00:00`);
    const until = new Date(from);
    until.setDate(until.getDate() + 1);
    query.set("since", from.toISOString());
    query.set("until", until.toISOString());
  }
  if (cursor) query.set("cursor", cursor);
  return query;
}

/**
 * Whether one item belongs above another: the later one first. Times are whole seconds on the wire, so the number at
 * the end of the identifier decides between two of the same second. It counts up.
 * @param {HistoryItem} one
 * @param {HistoryItem} other
 */
export function isAbove(one, other) {
  const difference = Date.parse(one.timestamp) - Date.parse(other.timestamp);
  return difference > 0 || (difference === 0 && itemNumber(one) > itemNumber(other));
}

/** @param {HistoryItem} item */
function itemNumber({ id }) { return Number(id.slice(id.lastIndexOf("-") + 1)); }
