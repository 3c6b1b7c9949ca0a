import { fragmentOf } from "./address.js";
import { mayHaveSound, sourceOf, traitsOf } from "./api.js";
import { CameraTools } from "./camera-tools.js";
import { openDoctor } from "./doctor-dialog.js";
import { Button, element, faultElements, icon } from "./dom.js";
import { canChangeVolume, keepSound, keptSound } from "./kept-sound.js";
import { LiveSession } from "./live-session.js";
import { liveWord, pathWord } from "./live-words.js";
import { PathReport } from "./path-report.js";
import { pictureName, pictureOf, saveFile } from "./picture-file.js";
import { drawn } from "./picture-watch.js";
import { Preview } from "./preview.js";
import { openRecordings } from "./recordings.js";
import { openShortcuts } from "./shortcut-dialog.js";
import { shortcuts } from "./shortcuts.js";
import { dotClass, happeningLine, statusLine } from "./status.js";
import { t } from "./text.js";
import { ViewFrame } from "./view-frame.js";
import { inWords } from "./words.js";
import { ZoomGestures } from "./zoom-gestures.js";

/**
 * @typedef {import("./shortcuts.js").Action} Action
 * @typedef {import("./types").Device} Device
 * @typedef {import("./types").Fault} Fault
 */

const allActions = new Set(shortcuts.map(({ action }) => action));
// Milliseconds after which a start takes unusually long.
const longStart = 5000;
// Milliseconds for which the view shows somebody else's picture at most.
const longestLoan = 10000;
// What a key adds to the volume, and moves the picture by, as a part of the frame.
const step = 0.1;

/** One camera, as large as the page. Its controls are around the picture, never on it. */
export class CameraView {
  /**
   * @param {string} named its name in the config or its identifier
   * @param {import("./views.js").ViewParts} parts
   */
  constructor(named, parts) {
    this.named = named;
    this.parts = parts;
    /** @type {Device | undefined} */
    this.camera = undefined;
    this.device = "";
    this.isAsked = false;
    this.isAskingToTalk = false;
    this.wasStalled = false;
    /** @type {Fault | null} */
    this.message = null;
    this.faultKey = "";
    this.video = element("video");
    this.video.playsInline = true;
    this.hasVolume = canChangeVolume(this.video);
    const { volume, isMuted } = keptSound();
    this.video.volume = volume;
    this.video.muted = isMuted;
    /**
     * The cell of the wall whose picture is shown until this view has its own.
     * @type {import("./wall-cell.js").WallCell | null}
     */
    this.lender = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.loan = undefined;
    this.borrowed = element("video", "borrowed");
    this.borrowed.playsInline = true;
    this.borrowed.muted = true;
    /**
     * Fulfilled when the lent picture has been drawn. Making a connection keeps the page from drawing for tens of milliseconds.
     * @type {Promise<void> | undefined}
     */
    this.loanIsDrawn = undefined;
    this.preview = new Preview(() => this.render());
    this.spinner = element("span", "spinner");
    this.picture = element("div", "large-picture", this.preview.poster, this.preview.snapshot, this.video);
    this.tryButton = new Button("play", t("cameraView.tryAgain"), () => this.start(), "button");
    this.whyButton = new Button("help", t("cameraView.whyCantISeeIt"), () => this.why(), "button");
    this.fault = element("div", "fault");
    this.fault.setAttribute("role", "alert");
    this.frame = new ViewFrame("one-camera", t("cameraView.back"), parts.leave);
    this.frame.buttons.append(new Button("back", t("cameraView.theCameraBefore"), () => this.go(-1), "button plain icon").node,
      new Button("forward", t("cameraView.theNextCamera"), () => this.go(1), "button plain icon").node);
    this.silence = element("span", "empty", icon("sound"));
    this.frame.stage.append(this.silence, this.picture, this.spinner);
    this.tools = new CameraTools((action) => this.act(action), {
      setVolume: (level) => this.setVolume(level),
      setQuality: (hint) => this.attempt(() => this.live.quality.change(hint)),
      openRecordings: () => { if (this.camera) openRecordings(this.device, this.camera.name, () => {}); },
    });
    // The line at the top says when the connection does not carry everything, also while nobody reads the details.
    this.path = new PathReport(10000);
    this.details = element("details", "view-details", element("summary", "", t("startReport.details")), this.path.node);
    this.frame.tools.append(this.fault, this.tryButton.node, this.whyButton.node, ...this.tools.nodes, this.details);
    this.zoom = new ZoomGestures(this.frame.stage, this.picture, () => this.render());
    const { gateway, link } = parts.page;
    this.live = new LiveSession({ id: "", canTalk: false }, this.video, gateway, link, () => this.render(),
      { persists: true });
    this.live.quality.wanted = "hd";
    this.video.after(this.live.fallback.image);
    parts.snapshots.add(this);
  }

