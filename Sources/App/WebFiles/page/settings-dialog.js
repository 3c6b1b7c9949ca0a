import { checkConfiguration, getCameraList, getConfiguration, getConfigurationSettings } from "./api.js";
import { changesOf, linesOf, waitingOf, withVariables } from "./config-lines.js";
import { configurationFault } from "./configuration.js";
import { DialogFault, keepEntered, openDialog } from "./dialog.js";
import { element, faultElements } from "./dom.js";
import { FileCameras } from "./file-cameras.js";
import { LinesCard } from "./lines-card.js";
import { tell } from "./settings-fields.js";
import { mqttForm, networkForm, recordingForm, rtmpForm, rtspForm } from "./settings-forms.js";
import { t } from "./text.js";

/**
 * @typedef {import("./settings-forms.js").SettingsForm} SettingsForm
 * @typedef {import("./types").ConfigurationSettings} ConfigurationSettings
 */

/** Opens the settings of the gateway: what the config file says, and the lines to write for something else. */
export function openSettings() { return new SettingsDialog(); }

class SettingsDialog {
  constructor() {
    const { node, body } = openDialog(t("settings.title"), "settings-dialog");
    this.node = node;
    this.body = body;
    this.fault = new DialogFault();
    /**
     * The forms, and what each said before somebody entered something, or when they copied its lines.
     * @type {Map<SettingsForm, string>}
     */
    this.taken = new Map();
    this.body.append(this.fault.node);
    this.fault.attempt(() => this.load(), { isRead: true });
  }

  async load() {
    const [state, settings, list] = await Promise.all([getConfiguration(), getConfigurationSettings(), getCameraList()]);
    if (!this.node.isConnected) return;
    const files = new FileCameras(list);
    const broken = state.problems.length > 0 ? configurationFault(state) : null;
    this.body.prepend(
      element("p", "nobody", t(settings.hasFile ? "settings.from" : "settings.noFile", { file: settings.file })),
      ...(broken ? [element("div", "notice", ...faultElements(broken))] : []),
      folded(t("settings.cameras"), files.count, ...files.nodes),
      ...[mqttForm, networkForm, rtspForm, rtmpForm, recordingForm].map((make) => this.section(make(settings.settings), settings, state.needsRestart)));
    keepEntered(this.node, () => [...this.taken].some(([form, before]) => saidBy(form) !== before));
  }

  /**
   * @param {SettingsForm} form
   * @param {ConfigurationSettings} settings
   * @param {string[]} needsRestart
   */
  section(form, settings, needsRestart) {
    const waiting = waitingOf(needsRestart, form.fields.map(({ path }) => path));
    const take = () => { this.taken.set(form, saidBy(form)); };
    take();
    const lines = new LinesCard(take);
    const fault = new DialogFault();
    const check = element("button", "button primary", t("settings.check"));
    check.type = "submit";
    const node = element("form", "fields",
      ...(waiting.length > 0 ? [element("p", "notice", t("settings.waiting", { keys: waiting.join(", ") }))] : []),
      ...form.nodes, element("div", "answers", check), fault.node, lines.node);
    node.noValidate = true;
    let edits = 0;
    // What was said about other values is over, and so is what the gateway has still to say about them.
    node.addEventListener("input", () => {
      edits += 1;
      lines.clear();
    });
    node.addEventListener("submit", async (event) => {
      event.preventDefault();
      check.disabled = true;
      lines.clear();
      const asked = edits;
      await fault.attempt(() => showLines(form, settings, lines, fault, () => asked !== edits), { isRead: true });
      check.disabled = false;
    });
    return folded(t(form.title), form.state, node);
  }
}

/** @param {SettingsForm} form */
function saidBy(form) { return JSON.stringify(form.values()); }

/**
 * Has the gateway check what the fields say, and shows the lines for the file.
 * @param {SettingsForm} form
 * @param {ConfigurationSettings} settings
 * @param {LinesCard} lines
 * @param {DialogFault} fault
 * @param {() => boolean} isOver whether the fields say something else by now
 */
async function showLines(form, settings, lines, fault, isOver) {
  const sections = form.values();
  const { problems } = await checkConfiguration(sections);
  if (isOver()) return;
  const { first, others } = tell(problems, form.fields);
  fault.say(others.join(" "));
  first?.control.focus();
  if (problems.length > 0) return;
  const { sections: changes, variables } = withVariables(changesOf(settings.settings, sections), form.variable);
  if (Object.keys(changes).length === 0) {
    lines.say(t("settings.unchanged"));
    return;
  }
  lines.show({ text: linesOf(changes), file: settings.file, hasFile: settings.hasFile, isAtOnce: form.isAtOnce, variables });
}

/**
 * @param {string} title
 * @param {string | Node} state
 * @param {...Node} inside
 */
function folded(title, state, ...inside) {
  return element("details", "section", element("summary", "", element("h3", "", title), element("span", "", state)), ...inside);
}
