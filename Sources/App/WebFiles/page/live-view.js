import { fragmentOf } from "./address.js";
import { mayHaveSound, sourceOf, traitsOf } from "./api.js";
import { openDoctor } from "./doctor-dialog.js";
import { Button, element, icon } from "./dom.js";
import { LiveSession } from "./live-session.js";
import { fallbackWord, liveWord } from "./live-words.js";
import { Preview } from "./preview.js";
import { StartReport } from "./start-report.js";
import { ageText } from "./status.js";
import { t } from "./text.js";
import { fullScreen, hasFullScreen } from "./view-frame.js";
import { hasPicturesForAll } from "./wall-layout.js";
import { inWords } from "./words.js";

/**
 * What the pictures of all tiles share.
 * @typedef {object} LiveViewParts
 * @property {import("./types").KnownGateway} gateway
 * @property {import("./types").Link} link
 * @property {import("./rights.js").Rights} rights
 * @property {import("./snapshots.js").Snapshots} snapshots
 * @property {import("./one-sound.js").OneSound} sound
 */

/**
 * What is known of a view that has ended and goes on later: whether it has shown something, and whether somebody wanted to hear it.
 * @typedef {{ hasShown: boolean, isHeard: boolean }} Kept
 */

/**
 * The picture of a camera: snapshots, the live view, and talking. Nothing lies on the picture: its state is beside the name,
 * and its buttons are below.
 * @param {LiveViewParts} parts
 * @returns {import("./panels.js").PanelKind}
 */
export function liveViewPanel(parts) {
  return {
    name: "live-view",
    fits: (device) => traitsOf(device).WebRtcLiveView !== undefined,
    make: (host) => new LiveView(host, parts),
  };
}

class LiveView {
  /**
   * @param {import("./panels.js").Host} host
   * @param {LiveViewParts} parts
   */
  constructor(host, parts) {
    this.host = host;
    this.node = host.node;
    this.device = host.device.id;
    this.parts = parts;
    this.video = element("video");
    this.video.playsInline = true;
    this.video.autoplay = true;
    this.video.disablePictureInPicture = false;
    this.preview = new Preview(() => this.render());
    this.empty = element("span", "empty");
    this.shape = "";
    // The whole picture is a button, for fingers; the one with words is below it.
    this.press = element("button", "watch");
    this.press.type = "button";
    this.press.tabIndex = -1;
    this.press.setAttribute("aria-hidden", "true");
    this.press.addEventListener("click", () => (this.live.isActive ? this.enlarge() : this.watch()));
    this.screen = element("div", "screen", this.empty, this.preview.poster, this.preview.snapshot, this.video, this.press);
    this.chip = element("span", "chip");
    // What is wrong with the picture; it counts, so it is not read out each second.
    this.stall = element("p", "stall");
    this.watchButton = new Button("play", t("liveView.watch"), () => this.watch(), "button primary wide");
    this.unmuteButton = new Button("sound", t("liveView.turnSoundOn"), () => this.unmute(), "button primary");
    this.talkButton = new Button("microphone", t("liveView.talk"), () => this.toggleTalk(), "button talk");
    this.muteButton = new Button("sound", t("liveView.sound"), () => this.toggleSound(), "button compact");
    this.fullButton = new Button("full", t("liveView.fullScreen"), () => this.fullScreen(), "button compact quiet");
    this.largeLink = element("a", "button compact quiet", icon("large"), element("span", "", t("liveView.largeView")));
    this.largeLink.href = fragmentOf({ kind: "camera", id: host.device.key ?? host.device.id });
    this.stopButton = new Button("stop", t("liveView.stop"), () => this.live.stop(), "button compact");
    this.whyButton = new Button("help", t("liveView.why"), () => this.why(), "button compact");
    this.report = new StartReport();
    this.wasStalled = false;
    this.keptAt = -Infinity;
    this.isAskingToTalk = false;
    this.live = new LiveSession({ id: this.device, canTalk: false }, this.video, parts.gateway, parts.link,
      () => this.render());

    this.video.after(this.live.fallback.image);
    host.place("screen", this.screen);
    host.place("about", this.stall);
    host.place("main", this.chip);
    for (const { node } of [this.watchButton, this.unmuteButton, this.talkButton, this.muteButton, this.stopButton,
      this.fullButton]) host.place("controls", node);
    host.place("controls", this.largeLink, this.whyButton.node);
    host.place("below", this.report.node);
    parts.snapshots.add(this);
  }

