/** @typedef {{ deviceID: string, timestamp: string }} Press */

/** Milliseconds for which the page says that somebody is at the door. */
export const visitorWaits = 45000;

/**
 * Whether the visitor who rang still waits at the door.
 * @param {{ timestamp: string }} press
 * @param {number} now milliseconds since 1970, by the gateway
 */
export function isWaiting({ timestamp }, now) { return now - Date.parse(timestamp) < visitorWaits; }

/** Remembers the latest press of each doorbell, so that a press that is read twice rings once. */
export class Presses {
  constructor() {
    /** @type {Map<string, number>} */
    this.latest = new Map();
  }

  /**
   * Whether the press is later than the latest one, which it then becomes.
   * @param {Press} press
   */
  isNew({ deviceID, timestamp }) {
    const when = Date.parse(timestamp);
    if ((this.latest.get(deviceID) ?? -Infinity) >= when) return false;
    this.latest.set(deviceID, when);
    return true;
  }
}
