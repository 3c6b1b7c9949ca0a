// Sends the candidates of a connection to the gateway while the browser finds them (trickle ICE: RFC 8838, RFC 8840). The offer
// does not wait for them. In one network the browser's checks show the gateway where it is, so nothing waits for this either.
// Between networks the gateway can open the way through its own router, or through a TURN server, only for an address that it
// knows.

// The first component over UDP: all media share it, and the gateway opens no connections over TCP.
const usable = /^candidate:\S+ 1 udp /i;

/**
 * @param {string} description
 * @param {string} name of an attribute
 */
function attribute(description, name) {
  return description.match(new RegExp(`^a=${name}:(\\S+)`, "m"))?.[1] ?? "";
}

/**
 * Candidates in the form that the gateway reads (RFC 8840, section 9), or "" if the offer does not say whose they are. All
 * sections share one transport, so they are named in the first.
 * @param {string} offer
 * @param {string[]} candidates
 * @param {boolean} isComplete whether no other follows
 */
export function fragmentOf(offer, candidates, isComplete) {
  const [user, password, mid] = ["ice-ufrag", "ice-pwd", "mid"].map((name) => attribute(offer, name));
  const media = offer.match(/^m=.*$/m)?.[0].trim();
  if (!user || !password || !mid || !media) return "";
  const lines = [`a=ice-ufrag:${user}`, `a=ice-pwd:${password}`, media, `a=mid:${mid}`,
    ...candidates.map((candidate) => `a=${candidate}`), ...(isComplete ? ["a=end-of-candidates"] : [])];
  return lines.map((line) => line + "\r\n").join("");
}

/** The candidates of one connection. They go to its session and to no other. */
export class Trickle {
  /**
   * @param {(session: string, fragment: string, signal: AbortSignal) => Promise<void>} send
   * @param {{ isLost: (error: unknown) => boolean, pause: (milliseconds: number) => Promise<void> }} options isLost: whether a
   *   request got no answer, so that another attempt may get one
   */
  constructor(send, { isLost, pause }) {
    this.send = send;
    this.isLost = isLost;
    this.pause = pause;
    /** @type {string[]} */
    this.waiting = [];
    this.session = "";
    this.offer = "";
    this.isComplete = false;
    this.isSending = false;
    this.end = new AbortController();
  }

  get isClosed() { return this.end.signal.aborted; }

  /**
   * The browser has found a candidate, or there are no others.
   * @param {{ candidate: string } | null} found
   */
  add(found) {
    if (this.isClosed) return;
    if (!found?.candidate) this.isComplete = true;
    else if (usable.test(found.candidate)) this.waiting.push(found.candidate);
    this.flush();
  }

  /**
   * The gateway has answered: from now on candidates can be sent.
   * @param {string} session
   * @param {string} offer
   */
  open(session, offer) {
    this.session = session;
    this.offer = offer;
    this.flush();
  }

  /** The connection has ended, and its session with it. */
  close() {
    this.end.abort();
    this.waiting = [];
  }

  // One request at a time: what is found meanwhile goes with the next one. That no others follow is not worth a request of
  // its own, because the gateway does not give up sooner for it.
  async flush() {
    if (this.isSending || !this.session) return;
    this.isSending = true;
    let failures = 0;
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      const fragment = fragmentOf(this.offer, batch, this.isComplete);
      if (!fragment) break;
      try {
        await this.send(this.session, fragment, this.end.signal);
        failures = 0;
      } catch (error) {
        failures += 1;
        // The view may work without them, so it is not disturbed.
        if (!this.isLost(error) || failures > 3) this.close();
        if (this.isClosed) break;
        this.waiting = [...batch, ...this.waiting];
        await this.pause(failures * 1000);
      }
    }
    this.isSending = false;
  }
}
