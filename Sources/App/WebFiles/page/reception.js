// Reads what the statistics, the session description and the lease of a live view say.

/**
 * @typedef {{ forEach(callback: (entry: any) => void): void, get(id: string): any }} Statistics a report of
 *   RTCPeerConnection.getStats, or a Map like one
 */

/**
 * How much of the picture was received so far, or of the sound in a view without a picture.
 * @param {Statistics} statistics
 * @param {boolean} hasPicture
 */
export function countReceived(statistics, hasPicture) {
  const counts = { frames: 0, packets: 0 };
  statistics.forEach((entry) => {
    if (entry.type !== "inbound-rtp" || entry.kind !== (hasPicture ? "video" : "audio")) return;
    counts.frames += entry.framesDecoded ?? 0;
    counts.packets += entry.packetsReceived ?? 0;
  });
  return counts;
}

/**
 * How much has come through a connection so far: media, the reports about it, and the checks of its path and their answers.
 * While this does not grow, nothing comes through, and not only no picture.
 * @param {Statistics} statistics
 */
export function countArrivals(statistics) {
  let count = 0;
  statistics.forEach((entry) => {
    if (entry.type === "inbound-rtp") count += entry.packetsReceived ?? 0;
    else if (entry.type === "remote-outbound-rtp") count += entry.reportsSent ?? 0;
    else if (entry.type === "candidate-pair") count += (entry.requestsReceived ?? 0) + (entry.responsesReceived ?? 0);
  });
  return count;
}

/**
 * The name of the picture's codec, such as "H264", or "".
 * @param {Statistics} statistics
 */
export function pictureCodec(statistics) {
  let codec = "";
  statistics.forEach((entry) => {
    if (entry.type !== "inbound-rtp" || entry.kind !== "video") return;
    codec = statistics.get(entry.codecId)?.mimeType?.split("/")[1] ?? "";
  });
  return codec;
}

/**
 * The addresses at which a session description says that RTP is received over UDP.
 * @param {string} description
 */
export function offeredAddresses(description) {
  return [...description.matchAll(/^a=candidate:\S* 1 udp \d+ (\S+) (\d+)/gim)]
    .map(([, host, port]) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`));
}

/**
 * Seconds after which a lease is extended: half a minute before it ends, or half its time if it is short.
 * @param {number} seconds that the lease was granted for
 */
export function extendAfter(seconds) {
  return seconds > 35 ? seconds - 30 : Math.max(1, seconds / 2);
}
