import { answers, command, get, PageError } from "./api.js";
import { attemptAfter, isStuck, isWorthRetrying, judge, pauseBefore, Pulse } from "./liveness.js";
import { Talk } from "./talk.js";
import { inWords } from "./words.js";

const trait = "WebRtcLiveView";

// States: starting, connecting, live (its first picture was seen), reconnecting, stopped, failed.
export class LiveSession {
  // link: what the page knows of the gateway, { isUp }.
  constructor(device, video, gateway, link, onChange) {
    this.device = device;
    this.video = video;
    this.gateway = gateway;
    this.link = link;
    this.onChange = onChange;
    this.state = "stopped";
    this.fault = null;
    this.steps = [];
    this.gatewaySteps = [];
    this.notes = [];
    this.attempt = 0;
    this.generation = 0;
    this.verdict = { isLive: false, isStalled: false, text: null, cause: null };
    this.talk = new Talk(this);
  }

  get isActive() {
    return !["stopped", "failed"].includes(this.state);
  }

  change(state, fault = this.fault) {
    this.state = state;
    this.fault = fault;
    this.weigh();
    this.onChange();
  }

  step(name) {
    if (this.steps.some((step) => step.name === name)) return;
    this.steps.push({ name, milliseconds: performance.now() - this.begin });
    this.onChange();
  }

  hasStep(name) { return this.steps.some((step) => step.name === name); }

  // Somebody wants to see the camera, until stop() or until it is hopeless.
  async start() {
    if (this.isActive) return;
    this.attempt = 0;
    this.fault = null;
    this.hasShown = false;
    this.pulse = new Pulse();
    this.answers = null;
    await this.connect("starting");
  }

  async connect(state) {
    const generation = ++this.generation;
    this.steps = [];
    this.gatewaySteps = [];
    this.notes = [];
    this.begin = performance.now();
    this.liveSince = null;
    this.counts = null;
    this.canDecode = true;
    this.hasPicture = true;
    this.change(state);
    let pc;
    try {
      if (!("RTCPeerConnection" in window)) {
        throw new PageError("NO_WEBRTC", "This browser has no WebRTC, or it is switched off.");
      }
      // A gateway that does not run takes no part in this. One that hangs would keep the request for long.
      if (state === "reconnecting" && !this.link.isUp && !(await answers())) {
        throw new PageError("UNREACHABLE", "The gateway does not answer.");
      }
      if (generation !== this.generation) return;
      pc = new RTCPeerConnection({ iceServers: this.gateway.iceServers ?? [], bundlePolicy: "max-bundle" });
      this.pc = pc;
      // Sound goes both ways from the start, so that talking needs no second negotiation and no permission yet.
      this.audio = pc.addTransceiver("audio", { direction: this.device.canTalk ? "sendrecv" : "recvonly" });
      const video = pc.addTransceiver("video", { direction: "recvonly" });
      const stream = new MediaStream();
      pc.addEventListener("track", ({ track, receiver }) => {
        if (generation !== this.generation) return;
        // Live means now: the browser should hold back as little as the network allows.
        if ("playoutDelayHint" in receiver) receiver.playoutDelayHint = 0;
        stream.addTrack(track);
        this.video.srcObject = stream;
        this.play();
      });
      pc.addEventListener("iceconnectionstatechange", () => {
        if (generation !== this.generation) return;
        if (["connected", "completed"].includes(pc.iceConnectionState)) this.step("path found");
        this.change(this.state);
      });
      pc.addEventListener("connectionstatechange", () => this.connectionChanged(pc, generation));
      await pc.setLocalDescription();
      if (generation !== this.generation) return;
      this.step("offer made");
      const answer = await command(this.device.id, trait, "startLiveView", { offerSdp: pc.localDescription.sdp });
      if (generation !== this.generation) return void this.release(answer.mediaSessionId);
      this.session = answer.mediaSessionId;
      this.answer = answer.answerSdp;
      this.notes = answer.notes ?? [];
      this.step("answer received");
      this.change(state === "starting" ? "connecting" : state);
      this.armLease(answer.liveSessionDurationSeconds);
      await pc.setRemoteDescription({ type: "answer", sdp: answer.answerSdp });
      if (generation !== this.generation) return;
      this.hasPicture = ["recvonly", "sendrecv"].includes(video.currentDirection);
      this.watchPictures(generation);
    } catch (error) {
      if (generation === this.generation) this.failed(error);
      else pc?.close();
    }
  }

