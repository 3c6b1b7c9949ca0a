import { command, post, remove } from "./api.js";
import { LiveSession } from "./live-session.js";
import { cameraTrouble } from "./liveness.js";
import { inWords, wordElements } from "./words.js";

const shapes = {
  camera: '<path d="M3 8.5A2.5 2.5 0 0 1 5.5 6h9A2.5 2.5 0 0 1 17 8.5v7a2.5 2.5 0 0 1-2.5 2.5h-9A2.5 2.5 0 0 1 3 15.5z"/><path d="m17 11 4-2.5v7L17 13"/>',
  bell: '<path d="M6 10a6 6 0 0 1 12 0c0 5 2 6 2 7H4c0-1 2-2 2-7z"/><path d="M10 20a2.2 2.2 0 0 0 4 0"/>',
  play: '<path d="M8 5.5v13l10.5-6.5z" fill="currentColor"/>',
  stop: '<rect x="6.5" y="6.5" width="11" height="11" rx="2" fill="currentColor"/>',
  microphone: '<rect x="9" y="3" width="6" height="11" rx="3"/><path d="M5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3"/>',
  sound: '<path d="M4 9.5v5h3.5L12 18V6L7.5 9.5z"/><path d="M15.5 9a4.2 4.2 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11"/>',
  muted: '<path d="M4 9.5v5h3.5L12 18V6L7.5 9.5z"/><path d="m16 9.5 5 5m0-5-5 5"/>',
  full: '<path d="M9 4H4v5M15 4h5v5M9 20H4v-5M15 20h5v-5"/>',
};

export function icon(name) {
  const holder = document.createElement("template");
  holder.innerHTML = `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes[name]}</svg>`;
  return holder.content.firstChild;
}

