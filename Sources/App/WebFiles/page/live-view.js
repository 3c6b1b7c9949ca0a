import { fragmentOf } from "./address.js";
import { sourceOf, traitsOf } from "./api.js";
import { Button, element, icon } from "./dom.js";
import { LiveSession } from "./live-session.js";
import { liveWord } from "./live-words.js";
import { Preview } from "./preview.js";
import { StartReport } from "./start-report.js";
import { ageText, clockText } from "./status.js";
import { inWords } from "./words.js";

/**
 * The picture of a camera: snapshots, the live view, and talking.
 * @param {{ gateway: import("./types").KnownGateway, link: import("./types").Link, rights: import("./rights.js").Rights }} page
 * @param {import("./snapshots.js").Snapshots} snapshots
 * @returns {import("./panels.js").PanelKind}
 */
export function liveViewPanel(page, snapshots) {
  return {
    name: "live-view",
    fits: (device) => traitsOf(device).WebRtcLiveView !== undefined,
    make: (host) => new LiveView(host, page, snapshots),
  };
}

class LiveView {
  /**
   * @param {import("./panels.js").Host} host
   * @param {{ gateway: import("./types").KnownGateway, link: import("./types").Link, rights: import("./rights.js").Rights }} page
   * @param {import("./snapshots.js").Snapshots} snapshots
   */
  constructor(host, { gateway, link, rights }, snapshots) {
    this.host = host;
    this.node = host.node;
    this.device = host.device.id;
    this.rights = rights;
    this.snapshots = snapshots;
    this.video = element("video");
    this.video.playsInline = true;
    this.video.autoplay = true;
    this.video.disablePictureInPicture = false;
    this.preview = new Preview(() => this.render());
    this.stateChip = element("span", "chip");
    this.timerChip = element("span", "chip right");
    this.spinner = element("span", "spinner");
    this.empty = element("span", "empty");
    this.shape = "";
    this.watchLabel = element("span", "", "Watch");
    this.watchButton = element("button", "watch", element("span", "", icon("play"), this.watchLabel));
    this.watchButton.type = "button";
    this.watchButton.addEventListener("click", () => this.watch());
    this.unmuteButton = new Button("sound", "Turn sound on", () => this.unmute(), "button on-screen unmute");
    // What is wrong with the picture; it counts, so it is not read out each second.
    this.stall = element("p", "stall");
    this.screen = element("div", "screen", this.empty, this.preview.poster, this.preview.snapshot, this.video,
      this.spinner, this.watchButton, this.unmuteButton.node, this.stall,
      element("div", "chips", this.stateChip, this.timerChip));
    this.talkButton = new Button("microphone", "Talk", () => this.toggleTalk(), "button talk");
    this.muteButton = new Button("sound", "Sound", () => this.toggleSound(), "button compact");
    this.fullButton = new Button("full", "Full screen", () => this.fullScreen(), "button compact");
    this.largeLink = element("a", "button compact", icon("large"), element("span", "", "Large view"));
    this.largeLink.href = fragmentOf({ kind: "camera", id: host.device.key ?? host.device.id });
    this.stopButton = new Button("stop", "Stop", () => this.live.stop(), "button compact");
    this.report = new StartReport();
    this.wasStalled = false;
    this.keptAt = -1;
    this.isAskingToTalk = false;
    this.live = new LiveSession({ id: this.device, canTalk: false }, this.video, gateway, link, () => this.render());

    host.place("screen", this.screen);
    for (const { node } of [this.talkButton, this.muteButton, this.fullButton, this.stopButton]) host.place("controls", node);
    host.place("controls", this.largeLink);
    host.place("below", this.report.node);
    snapshots.add(this);
  }

  update() {
    this.live.learn(this.host.device, this.rights.may("media", this.host.device));
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
    this.refresh();
  }

  fault() {
    const { live } = this;
    if (live.talk.fault) return live.talk.fault;
    if (live.fault && live.state === "failed") return { ...live.fault, heading: "The live view could not start" };
    return live.fault;
  }

  answer() { if (!this.live.isActive) this.watch(); }

  get isActive() { return this.live.isActive; }

  suspend() { if (this.isActive) this.live.stop(); }

  resume() { this.live.start(); }

  check() { this.live.check(); }

  remove() {
    this.snapshots.remove(this);
    this.suspend();
    this.preview.forget();
  }

