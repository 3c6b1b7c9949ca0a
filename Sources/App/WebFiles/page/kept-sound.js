const storageKey = "gatehouse.sound";

/**
 * Whether a page may set the volume of its videos. An iPhone keeps that to its buttons, and a video there stays at 1.
 * @param {{ volume: number }} video
 */
export function canChangeVolume(video) {
  const { volume } = video;
  video.volume = 0.5;
  const isChanged = video.volume === 0.5;
  video.volume = volume;
  return isChanged;
}

/** How loud the last camera was heard, from 0 to 1, and whether its sound was on: the next one begins so. */
export function keptSound() {
  try {
    const { volume, isMuted } = JSON.parse(localStorage.getItem(storageKey) ?? "{}");
    return { volume: typeof volume === "number" && volume >= 0 && volume <= 1 ? volume : 1, isMuted: isMuted === true };
  } catch {
    // What somebody else has written there is worth nothing.
    return { volume: 1, isMuted: false };
  }
}

/** @param {{ volume: number, isMuted: boolean }} sound */
export function keepSound(sound) {
  try {
    localStorage.setItem(storageKey, JSON.stringify(sound));
  } catch {
    // In a browser that stores nothing, the next camera begins as the first one.
  }
}
