import { send } from "./api.js";

// The requests about recordings. Times are milliseconds since 1970.

/**
 * @typedef {import("./types").FootagePart} FootagePart
 * @typedef {import("./types").Recording} Recording
 */

/** @param {string} device */
function recordingsPath(device) { return `/v1/devices/${encodeURIComponent(device)}/recordings`; }

/** @param {number} time milliseconds since 1970 */
function timeText(time) { return encodeURIComponent(new Date(time).toISOString()); }

/**
 * The days with recordings of a device, the oldest first.
 * @param {string} device
 * @param {string} zone the viewer's time zone
 * @returns {Promise<{ date: string }[]>}
 */
export async function getDays(device, zone) {
  return (await send("GET", `${recordingsPath(device)}/days?timeZone=${encodeURIComponent(zone)}`)).days;
}

/**
 * The recordings of a time, the latest first.
 * @param {string} device
 * @param {number} from milliseconds since 1970
 * @param {number} until
 * @returns {Promise<Recording[]>}
 */
export async function getRecordings(device, from, until) {
  /** @type {Recording[]} */
  const recordings = [];
  let after = "";
  // A day of recordings of a second each fits.
  for (let page = 0; page < 100; page += 1) {
    const answer = await send("GET",
      `${recordingsPath(device)}?limit=1000&from=${timeText(from)}&until=${timeText(until)}${after}`);
    recordings.push(...answer.recordings);
    if (!answer.next) break;
    after = `&after=${encodeURIComponent(answer.next)}`;
  }
  return recordings;
}

/**
 * What a player needs for a time.
 * @param {string} device
 * @param {number} from milliseconds since 1970
 * @param {number} until
 * @param {AbortSignal} signal
 * @returns {Promise<FootagePart[]>}
 */
export async function getFootage(device, from, until, signal) {
  const path = `${recordingsPath(device)}/footage?from=${timeText(from)}&until=${timeText(until)}`;
  return (await send("GET", path, undefined, { signal })).parts;
}

/**
 * A part of a recording.
 * @param {string} device
 * @param {string} path below the device's recordings
 * @param {AbortSignal} signal
 * @returns {Promise<ArrayBuffer>}
 */
export async function getBytes(device, path, signal) {
  return send("GET", `${recordingsPath(device)}/${path}`, undefined,
    { signal, read: (answer) => answer.arrayBuffer() });
}

/**
 * A picture of a recording.
 * @param {string} device
 * @param {string} path below the device's recordings
 * @returns {Promise<Blob>}
 */
export async function getRecordingPicture(device, path) {
  return send("GET", `${recordingsPath(device)}/${path}`, undefined, { read: (answer) => answer.blob() });
}

/**
 * Addresses of recordings that work without the token for some hours.
 * @param {string} device
 * @param {number} from milliseconds since 1970
 * @param {number} until
 * @returns {Promise<{ playlist: string, export: string }>}
 */
export async function makeRecordingLink(device, from, until) {
  return send("POST", `${recordingsPath(device)}/links?from=${timeText(from)}&until=${timeText(until)}`);
}
