import { post, sourceOf } from "./api.js";
import { Button } from "./dom.js";
import { t } from "./text.js";

/**
 * Connects to a camera at once. The next attempt may be an hour away.
 * @type {import("./panels.js").PanelKind}
 */
export const cameraConnectionPanel = {
  name: "camera-connection",
  fits: (device) => device.source !== undefined,
  make: (host) => {
    const connect = async () => {
      if (host.camera) await post(`/v1/cameras/${encodeURIComponent(host.camera.id)}/reconnect`);
    };
    const button = new Button("camera", t("cameraConnection.connectNow"), () => host.attempt("connect", connect), "button compact");
    host.place("controls", button.node);
    return {
      update: () => {
        const { camera, device } = host;
        // A publisher comes by itself.
        const waits = ["backingOff", "givenUp"].includes(sourceOf(device).state) && camera && camera.source !== "publisher";
        button.node.hidden = !waits;
      },
    };
  },
};
