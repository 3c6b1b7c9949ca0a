import { APIError, checkConfiguration, getConfigurationSettings, patchCamera, probeCamera, restoreFileCamera } from "./api.js";
import { OutcomeCard } from "./camera-dialog.js";
import { AddressFields, FurtherFields } from "./camera-fields.js";
import { draftOf, entryOf } from "./camera-lines.js";
import { fieldsOf, mask, partsOf, patchOf, sourceOf, substreamOf } from "./camera-model.js";
import { fieldName, outcomeOf, outcomeOfBoth } from "./camera-probe.js";
import { linesOf } from "./config-lines.js";
import { keepEntered, openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
import { lateFault } from "./late-faults.js";
import { LinesCard } from "./lines-card.js";
import { t } from "./text.js";
import { fieldOfSecret, inWords } from "./words.js";

/**
 * Opens the settings of a camera. For a camera of the config file, the dialog also shows the lines to write there instead.
 * @param {string} name
 * @param {import("./types").Camera} camera
 * @param {() => unknown} [changed] called when the settings were changed
 */
export function openCameraSettings(name, camera, changed = () => {}) { return new CameraSettingsDialog(name, camera, changed); }

class CameraSettingsDialog {
  /**
   * @param {string} name
   * @param {import("./types").Camera} camera
   * @param {() => unknown} changed
   */
  constructor(name, camera, changed) {
    this.camera = camera;
    this.changed = changed;
    this.title = t("camera.settings.of", { name });
    const { node, body } = openDialog(this.title, "camera-dialog");
    this.node = node;
    this.addresses = new AddressFields();
    this.further = new FurtherFields();
    this.outcome = new OutcomeCard();
    const fields = fieldsOf(camera);
    this.addresses.fill(fields.address);
    this.addresses.user.value = fields.user;
    if (partsOf(camera.source).password === mask) this.addresses.password.placeholder = t("camera.password.kept");
    if (camera.onvif?.password) this.further.eventPassword.placeholder = t("camera.password.kept");
    if (fields.substreamUser !== "" && partsOf(camera.substream ?? "").password === mask) {
      this.further.substreamPassword.placeholder = t("camera.password.kept");
    }
    this.further.fill(fields);
    let { address } = fields;
    this.addresses.address.addEventListener("change", () => {
      const now = this.addresses.values.address;
      this.further.follow(address, now);
      address = now;
    });
    this.tryButton = new Button("play", t("camera.try"), () => this.attempt(() => this.probe()));
    this.saveButton = element("button", "button primary", t("save"));
    this.saveButton.type = "submit";
    const keep = () => keepEntered(node, () => ({ ...this.addresses.values, ...this.further.values }));
    // Who has copied the lines loses nothing.
    this.lines = new LinesCard(keep);
    this.linesButton = element("button", "button", t("settings.check"));
    this.linesButton.type = "button";
    const form = element("form", "fields", ...this.addresses.nodes, ...this.further.nodes, this.outcome.node,
      element("div", "answers", this.tryButton.node, this.saveButton));
    // Counts what somebody enters, so that an answer about other values is not shown.
    this.edits = 0;
    form.addEventListener("input", () => {
      this.edits += 1;
      this.outcome.clear();
      this.lines.clear();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(() => this.save(), { isChange: true });
    });
    if (camera.origin === "file") {
      body.append(element("p", "notice", t("camera.settings.file")));
      this.linesButton.addEventListener("click", () => { if (form.reportValidity()) this.attempt(() => this.showLines()); });
      form.append(element("div", "answers", this.linesButton), this.lines.node);
    }
    if (camera.origin === "overridden") {
      body.append(element("div", "notice", element("p", "", t("camera.settings.overridden")),
        new Button("back", t("camera.settings.useFile"), () => this.attempt(() => this.useFile(), { isChange: true })).node));
    }
    body.append(form);
    keep();
  }

  get source() { return sourceOf(this.addresses.values, this.camera.source); }

  async probe() {
    const { edits } = this;
    this.outcome.say(t("camera.try.running"));
    const { transport, substream } = this.further.values;
    const { id } = this.camera;
    const probed = await probeCamera({ source: this.source, transport, id });
    if (edits !== this.edits) return;
    const smaller = substreamOf({ ...this.addresses.values, ...this.further.values }, this.camera);
    // A camera that does not answer, or refuses the login, does not have to be asked twice.
    if (substream !== "address" || smaller === null || !probed.reached) {
      this.outcome.show(outcomeOf(probed));
      return;
    }
    try {
      const outcome = outcomeOfBoth(probed, await probeCamera({ source: smaller, transport, id }));
      if (edits === this.edits) this.outcome.show(outcome);
    } catch (error) {
      // The gateway was given the smaller stream's address under the name of the other.
      throw error instanceof APIError ? new APIError(error.status, error.message.replace(/^source: /, "substream: ")) : error;
    }
  }

  /**
   * Brings a person to the password that has to be typed again.
   * @param {string | null} key the setting that it belongs to; null if none does
   */
  focusPassword(key) {
    if (key === "source") this.addresses.focusPassword();
    if (key === "substream") {
      // A password that is shared is typed once, in the camera's own field.
      const { substreamUser, substreamAddress } = this.further.values;
      if (substreamUser === "" && partsOf(substreamAddress).user === "") this.addresses.focusPassword();
      else this.further.substreamPassword.focus();
    }
    if (key?.startsWith("onvif")) {
      const field = this.further.eventPassword;
      field.closest("details")?.setAttribute("open", "");
      field.focus();
    }
  }

  get patch() { return patchOf(this.camera, { ...this.addresses.values, ...this.further.values }); }

  /** Has the gateway check the changes, and shows the lines for the config file. */
  async showLines() {
    this.outcome.clear();
    this.lines.clear();
    const { camera, patch, edits } = this;
    if (Object.keys(patch).length === 0) {
      this.lines.say(t("settings.unchanged"));
      return;
    }
    const [{ problems }, { file, hasFile }] = await Promise.all([checkConfiguration(draftOf(camera, patch)), getConfigurationSettings()]);
    if (edits !== this.edits) return;
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
    if (Object.keys(patch).length > 0) {
      await patchCamera(this.camera.id, patch);
      this.changed();
    }
    this.node.close();
  }

  /** Goes back to what the config file says. */
  async useFile() {
    await restoreFileCamera(this.camera.id);
    this.changed();
    this.node.close();
  }

  /**
   * @param {() => Promise<void>} run
   * @param {{ isChange?: boolean }} options isChange: somebody who has closed the dialog wants to know, too
   */
  async attempt(run, { isChange = false } = {}) {
    const tellLate = lateFault();
    this.disable(true);
    try {
      await run();
    } catch (error) {
      const fault = inWords(error, "add");
      if (!this.node.isConnected) {
        if (isChange) tellLate(this.title, fault);
        return;
      }
      this.outcome.show({ isGood: false, lines: [], ...fault });
      this.focusPassword(fieldOfSecret(error));
    }
    this.disable(false);
  }

  /** @param {boolean} isDisabled */
  disable(isDisabled) {
    for (const button of [this.saveButton, this.tryButton.node, this.linesButton]) button.disabled = isDisabled;
  }
}
