import { getPicture } from "./api.js";

// Milliseconds between two pictures of one camera, and after one that failed.
const interval = 5000;
const pause = 20000;
const timeout = 12000;

export class Snapshots {
  // tiles: gives the tiles there are.
  constructor(tiles) {
    this.tiles = tiles;
    this.isRunning = false;
    this.seen = new Set();
    this.observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) this.seen.add(entry.target);
        else this.seen.delete(entry.target);
      }
    }, { rootMargin: "120px" });
  }

  add(tile) { this.observer.observe(tile.node); }

  remove(tile) {
    this.observer.unobserve(tile.node);
    this.seen.delete(tile.node);
    tile.forgetPicture();
  }

  // Looks whether a picture is due; called once a second.
  async tick() {
    if (this.isRunning || document.visibilityState !== "visible") return;
    const now = performance.now();
    const due = [...this.tiles()]
      .filter((tile) => tile.wantsPicture && this.seen.has(tile.node) && (tile.nextPicture ?? 0) <= now)
      .sort((one, other) => (one.nextPicture ?? 0) - (other.nextPicture ?? 0))[0];
    if (!due) return;
    this.isRunning = true;
    const abort = new AbortController();
    const limit = setTimeout(() => abort.abort(), timeout);
    try {
      const width = Math.min(1280, Math.max(160, Math.ceil(due.screen.clientWidth * (devicePixelRatio || 1))));
      const path = `/v1/devices/${encodeURIComponent(due.device.id)}/snapshot.jpg?width=${width}`;
      const { blob, age } = await getPicture(path, abort.signal);
      due.showPicture(blob, age);
      due.nextPicture = performance.now() + interval;
    } catch (error) {
      due.nextPicture = performance.now() + pause;
      due.missPicture(error);
    }
    clearTimeout(limit);
    this.isRunning = false;
    // The next tile need not wait for the next second.
    if ([...this.tiles()].some((tile) => tile.nextPicture === undefined)) this.tick();
  }
}