  async play() {
    this.needsTap = false;
    try {
      await this.video.play();
    } catch (error) {
      if (error.name !== "NotAllowedError") return;
      // Some browsers let nothing sound before a tap: pictures first, then a button.
      this.video.muted = true;
      this.needsTap = true;
      await this.video.play().catch(() => {});
    }
    this.onChange();
  }

  // Each picture that is shown calls back, where the browser can do that and somebody looks. Everything else is
  // counted by look().
  watchPictures(generation) {
    if (this.hasPicture && this.video.requestVideoFrameCallback) {
      const seen = () => {
        if (generation !== this.generation) return;
        this.callback = this.video.requestVideoFrameCallback(seen);
        this.beat(true);
      };
      this.callback = this.video.requestVideoFrameCallback(seen);
    }
    this.silenceTimer = setTimeout(() => this.explainSilence(generation), 8000);
  }

  beat(isEvery) {
    const now = performance.now();
    this.pulse.beat(now, isEvery);
    if (this.state === "live" || !this.session) return;
    clearTimeout(this.silenceTimer);
    this.liveSince = now;
    this.hasShown = true;
    this.step(this.hasPicture ? "first picture" : "first sound");
    this.change("live", null);
    this.readGatewaySteps();
  }

  // Pictures that nobody can see are not shown, and call nobody back.
  get isInView() {
    if (document.visibilityState !== "visible") return false;
    const { top, bottom, left, right } = this.video.getBoundingClientRect();
    return bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  }

  // Called some times a second while the view is active.
  tick() {
    const isInView = this.isInView;
    // What came while nobody could see it is counted before anything is said about it.
    if (isInView && this.wasOutOfView) this.isCatchingUp = true;
    this.wasOutOfView = !isInView;
    const isCalledBack = isInView && this.hasPicture && this.video.requestVideoFrameCallback;
    if (!this.pc || !this.session) this.isCatchingUp = false;
    else if (!isCalledBack || this.isCatchingUp) this.look(isInView);
    else this.counts = null;
    this.weigh();
    if (this.verdict.isStalled) this.askGateway();
    else this.answers = null;
    this.restartIfStuck();
  }

  // Counts by the connection's statistics.
  async look(isInView) {
    if (this.isLooking) return;
    this.isLooking = true;
    const generation = this.generation;
    let frames = 0, packets = 0;
    try {
      (await this.pc.getStats()).forEach((entry) => {
        if (entry.type !== "inbound-rtp") return;
        if (this.hasPicture ? entry.kind !== "video" : entry.kind !== "audio") return;
        frames += entry.framesDecoded ?? 0;
        packets += entry.packetsReceived ?? 0;
      });
    } catch {
      // The connection was closed in between.
    }
    this.isLooking = false;
    if (generation !== this.generation) return;
    const before = this.counts;
    this.counts = { frames, packets };
    this.isCatchingUp = false;
    if (this.state !== "live") {
      if (this.hasPicture ? frames > 0 : packets > 0) this.beat(false);
    } else if (before) {
      // Some browsers decode nothing for a page that is hidden: there, packets count.
      const isDecoded = this.hasPicture && isInView;
      if (isDecoded ? frames > before.frames : packets > before.packets) this.beat(false);
    }
    this.weigh();
  }

