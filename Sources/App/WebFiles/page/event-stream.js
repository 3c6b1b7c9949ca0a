import { tokenRefused } from "./api.js";
import { learnTime } from "./gateway-clock.js";
import { authorization } from "./token.js";

/** Reads the text of an event stream piece by piece, wherever the pieces are cut. */
export class EventParser {
  constructor() {
    this.rest = "";
    // The id of the last event that was whole: with it, the next connection continues after that event.
    this.lastID = "";
  }

  /**
   * The events that are whole now, one at a time: `lastID` is that of the event which was given last, so that an event
   * that cannot be read does not take those before it or behind it along.
   * @param {string} text
   * @returns {Generator<{ event: string, data: any }, void>}
   */
  *take(text) {
    const parts = (this.rest + text).split("\n\n");
    this.rest = parts.pop() ?? "";
    for (const part of parts) {
      /** @type {Record<string, string>} */
      const fields = {};
      for (const line of part.split("\n")) {
        const colon = line.indexOf(": ");
        if (colon <= 0) continue;
        const name = line.slice(0, colon);
        const value = line.slice(colon + 2);
        // Data with line breaks comes in several fields.
        fields[name] = name === "data" && fields.data !== undefined ? `${fields.data}\n${value}` : value;
      }
      if (fields.id) this.lastID = fields.id;
      if (fields.event) yield { event: fields.event, data: JSON.parse(fields.data) };
    }
  }

  /** A connection has ended: what was not whole is sent again. */
  reset() { this.rest = ""; }
}

// Milliseconds before the first attempt to connect again.
export const firstPause = 500;

/**
 * The pause after one that was not enough. Somebody who looks wants to see soon that the gateway is back.
 * @param {number} pause
 * @param {boolean} isVisible
 */
export function nextPause(pause, isVisible) {
  return Math.min(pause * 2, isVisible ? 2000 : 15000);
}

/**
 * The event stream, read by fetch because EventSource cannot send the token. Comes back by itself until stop()
 * or until the token is refused.
 */
export class Watcher {
  /**
   * @param {(event: string, data: any) => void} onEvent
   * @param {(state: "connected" | "disconnected") => void} onState
   * @param {string} path of the stream
   */
  constructor(onEvent, onState, path = "/v1/events") {
    this.path = path;
    this.onEvent = onEvent;
    this.onState = onState;
    this.isStopped = false;
    this.pause = firstPause;
    this.parser = new EventParser();
    /** @type {(() => void) | null} */
    this.wake = null;
    /** @type {AbortController | null} */
    this.abort = null;
    this.run();
  }

  stop() {
    this.isStopped = true;
    this.wake?.();
    this.abort?.abort();
  }

  /** Connects again at once: the network has changed, or the device has slept. */
  renew() {
    this.pause = firstPause;
    this.wake?.();
    this.abort?.abort();
  }

  async run() {
    while (!this.isStopped) {
      const isRefused = await this.read();
      if (this.isStopped) return;
      this.onState("disconnected");
      if (isRefused || this.isStopped) return;
      await this.rest();
      this.pause = nextPause(this.pause, document.visibilityState === "visible");
    }
  }

  async rest() {
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, this.pause * (0.75 + Math.random() / 2));
      this.wake = () => {
        clearTimeout(timer);
        resolve(null);
      };
    });
    this.wake = null;
  }

  /** One connection; answers whether the token was refused. */
  async read() {
    const abort = new AbortController();
    this.abort = abort;
    this.parser.reset();
    // A heartbeat comes every 15 seconds; without one the connection is dead.
    let alive = setTimeout(() => abort.abort(), 10000);
    try {
      const { lastID } = this.parser;
      const response = await fetch(this.path, {
        headers: {
          authorization: authorization(), accept: "text/event-stream", ...(lastID ? { "last-event-id": lastID } : {}),
        },
        cache: "no-store", signal: abort.signal,
      });
      learnTime(response.headers);
      if (response.status === 401) {
        tokenRefused();
        return true;
      }
      if (!response.ok || !response.body) return false;
      this.onState("connected");
      this.pause = firstPause;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return false;
        clearTimeout(alive);
        alive = setTimeout(() => abort.abort(), 35000);
        for (const { event, data } of this.parser.take(value)) this.onEvent(event, data);
      }
    } catch {
      return false;
    } finally {
      clearTimeout(alive);
      // Lets go of a connection that was left because of an error in what it brought.
      abort.abort();
    }
  }
}
