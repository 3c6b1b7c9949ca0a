import { remove, traitsOf } from "./api.js";
import { ask } from "./ask.js";
import { openAddresses } from "./camera-addresses.js";
import { openCameraSettings } from "./camera-edit.js";
import { openDoctor } from "./doctor-dialog.js";
import { Button, element, setText } from "./dom.js";
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
    this.source = element("p");
    this.words = element("p");
    // The buttons are made once: a dialog that closes gives the focus back to the one that has opened it.
    this.details = element("details", "", element("summary", "", t("cameraSettings.settings")),
      element("div", "settings", this.source, this.words, this.buttons()));
    host.place("below", this.details);
  }

  buttons() {
    const { host } = this;
    return element("div", "buttons",
      new Button("edit", t("camera.settings.change"), () => {
        if (host.camera) openCameraSettings(host.device.name, host.camera, this.changed);
      }).node,
      new Button("copy", t("cameraSettings.addresses"), () => openAddresses(host.device, {
        origin: location.origin, rtspPort: this.gateway.rtspPort, rtspIsOpen: this.gateway.rtspIsOpen,
        hasRecordings: traitsOf(host.device).PushAvStreamTransport !== undefined,
      })).node,
      new Button("help", t("cameraSettings.whyCantISeeIt"),
        () => openDoctor({ name: host.device.name, device: host.device, isAdmin: true })).node,
      new Button("bin", t("cameraSettings.removeThisCamera"), async () => {
        if (host.camera) await this.removeCamera(host.camera);
      }).node);
  }

  update() {
    const { camera } = this.host;
    this.details.hidden = camera === undefined;
    // The words go, too: an address may be nobody else's business.
    setText(this.source, camera?.source ?? "");
    const words = camera ? settingsLine(camera) : "";
    setText(this.words, words);
    this.words.hidden = words === "";
  }

  /** @param {import("./types").Camera} camera */
  async removeCamera({ id, origin }) {
    const { host } = this;
    const isOfFile = origin === "file" || origin === "overridden";
    const answer = await ask({
      question: t("cameraSettings.askRemove", { name: host.device.name }), yes: t("cameraSettings.remove"), isDangerous: true,
      details: [t("cameraSettings.removingEffect"), ...(isOfFile ? [t("cameraSettings.removingFileEffect")] : [])],
    });
    if (answer === null) return;
    await host.attempt("remove", () => host.dismiss(() => remove("/v1/cameras/" + encodeURIComponent(id))));
  }
}
