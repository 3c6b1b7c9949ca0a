import { chime } from "./chime.js";
import { byID, element, icon } from "./dom.js";
import { gatewayTime } from "./gateway-clock.js";
import { isWaiting, Presses, visitorWaits } from "./presses.js";
import { locale, t } from "./text.js";

/** Says on top of the page that somebody is at a door, and rings. */
export class Visitors {
  /**
   * @param {import("./home.js").Home} home
   * @param {import("./views.js").Views} views
   */
  constructor(home, views) {
    this.home = home;
    this.views = views;
    this.node = byID("visitors", HTMLElement);
    this.presses = new Presses();
    /**
     * What the page says of each door, by the doorbell.
     * @type {Map<string, HTMLElement>}
     */
    this.banners = new Map();
  }

  /** Nobody is signed in. Whoever signs in next may see a visitor who still waits, and has not heard the bell. */
  forget() {
    this.node.replaceChildren();
    this.banners.clear();
    this.presses = new Presses();
  }

  /**
   * A stream that continues after a time, and the history, also bring presses of visitors who have gone since.
   * @param {import("./presses.js").Press} press
   */
  show(press) {
    if (!this.presses.isNew(press) || !isWaiting(press, gatewayTime())) return;
    const name = this.home.tiles.get(press.deviceID)?.device.name ?? press.deviceID;
    const time = new Date(press.timestamp).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
    const answer = element("button", "button", t("visitors.answer"));
    answer.type = "button";
    const banner = element("div", "visitor", icon("bell"),
      element("p", "", t("visitors.somebodyIsAtName", { name }), element("small", "", time)), answer);
    answer.addEventListener("click", () => {
      banner.remove();
      if (!this.views.answer(press.deviceID)) this.home.tiles.get(press.deviceID)?.answer();
    });
    // Somebody may wait at another door, too.
    this.banners.get(press.deviceID)?.remove();
    this.banners.set(press.deviceID, banner);
    this.node.append(banner);
    setTimeout(() => banner.remove(), visitorWaits);
    chime();
  }
}
