// Measures the gateway's page from inside: when pictures are shown, how old they are, and what a wall holds. It runs before the
// page's own scripts and defines globalThis.pageProbe. All times are milliseconds; those of events are by performance.now(),
// which begins with the navigation. Without a document it defines only what needs none.
globalThis.pageProbe = (() => {
  // --- the stamp of a test picture: two rows of squares at the lower edge of a grid of 80 by 45

  const columns = 80;
  const rows = 45;
  const bandRows = 2;
  const firstColumn = 6;
  const dataColumns = 64;
  // The band is read from a canvas with so many pixels for the side of a square.
  const side = 4;
  const band = { width: columns * side, height: bandRows * side };

  // The mean brightness of the middle of a square, away from the edges that compression blurs.
  function brightness(pixels, column, row) {
    let sum = 0;
    for (const y of [1, 2]) {
      for (const x of [1, 2]) {
        const at = 4 * ((row * side + y) * band.width + column * side + x);
        sum += pixels[at] + pixels[at + 1] + pixels[at + 2];
      }
    }
    return sum / 12;
  }

  // The 64 bits of a row as two numbers of 32 bits; null if there is no band.
  function wordsOf(pixels, row) {
    const at = (column) => brightness(pixels, firstColumn + column, row);
    const light = at(0) + at(dataColumns + 3);
    const dark = at(1) + at(dataColumns + 2);
    if (light - dark <= 40) return null;
    const words = [0, 0];
    for (let bit = 0; bit < dataColumns; bit += 1) {
      words[bit >> 5] = words[bit >> 5] * 2 + (at(2 + bit) > (light + dark) / 4 ? 1 : 0);
    }
    return words;
  }

  // CRC-32 over numbers of 32 bits, most significant byte first.
  function checksumOf(words) {
    let value = -1;
    for (const word of words) {
      for (const shift of [24, 16, 8, 0]) {
        value ^= (word >>> shift) & 0xff;
        for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
      }
    }
    return ~value >>> 0;
  }

  /** The stamp in the pixels (RGBA) of a band: the number of the picture, and when it was drawn (milliseconds since 1970). */
  function stampIn(pixels) {
    const time = wordsOf(pixels, 0);
    const rest = wordsOf(pixels, 1);
    if (!time || !rest) return null;
    const [number, checksum] = rest;
    if (checksumOf([number, ...time]) !== checksum) return null;
    return { number, captured: (time[0] * 2 ** 32 + time[1]) / 1000 };
  }

  /** An offer without the header extension by which a sender limits the playout delay. */
  function withoutPlayoutDelay(offer) { return offer.replace(/^a=extmap:\S+ \S*\/playout-delay\b.*\r?\n/gm, ""); }

  const probe = { band, checksumOf, stampIn, withoutPlayoutDelay };
  if (typeof document === "undefined") return probe;

  // --- connections

  // Weakly: what the page gives up must be collected as without the probe.
  let peers = [];
  let made = 0;
  const Connection = globalThis.RTCPeerConnection;
  if (Connection) {
    globalThis.RTCPeerConnection = class extends Connection {
      constructor(...given) {
        super(...given);
        made += 1;
        peers.push({ number: made, reference: new WeakRef(this) });
      }
    };
  }

  function livePeers() {
    const open = ({ reference }) => {
      const peer = reference.deref();
      return peer !== undefined && peer.connectionState !== "closed";
    };
    peers = peers.filter(open);
    return peers.flatMap(({ number, reference }) => {
      const peer = reference.deref();
      return peer ? [{ number, peer }] : [];
    });
  }

  /** Whether a connection has agreed on the header extension. */
  probe.agreesOnPlayoutDelay = () =>
    livePeers().some(({ peer }) => /\/playout-delay\b/.test(peer.remoteDescription?.sdp ?? ""));

  /** What the connections have received: one entry for each that is open. */
  probe.receptions = () => Promise.all(livePeers().map(async ({ number, peer }) => {
    const found = { number, freezes: 0, frozenSeconds: 0, dropped: 0 };
    const report = await peer.getStats().catch(() => new Map());
    report.forEach((entry) => {
      if (entry.type !== "inbound-rtp" || entry.kind !== "video") return;
      found.freezes += entry.freezeCount ?? 0;
      found.frozenSeconds += entry.totalFreezesDuration ?? 0;
      found.dropped += entry.framesDropped ?? 0;
    });
    return found;
  }));

  // --- first pictures, and clicks

  const videos = new WeakMap();
  let clicked = null;
  // When the large view showed something of the wall after that, the picture that moves or the last one, which stands still; and its
  // own stream over a WebSocket.
  let after = { borrowed: null, still: null, stream: null };

  function watch(video) {
    if (videos.has(video) || !("requestVideoFrameCallback" in video)) return;
    const shown = [];
    videos.set(video, shown);
    const seen = () => {
      shown.push(performance.now());
      // The large view shows the picture of the wall until it has its own, and then takes this video out of the page.
      if (video.classList.contains("borrowed")) after.borrowed ??= performance.now();
      // The second one shows that the picture moves.
      if (shown.length < 2) video.requestVideoFrameCallback(seen);
    };
    video.requestVideoFrameCallback(seen);
  }

  const all = document.getElementsByTagName("video");
  const additions = new MutationObserver(() => {
    for (const video of all) watch(video);
    if (clicked !== null && after.still === null) watchStill();
  });
  additions.observe(document, { childList: true, subtree: true });

  // A canvas tells nobody when it is shown: what is in the page is painted after the callbacks of the next frame.
  function watchStill() {
    const canvas = document.querySelector(".one-camera canvas");
    if (!canvas || canvas.hidden) return;
    const mine = after;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener("message", () => { mine.still ??= performance.now(); }, { once: true });
      port1.start();
      port2.postMessage(null);
    });
  }

  const Socket = globalThis.WebSocket;
  globalThis.WebSocket = class extends Socket {
    constructor(address, ...rest) {
      const asked = performance.now();
      super(address, ...rest);
      if (!/\/live\.mp4\?stream=main\b/.test(String(address)) || clicked === null) return;
      const stream = after.stream ??= { asked, answered: null };
      this.addEventListener("message", () => { stream.answered ??= performance.now(); }, { once: true });
    }
  };

  addEventListener("click", (event) => {
    clicked = event.timeStamp;
    after = { borrowed: null, still: null, stream: null };
    // The buffer for these is small, and the page's files fill it.
    performance.clearResourceTimings();
  }, { capture: true });

  /** When each of these videos showed its first two pictures. */
  probe.pictures = (selector) => [...document.querySelectorAll(selector)].map((video) => videos.get(video) ?? []);

  // The request for a view by WebRTC since the last click, and its answer.
  function request() {
    const found = performance.getEntriesByType("resource")
      .find(({ name, startTime }) => name.endsWith("/commands/startLiveView") && startTime >= clicked);
    return found ? { asked: found.startTime, answered: found.responseEnd } : null;
  }

  /**
   * What the last click led to: the path of the view; the request for it and the answer, which is the first message of a WebSocket;
   * the last picture of the wall, which stands still (null if there was none); the first picture that moves, which may be one of the
   * wall's; and the first one of this video.
   */
  probe.start = (selector) => {
    const [shown] = probe.pictures(selector).flat();
    if (clicked === null || shown === undefined) return null;
    // A view that could not be had by WebRTC goes on over a WebSocket.
    const path = after.stream ? "websocket" : "webrtc";
    const begun = after.stream ?? request();
    if (!begun) return null;
    const { borrowed, still } = after;
    const since = (time) => (time === null ? null : time - clicked);
    return {
      path, asked: since(begun.asked), answered: since(begun.answered), still: since(still !== null && still < shown ? still : null),
      moving: since(Math.min(borrowed ?? Infinity, shown)), shown: since(shown),
    };
  };

  // --- from capture to display

  // What performance.now() has to be added to for the wall clock that stamps are made with. performance.timeOrigin does not
  // follow a clock that is set later. The wall clock is read in whole milliseconds, so it is read where it changes.
  function wallClock() {
    let best = -Infinity;
    for (let tick = 0; tick < 5; tick += 1) {
      const before = Date.now();
      let now = before;
      for (let spin = 0; spin < 1e6 && now === before; spin += 1) now = Date.now();
      best = Math.max(best, now - performance.now());
    }
    return best;
  }

  /**
   * The next pictures of a test camera: how old each is when it is displayed, and how long before that its last packet came.
   * Fewer than asked for if the time is over before.
   */
  probe.ages = (selector, count, patience) => new Promise((resolve) => {
    const video = document.querySelector(selector);
    const context = new OffscreenCanvas(band.width, band.height).getContext("2d", { willReadFrequently: true });
    const clock = wallClock();
    const found = [];
    let unreadable = 0;
    const end = () => resolve({ pictures: found, unreadable });
    const timer = setTimeout(end, patience);
    const seen = (now, { expectedDisplayTime, receiveTime, width, height }) => {
      context.drawImage(video, 0, height * (rows - bandRows) / rows, width, height * bandRows / rows,
        0, 0, band.width, band.height);
      const stamp = stampIn(context.getImageData(0, 0, band.width, band.height).data);
      if (stamp) {
        found.push({
          number: stamp.number, age: clock + expectedDisplayTime - stamp.captured,
          held: receiveTime === undefined ? null : expectedDisplayTime - receiveTime,
        });
      } else {
        unreadable += 1;
      }
      if (found.length < count) {
        video.requestVideoFrameCallback(seen);
        return;
      }
      clearTimeout(timer);
      end();
    };
    video.requestVideoFrameCallback(seen);
  });

  const hints = ["playoutDelayHint", "jitterBufferTarget"];

  /** Whether this browser takes a hint for the playout delay. */
  probe.hasHint = () => hints.some((name) => name in globalThis.RTCRtpReceiver.prototype);

  /** The page leaves the delay to the browser: it no longer asks for as little as possible. */
  probe.forgetHint = () => { for (const name of hints) delete globalThis.RTCRtpReceiver.prototype[name]; };

  /** The page's offers no longer have the header extension. */
  probe.forgetExtension = () => {
    const send = globalThis.fetch;
    globalThis.fetch = (path, options) => {
      if (!String(path).endsWith("/commands/startLiveView")) return send(path, options);
      const body = JSON.parse(options.body);
      return send(path, { ...options, body: JSON.stringify({ ...body, offerSdp: withoutPlayoutDelay(body.offerSdp) }) });
    };
  };

  // --- a wall

  const changes = { stalls: 0, interruptions: 0 };

  /** Counts from now on how often a cell of the wall says that its picture stands still, or shows none any more. */
  probe.followWall = () => {
    additions.disconnect();
    const has = (text, name) => (text ?? "").split(" ").includes(name);
    new MutationObserver((records) => {
      for (const { target, oldValue } of records) {
        if (!target.classList.contains("cell")) continue;
        if (target.classList.contains("stalled") && !has(oldValue, "stalled")) changes.stalls += 1;
        if (!target.classList.contains("playing") && has(oldValue, "playing")) changes.interruptions += 1;
      }
    }).observe(document, { subtree: true, attributeFilter: ["class"], attributeOldValue: true });
  };

  /** The cells of the wall, and what the page holds. */
  probe.wall = () => ({
    ...changes, connections: livePeers().length, connectionsMade: made, elements: document.getElementsByTagName("*").length,
    cells: [...document.querySelectorAll(".cell")].map((cell) => ({
      name: decodeURIComponent(cell.querySelector(".cell-picture").hash.replace("#camera/", "")),
      frames: cell.querySelector("video").getVideoPlaybackQuality().totalVideoFrames,
      isPlaying: cell.classList.contains("playing"), isStalled: cell.classList.contains("stalled"),
    })),
  });

  return probe;
})();
