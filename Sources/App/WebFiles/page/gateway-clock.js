// Milliseconds by which the gateway's clock is ahead of this device's. A tablet on a wall may have a wrong one.
let ahead = 0;

/**
 * Learns the gateway's time from an answer, which states it in whole seconds.
 * @param {{ get(name: string): string | null }} headers
 * @param {number} now milliseconds since 1970, by this device
 */
export function learnTime(headers, now = Date.now()) {
  const told = Date.parse(headers.get("date") ?? "");
  if (!Number.isNaN(told)) ahead = told - now;
}

/**
 * Milliseconds since 1970 by the gateway's clock, which the times of events are by. Until an answer has told it, this device's
 * clock has to do.
 * @param {number} now the same by this device
 */
export function gatewayTime(now = Date.now()) { return now + ahead; }
