const storageKey = "gatehouse.sound";

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
export function keepSound(sound) { localStorage.setItem(storageKey, JSON.stringify(sound)); }
