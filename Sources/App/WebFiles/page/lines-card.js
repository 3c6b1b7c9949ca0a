import { copy } from "./camera-addresses.js";
import { Button, element } from "./dom.js";
import { t } from "./text.js";

/**
 * Lines for the config file, which the gateway does not write: a person copies them.
 * @typedef {object} Lines
 * @property {string} text
 * @property {string} file
 * @property {boolean} hasFile whether the gateway was started with that file
 * @property {boolean} isAtOnce whether they take effect without a restart
 * @property {string[]} variables of the environment that stand for passwords
 */

/** The lines that somebody has to write, with a button that copies them. */
export class LinesCard {
  /** @param {() => void} [taken] called when somebody has copied the lines */
  constructor(taken = () => {}) {
    this.words = element("div", "lines-words");
    this.words.setAttribute("role", "status");
    this.field = element("textarea", "lines");
    this.field.readOnly = true;
    this.field.spellcheck = false;
    this.field.setAttribute("aria-label", t("lines.label"));
    this.field.hidden = true;
    this.field.addEventListener("copy", taken);
    this.button = new Button("copy", t("lines.copy"), async () => {
      const isCopied = await copy(this.field);
      this.copied.textContent = isCopied ? t("lines.copied") : t("cameraAddresses.pressCtrlCToCopy");
      if (isCopied) taken();
    });
    this.button.node.hidden = true;
    this.copied = element("p", "");
    this.copied.setAttribute("role", "status");
    this.node = element("div", "lines-card", this.words, this.field, this.button.node, this.copied);
  }

  /** @param {string} text "" for nothing */
  say(text) {
    this.words.replaceChildren(...(text === "" ? [] : [element("p", "", text)]));
    this.field.hidden = this.button.node.hidden = true;
    this.copied.textContent = "";
  }

  clear() { this.say(""); }

  /** @param {Lines} lines */
  show({ text, file, hasFile, isAtOnce, variables }) {
    const then = hasFile ? t(isAtOnce ? "lines.atOnce" : "lines.atRestart") : t("lines.noFile");
    this.words.replaceChildren(
      element("p", "", t("lines.write", { file })), element("p", "", then),
      ...(variables.length > 0 ? [element("p", "", t("lines.variables", { variables: variables.map((one) => `\${${one}}`).join(", ") }))] : []));
    this.field.value = text;
    this.field.rows = text.split("\n").length;
    this.field.hidden = this.button.node.hidden = false;
    this.copied.textContent = "";
    this.node.scrollIntoView({ block: "nearest" });
  }
}