  update() {
    this.live.learn(this.host.device, this.parts.rights.may("media", this.host.device));
    this.render();
  }

  /**
   * @param {string} name
   * @param {any} data
   */
  event(name, data) { this.live.event(name, data); }

  /** @param {boolean} isWholeSecond */
  tick(isWholeSecond) {
    if (this.live.isActive) this.live.tick();
    else if (!isWholeSecond) return;
    if (isWholeSecond && this.live.isActive) this.report.tick(this.live);
    this.refresh();
  }

  fault() {
    const { live } = this;
    if (live.talk.fault) return live.talk.fault;
    if (live.fault && live.state === "failed") return { ...live.fault, heading: t("liveView.couldNotStart") };
    return live.fault;
  }

  answer() { if (!this.live.isActive) this.watch(); }

  get isActive() { return this.live.isActive; }

  get isHeard() { return this.isActive && !this.video.muted; }

  /** @returns {Kept | undefined} */
  suspend() {
    if (!this.isActive) return undefined;
    // A browser that has refused the sound may permit it now.
    const kept = { hasShown: this.live.hasShown, isHeard: this.isHeard || this.live.needsTap };
    this.live.stop();
    return kept;
  }

  /**
   * Nobody may be there to press a button.
   * @param {Kept | undefined} kept
   */
  resume(kept) {
    if (!kept) return;
    // Somebody may hear another camera by now.
    this.hear(kept.isHeard && this.parts.sound.isFree);
    this.live.start({ hasShown: kept.hasShown });
  }

  check() { this.live.check(); }

  remove() {
    this.parts.snapshots.remove(this);
    this.suspend();
    this.parts.sound.leave(this);
    this.preview.forget();
  }

  get wantsPicture() { return !this.live.isActive && hasPicturesForAll(sourceOf(this.host.device)); }

  get pictureWidth() { return this.screen.clientWidth; }

  // Each picture wakes it up.
  get isResting() { return sourceOf(this.host.device).isOnDemand === true; }

  /**
   * @param {Blob} blob
   * @param {number} age milliseconds
   */
  showPicture(blob, age) {
    this.empty.title = "";
    this.preview.show(blob, age);
  }

  /**
   * Says that there is no new picture of the camera. An older one stays, with its age.
   * @param {unknown} error
   */
  missPicture(error) {
    this.empty.title = t("live.noPreview", { reason: inWords(error, "watch").message });
  }

  watch() {
    this.host.say(null);
    this.hear(true);
    this.live.start();
  }

  unmute() {
    this.hear(true);
    // The browser may still refuse the sound, and a view that restarts ends its play.
    this.live.play();
    this.render();
  }

  toggleSound() {
    this.hear(this.video.muted);
    this.render();
  }

  /** @param {boolean} isHeard */
  hear(isHeard) {
    this.video.muted = !isHeard;
    if (isHeard) this.parts.sound.take(this);
    else this.parts.sound.leave(this);
  }

  // Another camera is heard now.
  silence() {
    this.video.muted = true;
    this.render();
  }

  async toggleTalk() {
    this.isAskingToTalk = true;
    this.render();
    const { talk } = this.live;
    await this.host.attempt("talk", () => (talk.isTalking ? talk.stop() : talk.start()));
    this.isAskingToTalk = false;
    this.render();
  }

  why() {
    const { live, host: { device } } = this;
    openDoctor({ name: device.name, device, isAdmin: this.parts.rights.may("admin", {}),
      noPath: live.status === "NO_PATH" ? live.fault?.message ?? null : null });
  }

  enlarge() { location.hash = this.largeLink.hash; }

  // The large view has every control on the whole screen, too.
  fullScreen() {
    fullScreen();
    this.enlarge();
  }

  render() {
    const { live } = this;
    const active = live.isActive;
    const { isStalled } = live.verdict;
    this.node.classList.toggle("live", active);
    this.node.classList.toggle("playing", active && live.liveSince !== null && live.hasPicture);
    this.node.classList.toggle("stalled", active && isStalled);
    // The picture that has stopped stays behind the next connection.
    if (isStalled && !this.wasStalled) this.preview.keep(live.picture);
    this.wasStalled = isStalled;
    this.renderScreen();
    this.renderButtons();
    const source = sourceOf(this.host.device);
    this.report.render(live, source.state === "flowing" ? null : source.reason ?? null);
    this.refresh();
    this.host.changed();
  }