  get node() { return this.frame.node; }

  /**
   * Shows the picture of a cell until this view has its own, and then ends the cell's. If the cell has none that two videos can
   * play, such as one over a WebSocket, its last picture is shown, dimmed.
   * @param {import("./wall-cell.js").WallCell} cell
   * @returns {boolean} whether it shows the cell's picture
   */
  borrow(cell) {
    const { stream } = cell;
    if (!this.preview.keep(cell.live.picture)) this.preview.copy(cell.preview);
    if (!stream) return false;
    this.lender = cell;
    this.borrowed.srcObject = stream;
    this.video.before(this.borrowed);
    this.borrowed.play().catch(() => {});
    this.loanIsDrawn = drawn(this.borrowed);
    this.loan = setTimeout(() => this.giveBack(), longestLoan);
    return true;
  }

  giveBack() {
    if (!this.lender) return;
    clearTimeout(this.loan);
    this.borrowed.remove();
    this.borrowed.srcObject = null;
    this.lender.close();
    this.lender = null;
    this.render();
  }

  get title() { return this.camera?.name ?? t("cameraView.camera"); }

  get actions() { return allActions; }

  get isInUse() { return this.live.isInUse || this.isAskingToTalk || this.zoom.isZoomed; }

  update() {
    const cameras = this.parts.cameras();
    const found = cameras.find(({ id, key }) => id === this.named || key === this.named);
    if (found) {
      this.camera = found;
      this.device = found.id;
      this.live.device.id = found.id;
      this.live.learn(found, this.parts.rights.may("media", found));
      // A camera that was removed and has come back is watched again.
      if (!this.isAsked) this.start();
    } else {
      this.isAsked = false;
      this.giveBack();
      this.live.stop();
      this.camera = undefined;
    }
    for (const one of this.frame.buttons.querySelectorAll("button")) one.hidden = cameras.length < 2;
    this.render();
  }

  /**
   * Takes the focus, which would fall to the page: at the button that had it in the view before, or at the name, which
   * is then read out.
   * @param {string} title of that button, "" for none
   */
  focus(title) {
    const again = [...this.node.querySelectorAll("button")]
      .find((one) => one.title === title && !one.hidden && !one.disabled);
    ((title && again) || this.frame.heading).focus({ preventScroll: true });
  }

  start() {
    this.isAsked = true;
    this.message = null;
    this.live.start({ after: this.loanIsDrawn });
  }

  /**
   * @param {string} name
   * @param {any} data
   */
  event(name, data) { this.live.event(name, data); }

  /** @param {boolean} isWholeSecond */
  tick(isWholeSecond) {
    if (this.live.isActive) this.live.tick();
    if (!isWholeSecond) return;
    this.path.tick(this.live);
    this.render();
  }

  check() { this.live.check(); }

