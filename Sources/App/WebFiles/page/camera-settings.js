import { remove, traitsOf } from "./api.js";
import { openAddresses } from "./camera-addresses.js";
import { openCameraSettings } from "./camera-edit.js";
import { openDoctor } from "./doctor-dialog.js";
import { Button, element } from "./dom.js";
import { settingsLine } from "./status.js";
import { t } from "./text.js";

/**
 * What the settings of a camera are, and its removal.
 * @param {import("./types").KnownGateway} gateway
 * @param {() => void} changed called when the settings of a camera were changed
 * @returns {import("./panels.js").PanelKind}
 */
export function cameraSettingsPanel(gateway, changed) {
  return {
    name: "camera-settings",
    fits: (device) => device.source !== undefined,
    make: (host) => new CameraSettings(host, gateway, changed),
  };
}

class CameraSettings {
  /**
   * @param {import("./panels.js").Host} host
   * @param {import("./types").KnownGateway} gateway
   * @param {() => void} changed
   */
  constructor(host, gateway, changed) {
    this.host = host;
    this.gateway = gateway;
    this.changed = changed;
    /** @type {import("./types").Camera | undefined} */
    this.shown = undefined;
    this.settings = element("div", "settings");
    this.details = element("details", "", element("summary", "", t("cameraSettings.settings")), this.settings);
    host.place("below", this.details);
  }

  update() {
    const { camera } = this.host;
    this.details.hidden = camera === undefined;
    if (!camera || camera === this.shown) return;
    this.shown = camera;
    const { device } = this.host;
    this.settings.replaceChildren(element("p", "", camera.source));
    const words = settingsLine(camera);
    if (words) this.settings.append(element("p", "", words));
    const buttons = element("div", "buttons",
      new Button("edit", t("camera.settings.change"), () => openCameraSettings(device.name, camera, this.changed)).node,
      new Button("copy", t("cameraSettings.addresses"), () => openAddresses(this.host.device, {
        origin: location.origin, rtspPort: this.gateway.rtspPort, rtspIsOpen: this.gateway.rtspIsOpen,
        hasRecordings: traitsOf(this.host.device).PushAvStreamTransport !== undefined,
      })).node,
      new Button("help", t("cameraSettings.whyCantISeeIt"),
        () => openDoctor({ name: this.host.device.name, device: this.host.device, isAdmin: true })).node);
    buttons.append(new Button("bin", t("cameraSettings.removeThisCamera"), () => this.removeCamera(camera)).node);
    this.settings.append(buttons);
  }

  /** @param {import("./types").Camera} camera */
  async removeCamera({ id, origin }) {
    const { host } = this;
    const isOfFile = origin === "file" || origin === "overridden";
    if (!confirm(t(isOfFile ? "cameraSettings.askRemoveFile" : "cameraSettings.askRemove", { name: host.device.name }))) return;
    host.dismiss();
    await host.attempt("remove", () => remove("/v1/cameras/" + encodeURIComponent(id)));
  }
}
