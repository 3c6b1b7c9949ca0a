// Looks at the page while a camera is opened from the wall. It runs before the page's own scripts and defines globalThis.spies.
globalThis.spies = (() => {
  const spies = {};
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;

  // --- what the page holds

  const connections = new Set();
  if (globalThis.RTCPeerConnection) {
    globalThis.RTCPeerConnection = class extends RTCPeerConnection {
      constructor(...given) {
        super(...given);
        connections.add(this);
      }
      close() {
        connections.delete(this);
        super.close();
      }
    };
  }

  // Of the whole page: those of an element go with it. Weakly: what the page gives up must be collected as without this.
  const listeners = new Set();
  const numbers = new WeakMap();
  let count = 0;
  const keyOf = (target, type, listener) => {
    if (!numbers.has(listener)) numbers.set(listener, count += 1);
    return `${target === window ? "window" : "document"} ${type} ${numbers.get(listener)}`;
  };
  EventTarget.prototype.addEventListener = function (type, listener, ...rest) {
    if ((this ?? window) === window || this === document) listeners.add(keyOf(this ?? window, type, listener));
    add.call(this ?? window, type, listener, ...rest);
  };
  EventTarget.prototype.removeEventListener = function (type, listener, ...rest) {
    if ((this ?? window) === window || this === document) listeners.delete(keyOf(this ?? window, type, listener));
    remove.call(this ?? window, type, listener, ...rest);
  };

  let videos = [];
  const make = document.createElement;
  document.createElement = function (name, ...rest) {
    const made = make.call(this, name, ...rest);
    if (name === "video") videos.push(new WeakRef(made));
    return made;
  };
  const kept = () => {
    videos = videos.filter((one) => one.deref() !== undefined);
    return videos.map((one) => one.deref()).filter(Boolean);
  };

  const sockets = new Set();

  /** What there is now. A video outside the document that still has something to play is lost. */
  spies.held = () => ({
    connections: connections.size, sockets: sockets.size, listeners: listeners.size,
    videos: kept().filter((one) => !one.isConnected).length,
    lost: kept().filter((one) => !one.isConnected && (one.srcObject !== null || one.hasAttribute("src"))).length,
  });

  // --- the picture of the large view, which the test can hold back

  let held = null;
  // While the picture is held back, the loan of the wall's picture (`longestLoan` in camera-view.js) lasts nine times as long,
  // because a busy machine takes longer to look. Other timers of ten seconds do, too.
  const longestLoan = 10000;
  // So does the time for the first picture (`patience` in live-silence.js). Without one the page takes WebRTC for blocked, and the
  // wall has nothing to lend.
  const firstPicture = 8000;
  const isLonger = (pause) => pause === firstPicture || (held && pause === longestLoan);
  const realTimeout = globalThis.setTimeout;
  globalThis.setTimeout = (run, pause, ...rest) => realTimeout(run, isLonger(pause) ? 9 * pause : pause, ...rest);

  /** The next large view gets no picture of its own until release(). */
  spies.hold = () => { held = Promise.withResolvers(); };
  spies.release = () => {
    held?.resolve();
    held = null;
  };
  const isLarge = (address, { body } = {}) => /\/live\.mjpeg/.test(address)
    || (address.endsWith("/startLiveView") && JSON.parse(body).qualityHint === "hd");
  const send = globalThis.fetch;
  globalThis.fetch = async (address, options) => {
    if (held && isLarge(String(address), options)) await held.promise;
    return send(address, options);
  };
  globalThis.WebSocket = class extends WebSocket {
    constructor(address, ...rest) {
      super(address, ...rest);
      this.waits = /stream=main/.test(address) ? held?.promise : undefined;
      sockets.add(this);
      add.call(this, "close", () => sockets.delete(this));
    }
    addEventListener(type, listener, ...rest) {
      const { waits } = this;
      const later = type === "message" && waits ? (event) => waits.then(() => listener(event)) : listener;
      super.addEventListener(type, later, ...rest);
    }
  };

  // --- what the large view shows

  const isSeen = (node) => node !== null && !node.hidden && getComputedStyle(node).opacity === "1" && node.clientWidth > 0;

  // A number that changes with the picture, or null if there is none or if it is black.
  const digestOf = (picture) => {
    if (!picture || !(picture.videoWidth ?? picture.naturalWidth ?? picture.width)) return null;
    const context = new OffscreenCanvas(160, 90).getContext("2d");
    context.drawImage(picture, 0, 0, 160, 90);
    const { data } = context.getImageData(0, 0, 160, 90);
    const brightest = data.reduce((most, one, place) => (place % 4 < 3 ? Math.max(most, one) : most), 0);
    return brightest < 32 ? null : data.reduce((sum, one) => (sum * 31 + one) % 1000003);
  };

  spies.look = () => {
    const find = (selector) => document.querySelector(`.one-camera ${selector}`);
    const [borrowed, poster, video, image] = [".borrowed", "canvas", "video:not(.borrowed)", ".still"].map(find);
    return {
      isOpen: document.querySelector(".one-camera") !== null,
      borrowed: borrowed && { isSeen: isSeen(borrowed), digest: digestOf(borrowed), isMuted: borrowed.muted },
      poster: poster && !poster.hidden && digestOf(poster),
      waits: !(find(".spinner")?.hidden ?? true),
      isPlaying: document.querySelector(".one-camera.playing") !== null,
      own: digestOf(image && !image.hidden ? image : video),
      isMuted: video?.muted, words: document.querySelector(".view-state")?.textContent ?? "",
    };
  };

  // Milliseconds. Nobody else bounds how long a page takes for an answer.
  const patience = 60000;

  /** Opens a camera of the wall; what the page shows as soon as it has taken notice. */
  spies.open = (name) => new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`not within ${patience / 1000} s: the page notices that ${name} was opened`)), patience);
    add.call(window, "hashchange", () => {
      clearTimeout(limit);
      resolve(spies.look());
    }, { once: true });
    [...document.querySelectorAll(".cell")].find((one) => one.querySelector(".cell-name").textContent === name)
      .querySelector("a").click();
  });

  /** Goes back to the wall by the button. */
  spies.back = () => document.querySelector(".one-camera .view-bar button").click();

  /** The names of the cameras that play on the wall and whose picture a canvas can have. Firefox is late with the first one. */
  spies.playing = () => [...document.querySelectorAll(".cell.playing:not(.stalled)")]
    .filter((one) => [...one.querySelectorAll("video, .still")].some((picture) => !picture.hidden && digestOf(picture)))
    .map((one) => one.querySelector(".cell-name").textContent);

  /** What each camera of the wall shows, in words: for the message of a wall that does not play. */
  spies.cells = () => [...document.querySelectorAll(".cell")].map((one) => {
    const [name, words] = [".cell-name", ".cell-words"].map((part) => one.querySelector(part).textContent);
    const { readyState, videoWidth } = one.querySelector("video");
    return `${name}: ${one.className}, "${words}", video ${readyState} (${videoWidth})`;
  });

  /** The name of the camera whose link on the wall has the focus. */
  spies.focused = () => document.activeElement?.closest(".cell")?.querySelector(".cell-name").textContent ?? "";

  return spies;
})();
