import { patchCamera, probeCamera } from "./api.js";
import { OutcomeCard } from "./camera-dialog.js";
import { AddressFields, FurtherFields } from "./camera-fields.js";
import { fieldsOf, mask, partsOf, patchOf, sourceOf } from "./camera-model.js";
import { outcomeOf } from "./camera-probe.js";
import { openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
import { t } from "./text.js";
import { inWords } from "./words.js";

/**
 * Opens the settings of a camera. Those of a camera in the config file are shown, and changed there.
 * @param {string} name
 * @param {import("./types").Camera} camera
 */
export function openCameraSettings(name, camera) { return new CameraSettingsDialog(name, camera); }

class CameraSettingsDialog {
  /**
   * @param {string} name
   * @param {import("./types").Camera} camera
   */
  constructor(name, camera) {
    this.camera = camera;
    const { node, body } = openDialog(t("camera.settings.of", { name }), "camera-dialog");
    this.node = node;
    this.addresses = new AddressFields();
    this.further = new FurtherFields();
    this.outcome = new OutcomeCard();
    const fields = fieldsOf(camera);
    this.addresses.address.value = fields.address;
    this.addresses.user.value = fields.user;
    if (partsOf(camera.source).password === mask) this.addresses.password.placeholder = t("camera.password.kept");
    if (camera.onvif?.password) this.further.eventPassword.placeholder = t("camera.password.kept");
    this.further.fill(fields);
    this.tryButton = new Button("play", t("camera.try"), () => this.attempt(() => this.probe()));
    this.saveButton = element("button", "button primary", t("save"));
    this.saveButton.type = "submit";
    const form = element("form", "fields", ...this.addresses.nodes, ...this.further.nodes, this.outcome.node,
      element("div", "answers", this.tryButton.node, this.saveButton));
    form.addEventListener("input", () => this.outcome.clear());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(() => this.save());
    });
    if (camera.origin === "file") {
      body.append(element("p", "notice", t("camera.settings.file")));
      for (const field of form.querySelectorAll("input, select")) field.setAttribute("disabled", "");
      this.saveButton.hidden = true;
    }
    body.append(form);
  }

  get source() { return sourceOf(this.addresses.values, this.camera.source); }

  async probe() {
    this.outcome.say(t("camera.try.running"));
    const { transport } = this.further.values;
    this.outcome.show(outcomeOf(await probeCamera({ source: this.source, transport, id: this.camera.id })));
  }

  async save() {
    const patch = patchOf(this.camera, { ...this.addresses.values, ...this.further.values });
    if (Object.keys(patch).length > 0) await patchCamera(this.camera.id, patch);
    this.node.close();
  }

  /** @param {() => Promise<void>} run */
  async attempt(run) {
    this.saveButton.disabled = this.tryButton.node.disabled = true;
    try {
      await run();
    } catch (error) {
      this.outcome.show({ isGood: false, lines: [], ...inWords(error, "add") });
    }
    this.saveButton.disabled = this.tryButton.node.disabled = false;
  }
}
