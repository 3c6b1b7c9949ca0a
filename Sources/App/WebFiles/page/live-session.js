import { addCandidates, answers, command, getSession, PageError, sourceOf, statusOf, traitsOf } from "./api.js";
import { attemptAfter, closingOf, isWorthRetrying, judge, mayChange, pauseAfterRefusal, pauseBefore } from "./liveness.js";
import { IceRestart } from "./ice-restart.js";
import { makeConnection } from "./live-connection.js";
import { LiveFallback } from "./live-fallback.js";
import { LiveLease } from "./live-lease.js";
import { LiveSilence } from "./live-silence.js";
import { streamWord } from "./live-words.js";
import { PathLoss } from "./path-loss.js";
import { PictureWatch } from "./picture-watch.js";
import { Quality } from "./quality.js";
import { Talk } from "./talk.js";
import { t } from "./text.js";
import { Trickle } from "./trickle.js";
import { inWords } from "./words.js";

/**
 * @typedef {import("./types").Fault} Fault
 * @typedef {import("./types").Step} Step
 */

/** @typedef {"starting" | "connecting" | "live" | "reconnecting" | "stopped" | "failed"} State
 *   live: its first picture was seen */

/**
 * The camera of a view.
 * @typedef {object} Viewed
 * @property {string} id
 * @property {boolean} canTalk whether it has a speaker
 * @property {import("./types").Source} [source]
 * @property {number | null} [flowingSince] when it began to send, by performance.now()
 */

const trait = "WebRtcLiveView";

export class LiveSession {
  /**
   * @param {Viewed} device
   * @param {HTMLVideoElement} video
   * @param {import("./types").KnownGateway} gateway
   * @param {import("./types").Link} link
   * @param {() => void} onChange
   * @param {{ persists?: boolean }} options persists: a view that was refused is tried again by itself, because nobody may
   *   be there to do it
   */
  constructor(device, video, gateway, link, onChange, { persists = false } = {}) {
    this.persists = persists;
    this.device = device;
    this.video = video;
    this.gateway = gateway;
    this.link = link;
    this.onChange = onChange;
    /** @type {State} */
    this.state = "stopped";
    // What keeps the camera from showing something, as it was reported last.
    this.closing = "";
    /** @type {Fault | null} */
    this.fault = null;
    // Of the error that ended it last, such as "NO_PATH".
    this.status = "";
    /** @type {import("./liveness.js").Verdict} */
    this.verdict = { isLive: false, isStalled: false, text: null, cause: null };
    this.talk = new Talk(this);
    this.quality = new Quality(this);
    this.fallback = new LiveFallback(this);
    this.lease = new LiveLease(this);
    this.silence = new LiveSilence(this);
    this.iceRestart = new IceRestart(this);
    this.pathLoss = new PathLoss(this);
    this.watch = new PictureWatch(video, {
      statistics: () => this.statistics(), beat: () => this.beat(), looked: () => this.weigh(),
    });

    // From the start to the stop, over all connections.
    this.attempt = 0;
    this.hasShown = false;

    // Of one connection. Counts the connections, so that what comes late for an older one does nothing.
    this.generation = 0;
    this.begin = 0;
    /** @type {number | null} */
    this.liveSince = null;
    /** @type {Step[]} */
    this.steps = [];
    /** @type {Step[]} */
    this.gatewaySteps = [];
    /** @type {string | null} how media comes, in the gateway's word, or "websocket" or "pictures" */
    this.path = null;
    /** @type {string} why the picture is a small one, or less than all of it */
    this.stream = "";
    /** @type {import("./types").Session | null} the gateway's last description of the view */
    this.told = null;
    /** @type {string[]} */
    this.notes = [];
    /** @type {RTCPeerConnection | null} */
    this.pc = null;
    // Until when its events are listened to. Chromium may keep a connection that was closed early, and its listeners would
    // keep the view and its pictures.
    this.listening = new AbortController();
    /** @type {RTCRtpTransceiver | null} */
    this.audio = null;
    /** @type {Trickle | null} */
    this.trickle = null;
    /** @type {string | null} */
    this.session = null;
    this.answer = "";
    this.needsTap = false;
    /** @type {Record<"lease" | "silence" | "lost" | "repair" | "retry" | "again", number | undefined>} */
    this.timers = {
      lease: undefined, silence: undefined, lost: undefined, repair: undefined, retry: undefined, again: undefined,
    };
  }

