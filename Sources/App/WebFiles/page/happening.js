import { element } from "./dom.js";
import { happeningLine, happens } from "./status.js";

/**
 * Says what the camera notices now, or what happened at it last.
 * @type {import("./panels.js").PanelKind}
 */
export const happeningPanel = {
  name: "happening",
  fits: (device) => device.source !== undefined
    || device.endpoints.some(({ traits }) => traits.Switch !== undefined || traits.DoorbellPress !== undefined),
  make: (host) => new Happening(host),
};

class Happening {
  /** @param {import("./panels.js").Host} host */
  constructor(host) {
    this.host = host;
    /** @type {{ name: string, time: Date } | null} */
    this.last = null;
    // The day on which the line was written: a time without a date is one of that day.
    this.day = "";
    this.line = element("p", "happening");
    host.place("about", this.line);
  }

  update() {
    const active = this.host.device.activeDetections ?? [];
    const now = new Date();
    this.day = now.toDateString();
    const text = happeningLine(active, this.last, now);
    this.line.hidden = text === "";
    this.line.textContent = text;
    this.line.classList.toggle("now", active.length > 0);
  }

  /** @param {boolean} isWholeSecond */
  tick(isWholeSecond) { if (isWholeSecond && this.day !== new Date().toDateString()) this.update(); }

  /**
   * An event that comes late from the history does not replace a newer one.
   * @param {string} name
   * @param {any} data
   */
  event(name, data) {
    if (!happens(name)) return;
    const time = new Date(data.timestamp);
    if (this.last && this.last.time > time) return;
    this.last = { name, time };
    this.update();
  }
}
