import { Button, byID, element, faultElements } from "./dom.js";
import { keepFocus } from "./kept-focus.js";
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
    this.told = element("div");
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
   * Shows a fault until somebody closes it, whatever the state is, and whatever else has failed. A view has room for it, too.
   * @param {import("./types").Fault | null} fault null: those that are shown are nobody's any more
   */
  tell(fault) {
    if (!fault) this.told.replaceChildren();
    else {
      const close = new Button("close", t("dialog.close"), () => {
        keepFocus(this.told, () => row.remove());
        this.arrange();
      }, "button compact").node;
      const row = element("div", "told", element("div", "", ...faultElements(fault)), close);
      this.told.append(row);
    }
    this.arrange();
  }

  arrange() {
    this.told.hidden = this.told.firstChild === null;
    this.node.classList.toggle("telling", !this.told.hidden);
    this.node.hidden = this.state.hidden && this.told.hidden;
  }

  hide() { this.show(""); }
}