  get isActive() {
    return !["stopped", "failed"].includes(this.state);
  }

  /** Whether a connection is made and the camera may send by it. */
  get isConnected() { return this.session !== null || this.fallback.isOpen; }

  /** Whether somebody would miss something if the page were loaded again. */
  get isInUse() {
    // A browser that has let it sound without a touch does so again. Otherwise the sound might be gone, for example of a nursery.
    const wasTouched = /** @type {any} */ (navigator).userActivation?.hasBeenActive ?? true;
    return this.isActive && (this.fallback.isBusy || (this.fallback.isHeard && wasTouched));
  }

  /** Talking needs WebRTC. */
  get canTalk() { return this.device.canTalk && this.fallback.path === "webrtc"; }

  /** What shows the picture. @returns {HTMLVideoElement | HTMLImageElement} */
  get picture() { return this.fallback.isImage ? this.fallback.image : this.video; }

  /** Whether somebody wants to see the camera: it is active, or was refused and is tried again. */
  get isWanted() { return this.isActive || this.timers.again !== undefined; }

  /**
   * The device has changed: its camera may send again, or have a speaker.
   * @param {import("./types").Device} device
   * @param {boolean} mayTalk whether the token permits talking
   */
  learn(device, mayTalk) {
    const source = sourceOf(device);
    const camera = this.device;
    camera.canTalk = mayTalk && Boolean(traitsOf(device)[trait]?.supportedTalkbackType);
    const isFlowing = source.state === "flowing" || source.state === "unknown";
    // It sends again, or its privacy has ended: what was refused is worth another attempt.
    const closing = closingOf(source, traitsOf(device));
    const mayFlow = isFlowing && this.closing !== closing;
    this.closing = closing;
    camera.source = source;
    if (!isFlowing) camera.flowingSince = null;
    else camera.flowingSince ??= performance.now();
    if (mayFlow) this.nudge();
  }

  /**
   * Takes what the event stream reports about this view. Other events do nothing.
   * @param {string} name
   * @param {any} data
   */
  event(name, data) {
    if (name !== "session" || this.session !== data.session.mediaSessionId) return;
    if (data.change === "ended") {
      this.ended();
    } else {
      this.talk.changed(data.session.talkback);
      this.gatewaySteps = data.session.steps;
      this.learnPath(data.session);
      this.iceRestart.take(data.session.wantsICERestart === true);
      this.onChange();
    }
  }

  /**
   * Takes how media comes, and which stream, from the gateway's description of the view.
   * @param {import("./types").Session} session
   */
  learnPath(session) {
    this.path = session.path ?? null;
    this.stream = streamWord(session.stream, session.statistics);
    this.told = session;
  }

  /**
   * @param {State} state
   * @param {Fault | null} fault
   */
  change(state, fault = this.fault) {
    this.state = state;
    this.fault = fault;
    this.weigh();
    this.onChange();
  }

  /** @param {string} name */
  step(name) {
    if (this.steps.some((step) => step.name === name)) return;
    this.steps.push({ name, milliseconds: performance.now() - this.begin });
    this.onChange();
  }

  /** @param {string} name */
  hasStep(name) { return this.steps.some((step) => step.name === name); }

  /**
   * Somebody wants to see the camera, until stop() or until it is hopeless.
   * @param {{ hasShown?: boolean, fault?: Fault | null, isByItself?: boolean, after?: Promise<void> }} options hasShown: it was
   *   seen before, so that nothing but stop() ends it; fault: why it was refused before; isByItself: nobody has asked for it
   *   just now; after: the connection is made when this is fulfilled, while the state says already that it starts
   */
  async start({ hasShown = false, fault = null, isByItself = false, after = undefined } = {}) {
    if (this.isActive) return;
    if (!isByItself) this.fallback.see();
    clearTimeout(this.timers.again);
    this.timers.again = undefined;
    this.attempt = 0;
    this.fault = fault;
    this.status = "";
    this.hasShown = hasShown;
    this.watch.start();
    this.silence.start();
    await this.connect("starting", after);
  }

  /**
   * Replaces a timer of this connection.
   * @param {number} pause milliseconds
   * @param {keyof LiveSession["timers"]} name
   * @param {() => void} action
   */
  after(pause, name, action) {
    clearTimeout(this.timers[name]);
    this.timers[name] = setTimeout(action, pause);
  }

