// Milliseconds in which the sound has to begin. Later, it would say that somebody rings just then.
const patience = 2000;

/** @type {AudioContext | undefined} */
let context;

// Browsers let a page sound only after a touch or a key, and not each of these counts everywhere. A call may interrupt it later.
function unlock() {
  context ??= new AudioContext();
  if (context.state !== "running") context.resume().catch(() => {});
}
for (const name of ["pointerdown", "pointerup", "keydown"]) addEventListener(name, unlock);

/** Rings. A page that has loaded itself again has not been touched, and some browsers let it sound even so. */
export async function chime() {
  context ??= new AudioContext();
  if (await begins(context)) ring(context);
}

/**
 * @param {AudioContext} made
 * @returns {Promise<boolean>} whether it sounds in time
 */
async function begins(made) {
  if (made.state === "running") return true;
  // Without permission, some browsers answer only when there is one.
  const began = made.resume().then(() => true, () => false);
  const limit = new Promise((resolve) => { setTimeout(resolve, patience, false); });
  return Promise.race([began, limit]);
}

/** @param {AudioContext} made */
function ring(made) {
  for (const [frequency, delay] of [[659.25, 0], [523.25, 0.55]]) {
    const start = made.currentTime + delay;
    const oscillator = made.createOscillator();
    const gain = made.createGain();
    oscillator.frequency.value = frequency;
    gain.gain.setValueAtTime(0, start);
    gain.gain.linearRampToValueAtTime(0.22, start + 0.015);
    gain.gain.exponentialRampToValueAtTime(0.0008, start + 1.3);
    oscillator.connect(gain).connect(made.destination);
    oscillator.start(start);
    oscillator.stop(start + 1.35);
  }
}