  // A camera that is pulled on demand is not woken up for a tile.
  get wantsPicture() {
    const { camera, device } = this.host;
    if (this.live.isActive || camera === undefined || camera.pull === "on-demand") return false;
    return sourceOf(device).state === "flowing";
  }

  get pictureWidth() { return this.screen.clientWidth; }

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
    this.empty.title = `No preview. ${inWords(error, "watch").message}`;
  }

  watch() {
    this.host.say(null);
    this.video.muted = false;
    this.live.start();
  }

  unmute() {
    this.video.muted = false;
    this.live.needsTap = false;
    this.video.play();
    this.render();
  }

  toggleSound() {
    this.video.muted = !this.video.muted;
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

  fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if ("requestFullscreen" in this.screen) this.screen.requestFullscreen();
    // An iPhone shows nothing but videos on its whole screen.
    else /** @type {any} */ (this.video).webkitEnterFullscreen?.();
  }

  render() {
    const { live } = this;
    const { device } = this.host;
    const active = live.isActive;
    const { isStalled } = live.verdict;
    this.node.classList.toggle("live", active);
    this.node.classList.toggle("playing", active && live.liveSince !== null && live.hasPicture);
    this.node.classList.toggle("stalled", active && isStalled);
    // The picture that has stopped stays behind the next connection.
    if (isStalled && !this.wasStalled) this.preview.keep(this.video);
    this.wasStalled = isStalled;
    this.renderScreen();
    this.renderButtons();
    this.report.render(live, sourceOf(device).state === "flowing" ? null : sourceOf(device).reason ?? null);
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
    this.watchButton.hidden = active;
    this.watchLabel.textContent = live.state === "failed" ? "Try again" : "Watch";
    this.watchButton.setAttribute("aria-label", `Watch ${device.name}`);
    this.empty.hidden = (active && live.hasPicture) || preview.hasPoster || hasPicture;
    const shape = active && !live.hasPicture ? "sound" : device.type === "GoogleDoorbellDeviceType" ? "bell" : "camera";
    if (this.shape !== shape) this.empty.replaceChildren(icon(shape));
    this.shape = shape;
    this.spinner.hidden = !active || live.liveSince !== null;
    this.stateChip.hidden = !active && !hasPicture;
    if (active) {
      const word = liveWord(live);
      const key = `${isLive} ${word}`;
      if (this.stateChip.dataset.key !== key) {
        this.stateChip.replaceChildren(element("span", "dot " + (isLive ? "online" : "waiting")), word);
        this.stateChip.dataset.key = key;
      }
    }
    this.stall.hidden = !active || !isStalled;
    this.stall.textContent = text ?? "";
    this.timerChip.hidden = !active || !live.session;
    this.unmuteButton.node.hidden = !(active && live.needsTap);
  }

  renderButtons() {
    const { live } = this;
    const { talk } = live;
    const active = live.isActive;
    const { node } = this.talkButton;
    node.hidden = !active || !live.device.canTalk;
    node.disabled = this.isAskingToTalk || talk.isOpening || (live.state !== "live" && !talk.isTalking);
    node.setAttribute("aria-pressed", String(talk.isTalking));
    this.talkButton.label = talk.isTalking ? "Stop talking" : talk.isOpening ? "Opening…" : "Talk";
    for (const one of [this.muteButton, this.fullButton, this.stopButton]) one.node.hidden = !active;
    this.largeLink.setAttribute("aria-label", `Large view of ${this.host.device.name}`);
    this.muteButton.shape = this.video.muted ? "muted" : "sound";
    this.muteButton.label = this.video.muted ? "Sound off" : "Sound";
  }

  // What changes only with time.
  refresh() {
    const { live, preview } = this;
    if (preview.hasSnapshot && !live.isActive) {
      const seconds = preview.age;
      const text = ageText(seconds);
      if (this.stateChip.textContent !== text) this.stateChip.replaceChildren(text);
      this.stateChip.dataset.key = "";
      preview.snapshot.classList.toggle("stale", seconds > 60);
    }
    if (!live.session || !live.isActive) return;
    const left = live.secondsLeft;
    this.timerChip.classList.toggle("talking", live.talk.isTalking);
    const text = (live.talk.isTalking ? "On air · " : "") + clockText(left);
    if (this.timerChip.textContent !== text) this.timerChip.textContent = text;
    this.timerChip.title = "Time until the lease ends; it is extended automatically";
    if (live.verdict.isLive && left % 5 === 0 && left !== this.keptAt) {
      this.keptAt = left;
      preview.keep(this.video);
    }
  }
}