  /**
   * @param {"starting" | "reconnecting"} state
   * @param {Promise<void>} [after]
   */
  async connect(state, after) {
    const generation = ++this.generation;
    this.steps = [];
    this.gatewaySteps = [];
    this.path = null;
    this.stream = "";
    this.told = null;
    this.notes = [];
    this.begin = performance.now();
    this.liveSince = null;
    this.silence.prepare();
    this.watch.prepare();
    this.pathLoss.prepare();
    this.fallback.choose();
    if (this.fallback.mayRest) return this.fallback.rest();
    this.change(state);
    /** @type {RTCPeerConnection | undefined} */
    let pc;
    try {
      if (this.fallback.path !== "webrtc") return this.fallback.connect(generation);
      if (!("RTCPeerConnection" in window)) {
        throw new PageError("NO_WEBRTC", t("liveSession.noWebRTC"));
      }
      // A gateway that does not run cannot answer an offer. One that hangs would hold the request for a long time.
      if (state === "reconnecting" && !this.link.isUp && !(await answers())) {
        throw new PageError("UNREACHABLE", t("liveSession.theGatewayDoesNotAnswer"));
      }
      await after;
      if (generation !== this.generation) return;
      const made = makeConnection(this);
      ({ pc } = made);
      this.pc = made.pc;
      this.audio = made.audio;
      const trickle = this.makeTrickle();
      this.trickle = trickle;
      await pc.setLocalDescription();
      if (generation !== this.generation) return;
      this.step("offer made");
      // Nothing waits for its candidates.
      const offer = pc.localDescription?.sdp ?? "";
      /** @type {import("./types").LiveView} */
      const answer = await command(this.device.id, trait, "startLiveView", { offerSdp: offer, ...this.quality.parameters });
      if (generation !== this.generation) return this.release(answer.mediaSessionId);
      this.session = answer.mediaSessionId;
      this.answer = answer.answerSdp;
      this.notes = answer.notes ?? [];
      if (this.fallback.hear(this.notes)) return this.changePath();
      this.step("answer received");
      this.change(state === "starting" ? "connecting" : state);
      this.lease.begin(answer.liveSessionDurationSeconds);
      await pc.setRemoteDescription({ type: "answer", sdp: answer.answerSdp });
      if (generation !== this.generation) return;
      trickle.open(answer.mediaSessionId, offer);
      this.watch.begin(["recvonly", "sendrecv"].includes(made.video.currentDirection ?? ""));
      this.silence.waitForPicture(generation);
    } catch (error) {
      if (generation === this.generation) this.failed(error);
      else pc?.close();
    }
  }