  weigh() {
    const last = this.pulse?.last ?? null;
    const isUnknown = this.isActive && (document.visibilityState !== "visible" || this.isCatchingUp);
    if (isUnknown && this.state === "live" && this.verdict.isLive) return;
    const verdict = judge({
      state: this.state, silence: last === null ? null : performance.now() - last,
      usualGap: this.pulse?.usualGap ?? 0, hasPicture: this.hasPicture, isOnline: navigator.onLine !== false,
      hasLink: this.link.isUp, answers: this.answers, ice: this.pc?.iceConnectionState, source: this.device.source,
    });
    const before = this.verdict;
    this.verdict = verdict;
    if (before.isLive !== verdict.isLive || before.isStalled !== verdict.isStalled || before.text !== verdict.text) {
      this.onChange();
    }
  }

  // Whether it is the gateway that is gone: asked while nothing comes, every five seconds.
  async askGateway() {
    const now = performance.now();
    if (this.isAsking || now - (this.askedAt ?? -Infinity) < 5000) return;
    this.isAsking = true;
    this.askedAt = now;
    const result = await answers();
    this.isAsking = false;
    this.answers = result;
    this.weigh();
  }

  restartIfStuck() {
    if (!this.session || this.talk.isTalking || document.visibilityState !== "visible") return;
    const now = performance.now();
    const stuck = isStuck({
      silence: this.state === "live" ? now - this.pulse.last : null, sinceStart: now - this.begin,
      flowingFor: this.device.flowingSince ? now - this.device.flowingSince : 0, hasLink: this.link.isUp,
      answers: this.answers, canDecode: this.canDecode,
    });
    if (stuck) this.restart();
  }

  connectionChanged(pc, generation) {
    if (generation !== this.generation) return;
    const state = pc.connectionState;
    if (state === "connected") {
      this.step("encryption agreed");
      clearTimeout(this.lostTimer);
    } else if (state === "disconnected") {
      clearTimeout(this.lostTimer);
      this.lostTimer = setTimeout(() => { if (generation === this.generation) this.restart(); }, 5000);
    } else if (state === "failed") {
      if (this.hasStep("path found")) this.restart();
      else this.failed(this.noPath());
    }
    this.weigh();
  }