// Texts of the gateway and of cameras are only ever set as text, never as markup.
export function element(tag, className, ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

const sourceWords = {
  idle: "Not started", resolving: "Looking up the camera", connecting: "Connecting to the camera",
  authenticating: "Signing in to the camera", describing: "Asking what it sends", settingUp: "Setting up",
  flowing: "Online", stalled: "No pictures", backingOff: "Offline", givenUp: "Given up for now",
  stopped: "Offline",
};
const stateWords = {
  starting: "Starting", connecting: "Connecting", live: "Connected", reconnecting: "Reconnecting",
};
const eventWords = {
  DoorbellPressed: "Rang", Motion: "Motion", Person: "Person", Face: "Face", Vehicle: "Vehicle",
  Animal: "Animal", Package: "Package", Sound: "Sound",
};

// Whether the stream's event of this name is something that happened at a camera.
export function happens(event) { return event in eventWords; }

const gatewayStepWords = {
  offer: "offer read", answer: "answer ready", firstCheck: "first connectivity check", pair: "path chosen",
  dtls: "encryption agreed", firstPacket: "first packet sent", firstKeyFrame: "first key frame sent",
};

export class Tile {
  constructor(device, gateway, link) {
    this.video = element("video");
    this.video.playsInline = true;
    this.video.autoplay = true;
    this.video.disablePictureInPicture = false;
    this.poster = element("canvas");
    this.poster.hidden = true;
    this.picture = element("img", "picture");
    this.picture.hidden = true;
    this.picture.alt = "";
    this.stateChip = element("span", "chip");
    this.timerChip = element("span", "chip right");
    this.spinner = element("span", "spinner");
    this.empty = element("span", "empty");
    this.watchButton = element("button", "watch", element("span", "", icon("play"), "Watch"));
    this.watchButton.type = "button";
    this.unmuteButton = this.button("sound", "Turn sound on", () => {
      this.video.muted = false;
      this.live.needsTap = false;
      this.video.play();
      this.render();
    }, "button on-screen unmute");
    // What is wrong with the picture; it counts, so it is not read out each second.
    this.stall = element("p", "stall");
    this.stall.hidden = true;
    this.screen = element("div", "screen", this.empty, this.poster, this.picture, this.video, this.spinner, this.watchButton,
      this.unmuteButton, this.stall, element("div", "chips", this.stateChip, this.timerChip));

    this.title = element("h2");
    this.subtitle = element("p");
    this.happening = element("p", "happening");
    this.happening.hidden = true;
    this.dot = element("span", "dot");
    this.about = element("div", "about", this.dot, element("div", "", this.title, this.subtitle, this.happening));

    this.talkButton = this.button("microphone", "Talk", () => this.toggleTalk(), "button talk");
    this.muteButton = this.button("sound", "Sound", () => {
      this.video.muted = !this.video.muted;
      this.render();
    }, "button compact");
    this.fullButton = this.button("full", "Full screen", () => this.fullScreen(), "button compact");
    this.stopButton = this.button("stop", "Stop", () => this.live.stop(), "button compact");
    this.ringButton = this.button("bell", "Ring", () => this.ring(), "button compact");
    this.connectButton = this.button("camera", "Connect now", () => this.connect(), "button compact");
    this.controls = element("div", "controls", this.talkButton, this.muteButton, this.fullButton, this.stopButton,
      this.ringButton, this.connectButton);

    this.fault = element("div", "fault");
    this.fault.setAttribute("role", "alert");
    this.steps = element("ol", "steps");
    this.trouble = element("div", "trouble");
    this.details = element("details", "", element("summary", "", "Details"), this.trouble, this.steps);
    this.settings = element("div", "settings");
    this.settingsDetails = element("details", "", element("summary", "", "Settings"), this.settings);
    this.node = element("article", "card tile", this.screen, this.about, this.controls, this.fault, this.details,
      this.settingsDetails);
    this.live = new LiveSession({ id: device.id, canTalk: false }, this.video, gateway, link, () => this.render());
    this.watchButton.addEventListener("click", () => this.watch());
    this.update(device);
  }

  button(shape, label, action, className = "button") {
    const made = element("button", className, icon(shape), element("span", "", label));
    made.type = "button";
    made.title = label;
    made.addEventListener("click", action);
    return made;
  }

  update(device) {
    this.device = device;
    const camera = this.live.device;
    camera.canTalk = Boolean(device.traits.WebRtcLiveView?.supportedTalkbackType);
    const isFlowing = device.source.state === "flowing";
    const flowsAgain = isFlowing && camera.source?.state !== "flowing";
    camera.source = device.source;
    if (!isFlowing) camera.flowingSince = null;
    else camera.flowingSince ??= performance.now();
    if (flowsAgain) this.live.nudge();
    this.node.id = "camera-" + device.id;
    this.render();
  }

  // A camera that is pulled on demand is not woken up for a tile.
  get wantsPicture() {
    return !this.live.isActive && this.camera !== undefined && this.camera.pull !== "on-demand"
      && this.device.source.state === "flowing";
  }

  showPicture(blob, age) {
    const before = this.pictureURL;
    this.pictureURL = URL.createObjectURL(blob);
    this.pictureTime = performance.now() - age;
    this.empty.title = "";
    this.picture.onload = () => { if (before) URL.revokeObjectURL(before); };
    this.picture.onerror = () => this.forgetPicture();
    this.picture.src = this.pictureURL;
    this.render();
  }

  forgetPicture() {
    if (!this.pictureURL) return;
    URL.revokeObjectURL(this.pictureURL);
    this.pictureURL = null;
    this.picture.removeAttribute("src");
    this.render();
  }

  // There is no picture of the camera for now; an older one stays, with its age.
  missPicture(error) {
    this.empty.title = `No preview. ${inWords(error, "watch").message}`;
  }

  // What happened at the camera last; one that comes late from a list does not replace a newer one.
  showEvent({ event, timestamp }) {
    const time = new Date(timestamp);
    if (this.event && this.event.time > time) return;
    this.event = { name: event, time };
    this.render();
  }

  renderEvent() {
    const now = (this.device.activeDetections ?? []).map((kind) => kind[0].toUpperCase() + kind.slice(1));
    const last = this.event;
    this.happening.hidden = now.length === 0 && !last;
    this.happening.classList.toggle("now", now.length > 0);
    if (now.length > 0) {
      this.happening.textContent = "Now: " + now.map((name) => eventWords[name] ?? name).join(" · ");
    } else if (last) {
      const isToday = last.time.toDateString() === new Date().toDateString();
      const time = last.time.toLocaleString([], isToday ? { hour: "2-digit", minute: "2-digit" }
        : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
      this.happening.textContent = `Last: ${eventWords[last.name] ?? last.name}, ${time}`;
    }
  }

  // What GET /v1/cameras tells of the camera.
  describe(camera) {
    this.camera = camera;
    this.settings.replaceChildren(element("p", "", camera.source));
    const words = [camera.pull === "on-demand" ? "pulled while somebody watches" : null,
      camera.transport === "auto" ? null : "over " + camera.transport,
      camera.origin === "api" ? null : "changed in the config file"].filter(Boolean).join(" · ");
    if (words) this.settings.append(element("p", "", words));
    if (camera.origin !== "file") {
      this.settings.append(this.button("stop", "Remove this camera", async () => {
        if (!confirm(`Remove ${this.device.name}? Whoever watches it is cut off.`)) return;
        this.isUnwanted = true;
        await this.attempt("remove", () => remove("/v1/cameras/" + encodeURIComponent(camera.id)));
      }));
    }
    this.render();
  }

  watch() {
    this.message = null;
    this.video.muted = false;
    this.live.start();
  }

  async toggleTalk() {
    this.message = null;
    this.talkButton.disabled = true;
    const { talk } = this.live;
    try {
      if (talk.isTalking) await talk.stop();
      else await talk.start();
    } catch (error) {
      this.message = { ...inWords(error, "talk"), mild: true };
    }
    this.talkButton.disabled = false;
    this.render();
  }

  async ring() {
    await this.attempt("ring", () => command(this.device.id, "DoorbellPress", "press"));
  }

  // Does not wait for the next attempt, which may be an hour away.
  async connect() {
    await this.attempt("connect", () => post(`/v1/cameras/${encodeURIComponent(this.camera.id)}/reconnect`));
  }

  async attempt(name, action) {
    this.message = null;
    try {
      await action();
    } catch (error) {
      this.message = { ...inWords(error, name), mild: true };
    }
    this.render();
  }

  fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (this.screen.requestFullscreen) this.screen.requestFullscreen();
    else this.video.webkitEnterFullscreen?.();
  }

  // The last picture stays behind the button, so that the tile is not black between two looks.
  keepPicture() {
    if (!this.video.videoWidth) return;
    this.poster.width = 480;
    this.poster.height = Math.round(480 * this.video.videoHeight / this.video.videoWidth);
    try {
      this.poster.getContext("2d").drawImage(this.video, 0, 0, this.poster.width, this.poster.height);
      this.poster.hidden = false;
    } catch {
      this.poster.hidden = true;
    }
  }

  render() {
    const { device, live } = this;
    const { talk } = live;
    const active = live.isActive;
    const { isLive, isStalled } = live.verdict;
    const busy = active && !live.liveSince;
    const hasStarted = active && live.liveSince !== null && live.liveSince !== undefined;
    this.node.classList.toggle("live", active);
    this.node.classList.toggle("playing", hasStarted && live.hasPicture);
    this.node.classList.toggle("stalled", active && isStalled);
    // The picture that has stopped stays behind the next connection.
    if (isStalled && !this.wasStalled) this.keepPicture();
    this.wasStalled = isStalled;
    const hasPicture = Boolean(this.pictureURL) && !active;
    this.picture.hidden = !hasPicture;
    this.node.classList.toggle("has-poster", !this.poster.hidden || hasPicture);
    this.settingsDetails.hidden = this.camera === undefined;
    this.title.textContent = device.name;
    const tracks = device.source.tracks.map((track) => track.codec).join(" · ");
    const onDemand = this.camera?.pull === "on-demand" && ["idle", "stopped"].includes(device.source.state);
    const trouble = ["backingOff", "givenUp", "stalled"].includes(device.source.state) ? cameraTrouble(device.source) : null;
    this.subtitle.textContent = device.source.state === "flowing"
      ? ["Online", tracks].filter(Boolean).join(" · ")
      : onDemand ? "On demand: starts when somebody watches"
      : [sourceWords[device.source.state] ?? device.source.state, trouble].filter(Boolean).join(": ");
    this.renderEvent();
    this.dot.className = "dot " + (device.connectivityState === "online" ? "online"
      : device.connectivityState === "offline" ? "offline" : "waiting");

    this.watchButton.hidden = active;
    this.watchButton.lastChild.lastChild.textContent = live.state === "failed" ? "Try again" : "Watch";
    this.watchButton.setAttribute("aria-label", `Watch ${device.name}`);
    this.empty.hidden = (active && live.hasPicture) || !this.poster.hidden || hasPicture;
    const shape = active && !live.hasPicture ? "sound" : device.type === "GoogleDoorbellDeviceType" ? "bell" : "camera";
    if (this.shape !== shape) this.empty.replaceChildren(icon(shape));
    this.shape = shape;
    this.spinner.hidden = !busy;
    this.stateChip.hidden = !active && !hasPicture;
    if (active) {
      const word = isLive ? "Live" : isStalled ? (live.hasPicture ? "No picture" : "No sound")
        : live.state === "reconnecting" && !live.hasShown ? "Waiting" : stateWords[live.state] ?? "";
      const key = `${isLive} ${word}`;
      if (this.stateChip.dataset.key !== key) {
        this.stateChip.replaceChildren(element("span", "dot " + (isLive ? "online" : "waiting")), word);
        this.stateChip.dataset.key = key;
      }
    }
    this.stall.hidden = !active || !isStalled;
    this.stall.textContent = live.verdict.text ?? "";
    this.timerChip.hidden = !active || !live.session;
    this.unmuteButton.hidden = !(active && live.needsTap);

    // A publisher comes by itself.
    const waits = ["backingOff", "givenUp"].includes(device.source.state)
      && this.camera !== undefined && this.camera.source !== "whip";
    this.connectButton.hidden = !waits;
    this.controls.hidden = !active && !waits && device.traits.DoorbellPress === undefined;
    this.talkButton.hidden = !active || !live.device.canTalk;
    this.talkButton.disabled = talk.isOpening || (live.state !== "live" && !talk.isTalking);
    this.talkButton.setAttribute("aria-pressed", String(talk.isTalking));
    this.talkButton.lastChild.textContent = talk.isTalking ? "Stop talking" : talk.isOpening ? "Opening…" : "Talk";
    for (const one of [this.muteButton, this.fullButton, this.stopButton]) one.hidden = !active;
    this.muteButton.replaceChildren(icon(this.video.muted ? "muted" : "sound"),
      element("span", "", this.video.muted ? "Sound off" : "Sound"));
    this.ringButton.hidden = device.traits.DoorbellPress === undefined;
    this.renderFault();
    this.renderSteps();
    this.refresh();
  }

  // Made again only when it says something else: its details may be open, and it is read out.
  renderFault() {
    const { live } = this;
    const fault = this.message ?? live.talk.fault ?? live.fault;
    const isOver = live.state === "failed" && fault === live.fault;
    const key = fault ? JSON.stringify([fault.message, fault.details, isOver]) : "";
    this.fault.hidden = !fault;
    this.fault.classList.toggle("mild", Boolean(fault?.mild));
    if (this.faultKey === key) return;
    this.faultKey = key;
    this.fault.replaceChildren();
    if (!fault) return;
    if (isOver) this.fault.append(element("strong", "", "The live view could not start"));
    this.fault.append(...wordElements(fault));
  }

  renderSteps() {
    const { live } = this;
    const reason = this.device.source.state === "flowing" ? null : this.device.source.reason;
    this.details.hidden = live.steps.length === 0 && !reason;
    this.trouble.hidden = !reason;
    this.trouble.textContent = reason ? `The gateway says about this camera: ${reason}` : "";
    if (this.details.hidden || this.stepsKey === this.keyOfSteps()) return;
    this.stepsKey = this.keyOfSteps();
    const rows = [];
    const longest = Math.max(1, ...live.steps.map((step) => step.milliseconds));
    const add = (heading, steps, words) => {
      if (steps.length === 0) return;
      rows.push(element("li", "heading", heading));
      for (const step of steps) {
        const line = element("i");
        line.style.width = Math.min(100, 100 * step.milliseconds / longest) + "%";
        rows.push(element("li", "", element("span", "", words[step.name] ?? step.name),
          element("span", "", step.milliseconds.toFixed(step.milliseconds < 10 ? 1 : 0) + " ms"),
          element("span", "bar-line", line)));
      }
    };
    add("How the start went in this browser", live.steps, {});
    add("In the gateway, from the offer on", live.gatewaySteps, gatewayStepWords);
    if (live.notes.length > 0) rows.push(element("li", "heading", "What the gateway says about this view"));
    for (const note of live.notes) rows.push(element("li", "", note));
    this.steps.replaceChildren(...rows);
  }

  keyOfSteps() {
    const { live } = this;
    return JSON.stringify([live.steps, live.gatewaySteps, live.notes]);
  }

  // Some times a second.
  tick() {
    if (this.live.isActive) this.live.tick();
    this.refresh();
  }

  // What changes with time alone.
  refresh() {
    const { live } = this;
    if (this.pictureURL && !live.isActive) {
      const seconds = Math.max(0, Math.round((performance.now() - this.pictureTime) / 1000));
      const text = seconds < 60 ? `${seconds} s ago` : seconds < 3600
        ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3600)} h ago`;
      if (this.stateChip.textContent !== text) this.stateChip.replaceChildren(text);
      this.stateChip.dataset.key = "";
      this.picture.classList.toggle("stale", seconds > 60);
    }
    if (!live.session || !live.isActive) return;
    const left = live.secondsLeft;
    this.timerChip.classList.toggle("talking", live.talk.isTalking);
    const text = (live.talk.isTalking ? "On air · " : "") + Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
    if (this.timerChip.textContent !== text) this.timerChip.textContent = text;
    this.timerChip.title = "Time until the lease ends; it is extended by itself";
    if (live.verdict.isLive && left % 5 === 0 && left !== this.keptAt) {
      this.keptAt = left;
      this.keepPicture();
    }
  }
}