  /**
   * @param {Action} action
   * @param {boolean} isHeld whether the key is held, which goes through no cameras
   */
  act(action, isHeld = false) {
    const { zoom } = this;
    const arrows = { louder: [0, step], quieter: [0, -step], previous: [step, 0], next: [-step, 0] };
    if (zoom.isZoomed && Object.hasOwn(arrows, action)) {
      const [x, y] = arrows[/** @type {keyof typeof arrows} */ (action)];
      return zoom.move(x, y);
    }
    switch (action) {
    case "talk": return this.talk();
    case "mute": return this.mute(!this.video.muted);
    case "louder": return this.setVolume(this.video.volume + step);
    case "quieter": return this.setVolume(this.video.volume - step);
    case "closer": return zoom.by(1.5);
    case "wider": return zoom.by(1 / 1.5);
    case "whole": return zoom.whole();
    case "save": return this.attempt(() => this.save());
    case "quality": return this.changeQuality();
    case "float": return this.attempt(() => this.float());
    case "full": return this.full();
    case "previous": return isHeld ? undefined : this.go(-1);
    case "next": return isHeld ? undefined : this.go(1);
    case "help": return openShortcuts(false);
    case "back": return this.back();
    default: return undefined;
    }
  }

  full() {
    this.frame.fullScreen();
    this.render();
  }

  back() {
    if (this.zoom.isZoomed) return this.zoom.whole();
    if (this.frame.fillsWindow) return this.full();
    return this.parts.leave();
  }

  /** Whether the button and the key for talking do something now. */
  get mayTalk() {
    const { canTalk, state, talk } = this.live;
    return canTalk && !this.isAskingToTalk && !talk.isOpening && (state === "live" || talk.isTalking);
  }

  async talk() {
    const { talk } = this.live;
    if (!this.mayTalk) return;
    this.isAskingToTalk = true;
    await this.attempt(() => (talk.isTalking ? talk.stop() : talk.start()), "talk");
    this.isAskingToTalk = false;
    this.render();
  }

  /** @param {boolean} isMuted */
  mute(isMuted) {
    this.video.muted = isMuted;
    this.live.needsTap = false;
    this.video.play().catch(() => {});
    keepSound({ volume: this.video.volume, isMuted });
    this.render();
  }

  /** @param {number} volume from 0 to 1 */
  setVolume(volume) {
    if (!this.hasVolume) return;
    this.video.volume = Math.min(1, Math.max(0, volume));
    this.mute(false);
  }

  changeQuality() {
    if (this.tools.quality.hidden) return;
    this.attempt(() => this.live.quality.change(this.live.quality.wanted === "sd" ? "hd" : "sd"));
  }

  async save() {
    const blob = await pictureOf(this.live.picture) ?? this.preview.blob;
    if (blob && this.camera) saveFile(blob, pictureName(this.camera.name, new Date()));
  }

  async float() {
    if (document.pictureInPictureElement) await document.exitPictureInPicture();
    else await this.video.requestPictureInPicture();
  }

  /** @param {number} by */
  go(by) {
    const cameras = this.parts.cameras();
    const place = cameras.findIndex(({ id }) => id === this.device);
    const next = cameras[(place + by + cameras.length) % cameras.length];
    if (next && next.id !== this.device) {
      // The way back leads to where the first of them was opened.
      location.replace(fragmentOf({ kind: "camera", id: next.key ?? next.id }));
    }
  }

  /**
   * Runs what the user asked for, and says what went wrong.
   * @param {() => Promise<unknown>} run
   * @param {import("./words.js").Action} action
   */
  async attempt(run, action = "watch") {
    this.message = null;
    try {
      await run();
    } catch (error) {
      this.message = { ...inWords(error, action), mild: true };
    }
    this.render();
  }

