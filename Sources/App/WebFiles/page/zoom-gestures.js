import { moved, transformOf, unzoomed, zoomedAt } from "./zoom.js";

/** Zooms a picture by the wheel, by two fingers, by a double click, and moves it by dragging. */
export class ZoomGestures {
  /**
   * @param {HTMLElement} frame
   * @param {HTMLElement} picture inside the frame, and as large
   * @param {() => void} onChange
   */
  constructor(frame, picture, onChange) {
    this.frame = frame;
    this.picture = picture;
    this.onChange = onChange;
    this.zoom = unzoomed;
    /**
     * Where each finger was seen last.
     * @type {Map<number, { x: number, y: number }>}
     */
    this.fingers = new Map();
    frame.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.set(zoomedAt(this.zoom, Math.exp(-event.deltaY / 400), this.pointOf(event)));
    }, { passive: false });
    frame.addEventListener("dblclick", (event) =>
      this.set(this.isZoomed ? unzoomed : zoomedAt(this.zoom, 2.5, this.pointOf(event))));
    frame.addEventListener("pointerdown", (event) => {
      this.fingers.set(event.pointerId, this.pointOf(event));
      frame.setPointerCapture(event.pointerId);
    });
    frame.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      frame.addEventListener(name, (event) => this.fingers.delete(event.pointerId));
    }
  }

  get isZoomed() { return this.zoom.scale > 1; }

  /** @param {import("./zoom.js").Zoom} zoom */
  set(zoom) {
    this.zoom = zoom;
    this.picture.style.transform = transformOf(zoom);
    this.frame.classList.toggle("zoomed", this.isZoomed);
    this.onChange();
  }

  /** @param {number} factor */
  by(factor) { this.set(zoomedAt(this.zoom, factor)); }

  whole() { this.set(unzoomed); }

  /**
   * @param {number} x as parts of the frame's width
   * @param {number} y as parts of its height
   */
  move(x, y) { this.set(moved(this.zoom, x, y)); }

  /** @param {PointerEvent} event */
  drag(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const now = this.pointOf(event);
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
    this.fingers.set(event.pointerId, now);
    if (other) {
      const { clientWidth, clientHeight } = this.frame;
      const apart = (/** @type {{ x: number, y: number }} */ one) =>
        Math.max(1, Math.hypot((one.x - other.x) * clientWidth, (one.y - other.y) * clientHeight));
      this.set(zoomedAt(this.zoom, apart(now) / apart(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }));
    }
    // With two fingers, the middle between them moves half as far as one of them.
    const share = other ? 0.5 : 1;
    if (this.isZoomed) this.move((now.x - before.x) * share, (now.y - before.y) * share);
  }

  /**
   * Where it happened, from the middle of the frame, as parts of its width and height.
   * @param {MouseEvent} event
   */
  pointOf({ clientX, clientY }) {
    const { left, top, width, height } = this.frame.getBoundingClientRect();
    return { x: (clientX - left) / Math.max(1, width) - 0.5, y: (clientY - top) / Math.max(1, height) - 0.5 };
  }
}
