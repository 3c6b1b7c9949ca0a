import { Button, byID, element, faultElements } from "./dom.js";
import { t } from "./text.js";

/**
 * The line above the cameras: what the gateway's state is, and what somebody's last request has led to. It is made again only when
 * it says something else, since it is read out.
 */
export class Notice {
  constructor() {
    this.node = byID("notice", HTMLElement);
    this.key = "";
    this.state = element("div");
    this.told = element("div", "told");
    this.state.hidden = this.told.hidden = true;
    this.node.replaceChildren(this.state, this.told);
  }

  /**
   * @param {string} message
   * @param {string | null} [details]
   */
  show(message, details = null) {
    const key = JSON.stringify([message, details]);
    if (key === this.key) return;
    this.key = key;
    this.state.hidden = message === "";
    this.state.replaceChildren(...(message ? faultElements({ message, details }) : []));
    this.arrange();
  }

  /**
   * Shows a fault until somebody closes it, whatever the state is. A view has room for it, too.
   * @param {import("./types").Fault | null} fault
   */
  tell(fault) {
    this.told.hidden = fault === null;
    this.told.replaceChildren(...(fault ? [element("div", "", ...faultElements(fault)),
      new Button("close", t("dialog.close"), () => this.tell(null), "button compact").node] : []));
    this.node.classList.toggle("telling", fault !== null);
    this.arrange();
  }

  arrange() { this.node.hidden = this.state.hidden && this.told.hidden; }

  hide() { this.show(""); }
}
