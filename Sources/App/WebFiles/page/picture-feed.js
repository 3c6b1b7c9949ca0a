import { getPicture, PageError, send } from "./api.js";
import { SeriesParser } from "./picture-series.js";
import { t } from "./text.js";

/**
 * @typedef {{ blob: Blob, age: number }} Picture age in milliseconds
 */

// Milliseconds between the begins of two single pictures.
const interval = 1000;
// Milliseconds after which a picture says nothing about now.
const old = 5000;

/**
 * The pictures of `live.mjpeg`.
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<Picture, void>}
 */
export async function* seriesOf(path, signal) {
  /** @type {ReadableStream<Uint8Array>} */
  const body = await send("GET", path, undefined, { signal, read: (answer) => answer.body });
  const reader = body.getReader();
  const stop = () => { reader.cancel().catch(() => {}); };
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    const parser = new SeriesParser();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      for (const bytes of parser.take(value)) yield { blob: new Blob([bytes], { type: "image/jpeg" }), age: 0 };
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/**
 * One snapshot after the other. A browser has few connections to one host, so the cameras of a wall keep none.
 * @param {string} path of `snapshot.jpg`
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<Picture, void>}
 */
export async function* snapshotsOf(path, signal) {
  while (!signal.aborted) {
    const next = new Promise((resolve) => { setTimeout(resolve, interval); });
    yield await getPicture(path, signal);
    await next;
  }
}

/** The pictures of a camera, one after the other, in an image. */
export class PictureFeed {
  /**
   * @param {(signal: AbortSignal) => AsyncIterable<Picture>} source
   * @param {HTMLImageElement} image
   * @param {import("./media-feed.js").Fed & { shown: () => void }} view shown: a picture of now is on the screen
   */
  constructor(source, image, view) {
    this.source = source;
    this.image = image;
    this.view = view;
    this.abort = new AbortController();
    this.frames = 0;
    this.heardAt = performance.now();
    /** @type {string | null} */
    this.url = null;
    this.run();
  }

  get packets() { return this.frames; }

  get isClosed() { return this.abort.signal.aborted; }

  async run() {
    let error = null;
    try {
      for await (const picture of this.source(this.abort.signal)) {
        if (this.isClosed) return;
        this.heardAt = performance.now();
        if (this.frames === 0) this.view.began(true);
        await this.show(picture);
      }
    } catch (thrown) {
      error = thrown instanceof RangeError ? new PageError("UNAVAILABLE", t("mediaFeed.cannotDecode"), thrown.message) : thrown;
    }
    if (this.isClosed) return;
    this.close();
    this.view.ended(error);
  }

  /** @param {Picture} picture */
  async show({ blob, age }) {
    const before = this.url;
    this.url = URL.createObjectURL(blob);
    this.image.src = this.url;
    try {
      await this.image.decode();
      this.frames += 1;
      if (!this.isClosed && age < old) this.view.shown();
    } catch {
      // One damaged picture is followed by others.
    }
    if (before) URL.revokeObjectURL(before);
  }

  close() {
    this.abort.abort();
    this.image.removeAttribute("src");
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = null;
  }
}
