import { command, traitsOf } from "./api.js";
import { Button } from "./dom.js";
import { t } from "./text.js";

/**
 * The button of a doorbell.
 * @type {import("./panels.js").PanelKind}
 */
export const doorbellPanel = {
  name: "doorbell",
  fits: (device) => traitsOf(device).DoorbellPress !== undefined,
  make: (host) => {
    const press = () => command(host.device.id, "DoorbellPress", "press");
    const button = new Button("bell", t("doorbell.ring"), () => host.attempt("ring", press), "button compact quiet");
    host.place("controls", button.node);
    return {};
  },
};