  makeTrickle() {
    return new Trickle((session, fragment, signal) => addCandidates(this.device.id, session, fragment, signal), {
      isLost: (error) => statusOf(error) === "UNREACHABLE",
      pause: (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); }),
    });
  }

  async play() {
    this.needsTap = false;
    try {
      await this.video.play();
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "NotAllowedError")) return;
      // Some browsers let nothing sound before a tap: pictures first, then a button.
      this.video.muted = true;
      this.needsTap = true;
      await this.video.play().catch(() => {});
    }
    this.onChange();
  }

  // The first picture was seen, or a later one.
  beat() {
    if (this.state === "live" || !this.isConnected) return;
    clearTimeout(this.timers.silence);
    this.liveSince = performance.now();
    this.hasShown = true;
    this.silence.shown();
    this.step(this.hasPicture ? "first picture" : "first sound");
    this.change("live", null);
    this.readGatewaySteps();
  }

  /** Whether the view brings a picture, or sound alone. */
  get hasPicture() { return this.watch.hasPicture; }

  /** Called some times a second while the view is active. */
  tick() {
    this.fallback.tick();
    this.watch.tick(this.isConnected);
    this.weigh();
    this.silence.tick();
    this.pathLoss.tick();
  }

  /** @returns {Promise<import("./reception.js").Statistics>} nothing of a connection that was closed meanwhile */
  async statistics() {
    if (this.fallback.isOpen) return this.fallback.statistics();
    return await this.pc?.getStats().catch(() => null) ?? new Map();
  }

  weigh() {
    const { last, usualGap } = this.watch.pulse;
    if (this.isActive && this.watch.isUnknown && this.state === "live" && this.verdict.isLive) return;
    const verdict = judge({
      state: this.state, silence: last === null ? null : performance.now() - last,
      usualGap, hasPicture: this.hasPicture, isOnline: navigator.onLine !== false,
      hasLink: this.link.isUp, answers: this.silence.answers, ice: this.pc?.iceConnectionState, source: sourceOf(this.device),
    });
    const before = this.verdict;
    this.verdict = verdict;
    if (before.isLive !== verdict.isLive || before.isStalled !== verdict.isStalled || before.text !== verdict.text) {
      this.onChange();
    }
  }

  async readGatewaySteps() {
    const generation = this.generation;
    if (!this.session) return;
    try {
      const session = await getSession(this.session);
      if (generation !== this.generation) return;
      this.gatewaySteps = session.steps;
      this.learnPath(session);
      this.onChange();
      this.iceRestart.take(session.wantsICERestart === true);
    } catch {
      // The session has ended meanwhile; its steps are of no more use.
    }
  }

  // The gateway has ended the session: its longest time was reached, the camera was set up differently, or the
  // gateway goes down. The viewer wants to continue.
  ended() {
    // There is nothing to give back.
    this.session = null;
    this.restart();
  }

  /** The page has reached the gateway again, which may be another one than before. */
  async check() { await this.pathLoss.check(); }

  /** @param {unknown} error */
  failed(error) {
    this.status = statusOf(error);
    if (this.fallback.takes(error)) return this.changePath();
    const fault = { ...inWords(error, "watch"), mild: true };
    if (isWorthRetrying(statusOf(error), this.hasShown)) return this.restart(fault);
    this.close();
    if (this.persists && mayChange(statusOf(error))) this.tryAgainAfter(pauseAfterRefusal(Math.random()));
    this.change("failed", { ...fault, mild: false });
  }

  /**
   * Gives up this connection and makes another, now or after a pause that grows.
   * @param {Fault | null} fault
   */
  restart(fault = null) {
    if (!this.isActive) return;
    const now = performance.now();
    this.attempt = attemptAfter(this.attempt, this.liveSince ? now - this.liveSince : 0);
    this.talk.interrupted();
    this.close();
    this.change("reconnecting", fault);
    this.connectSoon(pauseBefore(this.attempt++, Math.random()));
  }

  /** Another path is tried at once. */
  changePath() {
    this.talk.interrupted();
    this.close();
    this.change(this.hasShown ? "reconnecting" : "starting", null);
    this.connectSoon(0);
  }

  /** Nobody sees the page: the view is given back. What is said of the picture starts again when somebody does. */
  rest() {
    this.close();
    this.watch.start();
    this.change("starting", null);
  }

  /** Somebody sees the page again. */
  wake() { this.connect("starting"); }

  /** @param {number} pause milliseconds */
  connectSoon(pause) {
    this.after(pause, "retry", () => {
      this.timers.retry = undefined;
      this.connect("reconnecting");
    });
  }

  // Something has changed for the better, so that a long pause need not be waited for.
  nudge() {
    const soon = 500 + 500 * Math.random();
    if (this.timers.retry !== undefined) this.connectSoon(soon);
    else if (this.timers.again !== undefined) this.tryAgainAfter(soon);
  }

  /**
   * A view that was refused is asked for again. Until it shows something, it says why it was refused.
   * @param {number} pause milliseconds
   */
  tryAgainAfter(pause) { this.after(pause, "again", () => this.start({ fault: this.fault, isByItself: true })); }

  stop() {
    this.close();
    this.talk.fault = null;
    this.change("stopped", null);
  }

  close() {
    this.generation++;
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
    this.timers.retry = undefined;
    this.timers.again = undefined;
    this.liveSince = null;
    this.watch.end();
    this.talk.drop();
    const pc = this.pc;
    this.pc = null;
    this.listening.abort();
    this.audio = null;
    this.trickle?.close();
    this.trickle = null;
    this.fallback.close();
    this.video.srcObject = null;
    // The session ends before its connection: the goodbye of a connection that is closed ends the session too, and
    // the request would not find it. The page does not wait for a gateway that does not answer.
    const session = this.session;
    this.session = null;
    if (!session) {
      pc?.close();
      return;
    }
    const patience = setTimeout(() => pc?.close(), 2000);
    this.release(session).finally(() => {
      clearTimeout(patience);
      pc?.close();
    });
  }

  /**
   * Gives a session back, also while the page goes away: keepalive lets the request outlive it.
   * @param {string} session
   */
  async release(session) {
    try {
      await command(this.device.id, trait, "stopLiveView", { mediaSessionId: session },
        { keepalive: true, patience: 5000 });
    } catch {
      // A gateway that cannot be reached finds out by itself that nobody watches.
    }
  }
}