  renderScreen() {
    const { live, preview } = this;
    const { device } = this.host;
    const active = live.isActive;
    const { isLive, isStalled, text } = live.verdict;
    const hasPicture = preview.hasSnapshot && !active;
    preview.snapshot.hidden = !hasPicture;
    this.node.classList.toggle("has-poster", preview.hasPoster || hasPicture);
    this.press.title = active ? t("liveView.largeViewOfName", { name: device.name }) : t("liveView.watchName", { name: device.name });
    this.empty.hidden = (active && live.hasPicture) || preview.hasPoster || hasPicture;
    const shape = active && !live.hasPicture ? "sound" : device.type === "GoogleDoorbellDeviceType" ? "bell" : "camera";
    if (this.shape !== shape) this.empty.replaceChildren(icon(shape));
    this.shape = shape;
    this.chip.hidden = !active && !hasPicture;
    this.chip.classList.toggle("talking", live.talk.isTalking);
    if (active) {
      const path = isLive ? fallbackWord(live.path) : "";
      const word = live.talk.isTalking ? t("liveView.onAir") : [liveWord(live), path].filter(Boolean).join(" · ");
      const key = `${isLive} ${word}`;
      if (this.chip.dataset.key !== key) {
        this.chip.replaceChildren(element("span", "dot " + (isLive ? "online" : "waiting")), word);
        this.chip.dataset.key = key;
      }
    }
    this.stall.hidden = !active || !isStalled;
    if (this.stall.textContent !== (text ?? "")) this.stall.textContent = text ?? "";
  }

  renderButtons() {
    const { live } = this;
    const { talk } = live;
    const active = live.isActive;
    const { name } = this.host.device;
    this.watchButton.node.hidden = active;
    this.watchButton.label = live.state === "failed" ? t("liveView.tryAgain") : t("liveView.watch");
    this.watchButton.node.setAttribute("aria-label", live.state === "failed" ? t("liveView.tryAgainName", { name }) : t("liveView.watchName", { name }));
    this.unmuteButton.node.hidden = !(active && live.needsTap);
    const { node } = this.talkButton;
    node.hidden = !active || !live.canTalk;
    node.disabled = this.isAskingToTalk || talk.isOpening || (live.state !== "live" && !talk.isTalking);
    node.setAttribute("aria-pressed", String(talk.isTalking));
    this.talkButton.label = talk.isTalking ? t("liveView.stopTalking") : talk.isOpening ? t("liveView.opening") : t("liveView.talk");
    for (const one of [this.muteButton, this.fullButton, this.stopButton]) one.node.hidden = !active;
    if (!mayHaveSound(sourceOf(this.host.device)) || live.fallback.isImage) this.muteButton.node.hidden = true;
    // The large view has another way for browsers without it.
    if (!hasFullScreen()) this.fullButton.node.hidden = true;
    this.largeLink.setAttribute("aria-label", t("liveView.largeViewOfName", { name }));
    this.largeLink.title = t("liveView.largeView");
    this.whyButton.node.hidden = !(live.state === "failed" || live.verdict.isStalled
      || (!active && ["backingOff", "givenUp", "stalled"].includes(sourceOf(this.host.device).state)));
    this.whyButton.node.setAttribute("aria-label", t("liveView.whyCantISeeName", { name }));
    this.muteButton.shape = this.video.muted ? "muted" : "sound";
    this.muteButton.label = this.video.muted ? t("liveView.soundOff") : t("liveView.sound");
  }

  // What changes only with time.
  refresh() {
    const { live, preview } = this;
    if (preview.hasSnapshot && !live.isActive) {
      const seconds = preview.age;
      const text = ageText(seconds);
      if (this.chip.textContent !== text) this.chip.replaceChildren(text);
      this.chip.dataset.key = "";
      preview.snapshot.classList.toggle("stale", seconds > 60);
    }
    const now = performance.now();
    if (live.verdict.isLive && now - this.keptAt > 5000) {
      this.keptAt = now;
      preview.keep(live.picture);
    }
  }
}
