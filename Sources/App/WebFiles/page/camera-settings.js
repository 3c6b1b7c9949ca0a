import { remove } from "./api.js";
import { Button, element } from "./dom.js";
import { settingsLine } from "./status.js";

/**
 * What the settings of a camera are, and its removal.
 * @type {import("./panels.js").PanelKind}
 */
export const cameraSettingsPanel = {
  name: "camera-settings",
  fits: (device) => device.source !== undefined,
  make: (host) => new CameraSettings(host),
};

class CameraSettings {
  /** @param {import("./panels.js").Host} host */
  constructor(host) {
    this.host = host;
    /** @type {import("./types").Camera | undefined} */
    this.shown = undefined;
    this.settings = element("div", "settings");
    this.details = element("details", "", element("summary", "", "Settings"), this.settings);
    host.place("below", this.details);
  }

  update() {
    const { camera } = this.host;
    this.details.hidden = camera === undefined;
    if (!camera || camera === this.shown) return;
    this.shown = camera;
    this.settings.replaceChildren(element("p", "", camera.source));
    const words = settingsLine(camera);
    if (words) this.settings.append(element("p", "", words));
    if (camera.origin !== "file") {
      this.settings.append(new Button("stop", "Remove this camera", () => this.removeCamera(camera.id)).node);
    }
  }

  /** @param {string} id */
  async removeCamera(id) {
    const { host } = this;
    if (!confirm(`Remove ${host.device.name}? Its viewers are disconnected.`)) return;
    host.dismiss();
    await host.attempt("remove", () => remove("/v1/cameras/" + encodeURIComponent(id)));
  }
}
