import { cameraTrouble } from "./liveness.js";

/**
 * How a camera does that was just added.
 * @typedef {{ isGood: boolean, message: string, details: string | null }} Outcome
 */

// So often the camera is looked at, once a second.
const looks = 25;

/**
 * @param {import("./types").Source | undefined} source of a camera that the page may not know yet
 * @returns {Outcome | null} null while it is being connected
 */
export function outcomeOf(source) {
  if (!source) return null;
  if (source.state === "flowing") {
    const codecs = source.tracks.map(({ codec }) => codec).join(" · ");
    return { isGood: true, message: `The camera works${codecs ? `: it sends ${codecs}` : ""}.`, details: null };
  }
  if (!["backingOff", "givenUp", "stalled"].includes(source.state)) return null;
  const trouble = cameraTrouble(source) ?? "the camera sends nothing";
  return { isGood: false, message: `It does not work yet: ${trouble}.`, details: source.reason ?? null };
}

/**
 * Waits until a camera works or fails.
 * @param {() => import("./types").Source | undefined} read
 * @param {() => Promise<void>} pause for a second
 * @returns {Promise<Outcome>}
 */
export async function trial(read, pause) {
  for (let look = 0; look < looks; look += 1) {
    const outcome = outcomeOf(read());
    if (outcome) return outcome;
    await pause();
  }
  return { isGood: false, message: "The camera has not answered yet. The gateway goes on trying.", details: null };
}