  render() {
    const { live, camera, preview, tools } = this;
    const { isLive, isStalled, text } = live.verdict;
    const isShown = live.isActive && live.liveSince !== null;
    if (isShown || live.state === "failed") this.giveBack();
    const isLent = this.lender !== null;
    this.node.classList.toggle("borrowing", isLent);
    this.frame.title = this.title;
    this.node.classList.toggle("playing", isShown && live.hasPicture);
    this.node.classList.toggle("stalled", live.isActive && isStalled);
    if (isStalled && !this.wasStalled) preview.keep(live.picture);
    this.wasStalled = isStalled;
    preview.snapshot.hidden = isShown || isLent || !preview.hasSnapshot;
    // Nothing lies on a picture.
    this.spinner.hidden = !live.isActive || isShown || isLent || preview.hasSnapshot || preview.hasPoster;
    this.silence.hidden = !(isShown && !live.hasPicture);
    const words = !camera ? t("cameraView.thisCameraIsNotThere") : isStalled ? text ?? ""
      : isLive ? [
          t("cameraView.live"), pathWord(live.path), live.stream, happeningLine(camera.activeDetections ?? [], null, new Date()),
        ]
        .filter(Boolean).join(" · ")
      : live.isActive ? liveWord(live) : statusLine(camera);
    this.frame.say(isLive ? "online" : live.isActive ? "waiting" : dotClass(camera?.connectivityState ?? "offline"), words);
    this.renderFault(this.message ?? live.talk.fault ?? live.fault);
    this.tryButton.node.hidden = live.isActive || !camera;
    const waits = live.isActive && !isShown && performance.now() - live.begin > longStart;
    this.whyButton.node.hidden = !camera || !(isStalled || waits || live.state === "failed");
    const { talk } = live;
    tools.talk.node.hidden = !live.canTalk;
    tools.talk.node.disabled = !this.mayTalk;
    tools.talk.node.setAttribute("aria-pressed", String(talk.isTalking));
    tools.talk.label = talk.isTalking ? t("cameraView.stopTalking") : talk.isOpening ? t("cameraView.opening") : t("cameraView.talk");
    const tracks = camera ? sourceOf(camera).tracks : [];
    tools.sound.node.hidden = !(camera && mayHaveSound(sourceOf(camera))) || live.fallback.isImage;
    tools.volume.hidden = tools.sound.node.hidden || !this.hasVolume;
    tools.renderSound(this.video);
    // A camera with one stream has nothing to choose.
    tools.quality.hidden = tracks.filter(({ kind }) => kind === "video").length < 2;
    tools.quality.value = live.quality.wanted === "sd" ? "sd" : "hd";
    tools.renderZoom(this.zoom.zoom.scale);
    tools.recordings.node.hidden = !camera || traitsOf(camera).PushAvStreamTransport === undefined
      || !this.parts.rights.may("media", camera);
    tools.save.node.disabled = !isShown && !preview.hasSnapshot;
    tools.float.node.disabled = !isShown || live.fallback.isImage;
    tools.full.node.setAttribute("aria-pressed", String(this.frame.isFull));
    this.details.hidden = !live.isActive;
    this.path.render(live);
  }

  why() {
    const { camera, live } = this;
    if (!camera) return;
    openDoctor({ name: camera.name, device: camera, isAdmin: this.parts.rights.may("admin", {}),
      noPath: live.status === "NO_PATH" ? live.fault?.message ?? null : null });
  }

  /** @param {Fault | null} fault */
  renderFault(fault) {
    const key = JSON.stringify(fault);
    this.fault.hidden = !fault;
    this.fault.classList.toggle("mild", Boolean(fault?.mild));
    if (this.faultKey === key) return;
    this.faultKey = key;
    this.fault.replaceChildren(...fault ? faultElements(fault) : []);
  }

  // A camera that is pulled on demand is being pulled now, so a picture of it costs nothing more.
  get wantsPicture() {
    return this.camera !== undefined && ["flowing", "unknown"].includes(sourceOf(this.camera).state)
      && this.live.liveSince === null;
  }

  get pictureWidth() { return this.frame.stage.clientWidth; }

  /**
   * @param {Blob} blob
   * @param {number} age milliseconds
   */
  showPicture(blob, age) { this.preview.show(blob, age); }

  // The line at the top says why there is no picture.
  missPicture() {}

  close() {
    this.parts.snapshots.remove(this);
    if (document.pictureInPictureElement === this.video) document.exitPictureInPicture().catch(() => {});
    this.giveBack();
    this.live.stop();
    this.preview.forget();
  }
}