  noPath() {
    const offered = [...(this.answer ?? "").matchAll(/^a=candidate:\S* 1 udp \d+ (\S+) (\d+)/gim)]
      .map(([, host, port]) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`));
    return new PageError("NO_PATH", "The picture finds no way from the gateway to this device. A firewall, a VPN or "
      + "another network may be in between.", offered.length === 0 ? "The gateway offered no address."
      : "The gateway sends and receives by UDP at " + offered.slice(0, 4).join(", ") + ".");
  }

  async explainSilence(generation) {
    if (generation !== this.generation || this.liveSince) return;
    // Some browsers decode nothing for a page that is hidden.
    if (document.visibilityState !== "visible") {
      this.silenceTimer = setTimeout(() => this.explainSilence(generation), 8000);
      return;
    }
    const stats = await this.pc.getStats().catch(() => new Map());
    let received = 0, decoded = 0, codec = "";
    stats.forEach((entry) => {
      if (entry.type !== "inbound-rtp" || entry.kind !== "video") return;
      received = entry.packetsReceived ?? 0;
      decoded = entry.framesDecoded ?? 0;
      codec = stats.get(entry.codecId)?.mimeType?.split("/")[1] ?? "";
    });
    if (generation !== this.generation || decoded > 0) return;
    const isThrough = this.hasStep("encryption agreed");
    this.canDecode = !isThrough || received === 0;
    const notes = this.notes.join("\n") || null;
    const words = !isThrough ? inWords(this.noPath())
      : received > 0 ? { message: "The picture arrives, but this browser cannot show it.",
        details: codec ? `The picture comes as ${codec}.` : notes }
      : { message: "The gateway is connected, but the camera sends no picture.", details: notes };
    this.change(this.state, { ...words, mild: true });
    this.readGatewaySteps();
  }

  async readGatewaySteps() {
    const generation = this.generation;
    try {
      const session = await get("/v1/sessions/" + encodeURIComponent(this.session));
      if (generation !== this.generation) return;
      this.gatewaySteps = session.steps;
      this.codecs = session.codecs;
      this.onChange();
    } catch {
      // The session has ended meanwhile; its steps are of no more use.
    }
  }

  // The lease is extended 30 seconds before it ends; a failure is tried again until it has ended.
  armLease(seconds) {
    this.leaseEnd = performance.now() + seconds * 1000;
    clearTimeout(this.leaseTimer);
    this.leaseTimer = setTimeout(() => this.extend(), (seconds > 35 ? seconds - 30 : Math.max(1, seconds / 2)) * 1000);
  }

  async extend() {
    const generation = this.generation;
    try {
      const granted = await command(this.device.id, trait, "extendLiveView", { mediaSessionId: this.session });
      if (generation === this.generation) this.armLease(granted.liveSessionDurationSeconds);
    } catch (error) {
      if (generation !== this.generation) return;
      if (error.status === "NOT_FOUND" || performance.now() > this.leaseEnd) this.ended();
      else this.leaseTimer = setTimeout(() => this.extend(), 5000);
    }
  }

  get secondsLeft() {
    return Math.max(0, Math.round((this.leaseEnd - performance.now()) / 1000));
  }

  // The gateway has ended the session: its longest time was reached, the camera was set up differently, or the
  // gateway goes down. Whoever watches wants to go on.
  ended() {
    // There is nothing to give back.
    this.session = null;
    this.restart();
  }

  // The page has reached the gateway again, which may be another one than before.
  async check() {
    if (!this.isActive) return;
    if (!this.session) return this.nudge();
    const generation = this.generation;
    try {
      await get("/v1/sessions/" + encodeURIComponent(this.session));
    } catch (error) {
      if (generation === this.generation && error.status === "NOT_FOUND") this.ended();
    }
  }

  failed(error) {
    const fault = { ...inWords(error, "watch"), mild: true };
    if (isWorthRetrying(error.status, this.hasShown)) return this.restart(fault);
    this.close();
    this.change("failed", { ...fault, mild: false });
  }

  // Gives up this connection and makes another, now or after a pause that grows.
  restart(fault = null) {
    if (!this.isActive) return;
    const now = performance.now();
    this.attempt = attemptAfter(this.attempt, this.liveSince ? now - this.liveSince : 0);
    this.talk.interrupted();
    this.close();
    this.change("reconnecting", fault);
    this.connectSoon(pauseBefore(this.attempt++, Math.random()));
  }

  connectSoon(pause) {
    clearTimeout(this.retryTimer);
    this.retryTimer = setTimeout(() => {
      this.retryTimer = null;
      this.connect("reconnecting");
    }, pause);
  }

  // Something has changed for the better, so that a long pause need not be waited for.
  nudge() {
    if (this.retryTimer) this.connectSoon(500 + 500 * Math.random());
  }

  stop() {
    this.close();
    this.talk.fault = null;
    this.change("stopped", null);
  }

  close() {
    this.generation++;
    for (const timer of [this.leaseTimer, this.silenceTimer, this.lostTimer, this.retryTimer]) clearTimeout(timer);
    this.retryTimer = null;
    this.liveSince = null;
    this.isCatchingUp = false;
    this.talk.drop();
    if (this.callback !== undefined) this.video.cancelVideoFrameCallback?.(this.callback);
    this.callback = undefined;
    const pc = this.pc;
    this.pc = null;
    this.audio = null;
    this.video.srcObject = null;
    // The session ends before its connection: the goodbye of a connection that is closed ends the session too, and
    // the request would not find it any more. A gateway that does not answer is not waited for.
    const session = this.session;
    this.session = null;
    if (!session) return void pc?.close();
    const patience = setTimeout(() => pc?.close(), 2000);
    this.release(session).then(() => {
      clearTimeout(patience);
      pc?.close();
    });
  }

  // Also while the page goes away: keepalive lets the request outlive it.
  async release(session) {
    try {
      await command(this.device.id, trait, "stopLiveView", { mediaSessionId: session },
        { keepalive: true, patience: 5000 });
    } catch {
      // A gateway that cannot be reached finds out by itself that nobody watches.
    }
  }
}
