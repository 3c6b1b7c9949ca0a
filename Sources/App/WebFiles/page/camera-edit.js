import { checkConfiguration, getConfigurationSettings, patchCamera, probeCamera } from "./api.js";
import { OutcomeCard } from "./camera-dialog.js";
import { AddressFields, FurtherFields } from "./camera-fields.js";
import { draftOf, entryOf } from "./camera-lines.js";
import { fieldsOf, mask, partsOf, patchOf, sourceOf } from "./camera-model.js";
import { fieldName, outcomeOf } from "./camera-probe.js";
import { linesOf } from "./config-lines.js";
import { openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
import { LinesCard } from "./lines-card.js";
import { t } from "./text.js";
import { inWords } from "./words.js";

/**
 * Opens the settings of a camera. A camera of the config file is changed there: the dialog checks the changes, and shows the lines.
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
    this.lines = new LinesCard();
    const form = element("form", "fields", ...this.addresses.nodes, ...this.further.nodes, this.outcome.node,
      element("div", "answers", this.tryButton.node, this.saveButton), this.lines.node);
    form.addEventListener("input", () => {
      this.outcome.clear();
      this.lines.clear();
    });
    const isOfFile = camera.origin === "file";
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(() => (isOfFile ? this.showLines() : this.save()));
    });
    if (isOfFile) {
      body.append(element("p", "notice", t("camera.settings.file")));
      this.saveButton.textContent = t("settings.check");
    }
    body.append(form);
  }

  get source() { return sourceOf(this.addresses.values, this.camera.source); }

  async probe() {
    this.outcome.say(t("camera.try.running"));
    const { transport } = this.further.values;
    this.outcome.show(outcomeOf(await probeCamera({ source: this.source, transport, id: this.camera.id })));
  }

  get patch() { return patchOf(this.camera, { ...this.addresses.values, ...this.further.values }); }

  /** Has the gateway check the changes, and shows the lines for the config file. */
  async showLines() {
    this.outcome.clear();
    this.lines.clear();
    const { camera, patch } = this;
    if (Object.keys(patch).length === 0) {
      this.lines.say(t("settings.unchanged"));
      return;
    }
    const [{ problems }, { file, hasFile }] = await Promise.all([checkConfiguration(draftOf(camera, patch)), getConfigurationSettings()]);
    if (problems.length > 0) {
      this.outcome.show({ isGood: false, message: t("settings.refused"), details: null, lines: problems.map(({ key, reason }) => {
        const name = key.replace(/^cameras\[0\]\.?/, "");
        return name === "" ? reason : `${fieldName(name)}: ${reason}`;
      }) });
      return;
    }
    const { sections, variables } = entryOf(camera.id, patch);
    this.lines.show({ text: linesOf(sections), file, hasFile, isAtOnce: true, variables });
  }

  async save() {
    const { patch } = this;
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
