import { discoverCameras, probeCamera, put } from "./api.js";
import { AddressFields, check, choice, labelled, textField } from "./camera-fields.js";
import { sourceOf } from "./camera-model.js";
import { outcomeOf } from "./camera-probe.js";
import { keepEntered, openDialog } from "./dialog.js";
import { Button, element, faultElements, icon } from "./dom.js";
import { identifier } from "./identifier.js";
import { lateFault } from "./late-faults.js";
import { t } from "./text.js";
import { fieldOfSecret, inWords } from "./words.js";

/**
 * Opens the dialog that adds a camera: those of the network are listed, each is tried before it is added, and why one does not
 * work is said.
 * @param {() => Set<string>} taken gives the keys that there are
 */
export function openCameraDialog(taken) { return new CameraDialog(taken); }

class CameraDialog {
  /** @param {() => Set<string>} taken gives the keys that there are */
  constructor(taken) {
    this.taken = taken;
    const { node, body } = openDialog(t("camera.add"), "camera-dialog");
    this.node = node;
    this.found = element("ul", "found-cameras");
    this.searching = element("p", "nobody");
    this.searching.setAttribute("role", "status");
    this.again = new Button("closer", t("camera.search.again"), () => this.search(), "button compact");
    this.addresses = new AddressFields();
    this.name = textField({ required: true, maxLength: 80, placeholder: t("camera.name.example") });
    this.type = choice({ camera: "camera.type.camera", doorbell: "camera.type.doorbell" });
    this.battery = element("input");
    this.battery.type = "checkbox";
    this.outcome = new OutcomeCard();
    this.addButton = element("button", "button primary", t("camera.add.button"));
    this.addButton.type = "submit";
    this.anywayButton = new Button("save", t("camera.add.anyway"), () => this.attempt(() => this.save()));
    this.anywayButton.node.hidden = true;
    this.form = element("form", "fields", ...this.addresses.nodes, labelled("camera.field.name", this.name),
      labelled("camera.field.type", this.type), check("camera.battery", this.battery), this.outcome.node,
      element("div", "answers", this.anywayButton.node, this.addButton));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(() => this.add());
    });
    // Counts what somebody enters or chooses. What was said about other settings is over.
    this.edits = 0;
    this.form.addEventListener("input", () => this.forget());
    body.append(
      element("section", "search", element("div", "search-head", element("h3", "", t("camera.search.heading")), this.again.node),
        this.searching, this.found),
      element("h3", "", t("camera.address.heading")), this.form);
    keepEntered(node, () => ({ ...this.addresses.values, name: this.name.value, type: this.type.value, battery: this.battery.checked }));
    this.search();
  }

  async search() {
    this.again.node.disabled = true;
    this.found.replaceChildren();
    this.searching.textContent = t("camera.search.running");
    try {
      const cameras = await discoverCameras();
      this.searching.textContent = cameras.length === 0 ? t("camera.search.none") : "";
      this.found.replaceChildren(...cameras.map((camera) => this.row(camera)));
    } catch (error) {
      this.searching.textContent = inWords(error, "search").message;
    }
    this.again.node.disabled = false;
  }

  /** @param {import("./types").FoundCamera} camera */
  row(camera) {
    const { name, model, address } = camera;
    const title = name ?? model ?? address;
    const facts = [model === title ? null : model, address === title ? null : address, camera.camera ? t("camera.search.added") : null];
    const button = element("button", "found-camera", icon("camera"),
      element("span", "", element("strong", "", title), element("small", "", facts.filter(Boolean).join(" · "))));
    button.type = "button";
    button.addEventListener("click", () => this.choose(camera, title));
    return element("li", "", button);
  }

  /**
   * @param {import("./types").FoundCamera} camera
   * @param {string} title
   */
  choose(camera, title) {
    this.addresses.fill(camera.source);
    if (this.name.value === "") this.name.value = title.slice(0, 80);
    this.forget();
    this.addresses.user.focus();
    this.form.scrollIntoView({ block: "nearest" });
  }

  forget() {
    this.edits += 1;
    this.outcome.clear();
    this.anywayButton.node.hidden = true;
    this.addButton.textContent = t("camera.add.button");
  }

  get source() { return sourceOf(this.addresses.values); }

  async add() {
    // A publisher comes by itself, and the built-in cameras always work.
    if (!/^((?:publisher|whip)$|builtin:)/iu.test(this.source)) {
      const { edits } = this;
      this.outcome.say(t("camera.try.running"));
      const outcome = outcomeOf(await probeCamera({ source: this.source }));
      // What somebody has entered since was not tried.
      if (!this.node.isConnected || edits !== this.edits) return;
      this.outcome.show(outcome);
      if (!outcome.isGood) {
        this.addButton.textContent = t("camera.try.again");
        this.anywayButton.node.hidden = false;
        return;
      }
    }
    await this.save();
  }

  async save() {
    const { edits } = this;
    const name = this.name.value.trim();
    const key = identifier(name, this.taken());
    await put("/v1/cameras/" + encodeURIComponent(key), {
      name, source: this.source, type: this.type.value, ...(this.battery.checked ? { battery: true } : {}),
    });
    const { lines } = this.outcome;
    // What somebody has entered since is the next camera.
    if (edits === this.edits) {
      this.form.reset();
      this.addresses.showLogin();
      this.forget();
    }
    this.outcome.say(t("camera.added", { name }), lines);
  }

  /** @param {() => Promise<void>} run */
  async attempt(run) {
    const tellLate = lateFault();
    this.addButton.disabled = true;
    this.anywayButton.node.disabled = true;
    try {
      await run();
    } catch (error) {
      const fault = inWords(error, "add");
      if (!this.node.isConnected) {
        tellLate(t("camera.add"), fault);
        return;
      }
      this.outcome.show({ isGood: false, lines: [], ...fault });
      if (fieldOfSecret(error) !== null) this.addresses.focusPassword();
    }
    this.addButton.disabled = false;
    this.anywayButton.node.disabled = false;
  }
}

/** What came of trying or saving a camera. */
export class OutcomeCard {
  constructor() {
    this.node = element("div", "outcome");
    this.node.setAttribute("role", "status");
    /** @type {string[]} */
    this.lines = [];
    this.clear();
  }

  clear() {
    this.node.hidden = true;
    this.node.replaceChildren();
    this.lines = [];
  }

  /**
   * @param {string} message
   * @param {string[]} [lines]
   */
  say(message, lines = []) {
    this.node.className = "outcome";
    this.node.hidden = false;
    this.node.replaceChildren(element("p", "", message), ...list(lines));
  }

  /** @param {import("./camera-probe.js").Outcome} outcome */
  show({ isGood, message, lines, details }) {
    this.lines = lines;
    this.node.className = `outcome ${isGood ? "good" : "bad"}`;
    this.node.hidden = false;
    const [words, ...further] = faultElements({ message, details });
    this.node.replaceChildren(element("p", "", words), ...list(lines), ...further);
    this.node.scrollIntoView({ block: "nearest" });
  }
}

/** @param {string[]} lines */
function list(lines) { return lines.length > 0 ? [element("ul", "", ...lines.map((line) => element("li", "", line)))] : []; }
