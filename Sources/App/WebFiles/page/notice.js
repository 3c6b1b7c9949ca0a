import { byID, faultElements } from "./dom.js";

/** The line above the cameras. It is made again only when it says something else, since it is read out. */
export class Notice {
  constructor() {
    this.node = byID("notice", HTMLElement);
    this.key = "";
  }

  /**
   * @param {string} message
   * @param {string | null} [details]
   */
  show(message, details = null) {
    const key = JSON.stringify([message, details]);
    if (key === this.key) return;
    this.key = key;
    this.node.hidden = message === "";
    this.node.replaceChildren(...(message ? faultElements({ message, details }) : []));
  }

  hide() { this.show(""); }
}
