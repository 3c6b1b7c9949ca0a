import { fragmentOf } from "./address.js";
import { mayHaveSound, sourceOf } from "./api.js";
import { Button, element, setText } from "./dom.js";
import { LiveSession } from "./live-session.js";
import { fallbackWord, liveWord } from "./live-words.js";
import { sizeOf } from "./picture-file.js";
import { Preview } from "./preview.js";
import { dotClass, happeningLine, statusLine } from "./status.js";
import { t } from "./text.js";
import { hasPicturesForAll, shouldPlay } from "./wall-layout.js";

/** @typedef {import("./types").Device} Device */

// Milliseconds that a cell plays on when it goes out of sight.
const grace = 4000;

/** One camera on the wall: its picture, and a line below it. */
export class WallCell {
  /**
   * @param {Device} device
   * @param {import("./views.js").ViewParts} parts
   * @param {(cell: WallCell) => void} hear switches the sound of this camera on or off
   */
  constructor(device, parts, hear) {
    this.camera = device;
    this.device = device.id;
    this.parts = parts;
    this.isSeen = false;
    this.wantedAt = -Infinity;
    this.hasKept = false;
    this.wasStalled = false;
    this.video = element("video");
    this.video.playsInline = true;
    this.video.muted = true;
    this.preview = new Preview(() => this.render());
    this.link = element("a", "cell-picture", this.preview.poster, this.preview.snapshot, this.video);
    this.link.href = fragmentOf({ kind: "camera", id: device.key ?? device.id });
    this.dot = element("span", "dot");
    this.name = element("span", "cell-name");
    this.words = element("span", "cell-words");
    this.soundButton = new Button("muted", t("wallCell.sound"), () => hear(this), "button plain");
    this.node = element("article", "cell", this.link,
      element("div", "cell-line", this.dot, this.name, this.words, this.soundButton.node));
    this.live = new LiveSession({ id: device.id, canTalk: false }, this.video, parts.page.gateway, parts.page.link,
      () => this.render(), { persists: true });
    this.live.quality.wanted = "sd";
    this.video.after(this.live.fallback.image);
    parts.snapshots.add(this);
  }

  /** Whether its sound is on. A browser that refuses sound without a press mutes the video by itself. */
  get isHeard() { return !this.video.muted; }

  set isHeard(isHeard) {
    this.video.muted = !isHeard;
    this.live.needsTap = false;
    // A video that was refused with its sound goes on now that somebody has pressed.
    if (isHeard && this.live.isActive) this.live.play();
    this.render();
  }

  /** The width of its picture by the height; 0 before the first one. */
  get aspect() {
    const { width, height } = sizeOf(this.live.picture);
    return height ? width / height : 0;
  }

  /** @param {Device} device */
  update(device) {
    this.camera = device;
    // Nobody talks here.
    this.live.learn(device, false);
    this.render();
  }

  /**
   * @param {boolean} mayStart
   * @returns {boolean} whether it has started a view
   */
  tick(mayStart) {
    const { live } = this;
    const now = performance.now();
    const should = shouldPlay({
      isPlaying: live.isActive, isSeen: this.isSeen, isPageVisible: document.visibilityState === "visible",
      isHeard: this.isHeard, source: sourceOf(this.camera),
    });
    if (should) this.wantedAt = now;
    if (live.isWanted) {
      if (now - this.wantedAt > grace) {
        this.preview.keep(live.picture);
        live.stop();
      } else if (live.isActive) {
        live.tick();
        this.keepFirst();
      }
    } else if (should && mayStart) {
      live.start();
      return true;
    }
    return false;
  }

  render() {
    const { live, camera: device } = this;
    const { isLive, isStalled, text } = live.verdict;
    const { isShown } = this;
    this.node.classList.toggle("playing", isShown);
    this.node.classList.toggle("stalled", live.isActive && isStalled);
    if (isStalled && !this.wasStalled) this.hasKept = this.preview.keep(live.picture);
    else this.keepFirst();
    this.wasStalled = isStalled;
    this.preview.snapshot.hidden = isShown || !this.preview.hasSnapshot;
    this.dot.className = "dot " + (isLive ? "online" : live.isActive ? "waiting" : dotClass(device.connectivityState));
    setText(this.name, device.name);
    setText(this.words, isStalled ? text ?? "" : isLive
      ? [fallbackWord(live.path), happeningLine(device.activeDetections ?? [], null, new Date())].filter(Boolean).join(" · ")
      : live.isActive ? liveWord(live) : live.fault?.message
        ?? (sourceOf(device).state === "flowing" ? "" : statusLine(device)));
    this.link.setAttribute("aria-label", t("wallCell.largeViewOfName", { name: device.name }));
    const { node } = this.soundButton;
    node.hidden = !mayHaveSound(sourceOf(device));
    if (node.getAttribute("aria-pressed") !== String(this.isHeard)) {
      node.setAttribute("aria-pressed", String(this.isHeard));
      this.soundButton.shape = this.isHeard ? "sound" : "muted";
    }
    node.setAttribute("aria-label", t("wallCell.soundOfName", { name: device.name }));
  }

  get isShown() {
    const { live } = this;
    return live.isActive && live.liveSince !== null && live.hasPicture;
  }

  // A picture that cannot be lent is copied by the large view, also while it jumps or begins again. It may jump at its first
  // picture already, and is kept after that.
  keepFirst() {
    const { live } = this;
    if (!this.isShown) this.hasKept = false;
    else if (!this.hasKept && live.fallback.path !== "webrtc") this.hasKept = this.preview.keep(live.picture);
  }

  // The view itself wakes up a camera that rests.
  get wantsPicture() {
    const source = sourceOf(this.camera);
    return hasPicturesForAll(source) && source.state !== "idle" && this.live.liveSince === null;
  }

  get pictureWidth() { return this.link.clientWidth; }

  /**
   * @param {Blob} blob
   * @param {number} age milliseconds
   */
  showPicture(blob, age) { this.preview.show(blob, age); }

  // The line below the picture says why there is none.
  missPicture() {}

  /** The wall is left. The picture may still be shown elsewhere for a moment, without its sound. */
  rest() {
    this.parts.snapshots.remove(this);
    this.video.muted = true;
  }

  /** What plays; null while there is nothing to show. */
  get stream() {
    const { live } = this;
    return this.isShown && !live.verdict.isStalled && this.video.srcObject instanceof MediaStream ? this.video.srcObject : null;
  }

  close() {
    this.parts.snapshots.remove(this);
    this.live.stop();
    this.preview.forget();
  }
}
