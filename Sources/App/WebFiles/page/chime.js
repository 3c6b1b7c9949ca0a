/** @type {AudioContext | undefined} */
let context;

// Browsers let a page sound only after a tap.
addEventListener("pointerdown", () => {
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
});

export function chime() {
  if (context?.state !== "running") return;
  for (const [frequency, delay] of [[659.25, 0], [523.25, 0.55]]) {
    const start = context.currentTime + delay;
    const oscillator = context.createOscillator();
    const gain = context.createGain();
    oscillator.frequency.value = frequency;
    gain.gain.setValueAtTime(0, start);
    gain.gain.linearRampToValueAtTime(0.22, start + 0.015);
    gain.gain.exponentialRampToValueAtTime(0.0008, start + 1.3);
    oscillator.connect(gain).connect(context.destination);
    oscillator.start(start);
    oscillator.stop(start + 1.35);
  }
}
