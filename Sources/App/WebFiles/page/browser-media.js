/** Safari on phones has only the managed kind of Media Source Extensions. @returns {typeof MediaSource | undefined} */
export function mediaSourceClass() {
  return globalThis.MediaSource ?? Reflect.get(globalThis, "ManagedMediaSource");
}

/**
 * What this browser can do. Each is asked when it is needed: an extension may take WebRTC away.
 * @type {import("./live-paths.js").Abilities}
 */
export const browserAbilities = {
  get hasWebRTC() { return "RTCPeerConnection" in globalThis; },
  get hasMediaSource() { return mediaSourceClass() !== undefined; },
  receives: (codec) => {
    const known = globalThis.RTCRtpReceiver?.getCapabilities?.("video")?.codecs;
    // A browser that does not say is asked by an offer.
    return known === undefined || known.some(({ mimeType }) => mimeType.toLowerCase() === `video/${codec.toLowerCase()}`);
  },
  plays: (type) => mediaSourceClass()?.isTypeSupported(type) ?? false,
};
