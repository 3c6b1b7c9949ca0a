import { element } from "./dom.js";
import { t } from "./text.js";

/**
 * Asks a question in a dialog. Escape and the second button say no.
 * @param {{ question: string, details?: string[], yes: string, isDangerous?: boolean, field?: { label: string,
 *   type: "password" | "text", value?: string } }} options
 * @returns {Promise<string | null>} what was entered, "" without a field, and null for no
 */
export function ask({ question, details = [], yes, isDangerous = false, field }) {
  return new Promise((resolve) => {
    const agree = element("button", isDangerous ? "button danger" : "button primary", yes);
    agree.type = "submit";
    const refuse = element("button", "button", t("ask.cancel"));
    refuse.type = "button";
    const heading = element("h2", "", question);
    heading.id = "question";
    const form = element("form", "question", heading, ...details.map((text) => element("p", "", text)));
    const input = element("input");
    if (field) {
      input.type = field.type;
      input.value = field.value ?? "";
      input.required = true;
      input.maxLength = 64;
      input.autocomplete = "off";
      form.append(element("label", "", field.label, input));
    }
    form.append(element("div", "answers", refuse, agree));
    const dialog = element("dialog", "card ask", form);
    dialog.setAttribute("aria-labelledby", heading.id);
    /** @type {string | null} */
    let answer = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer = input.value;
      dialog.close();
    });
    refuse.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
    if (!field) (isDangerous ? refuse : agree).focus();
  });
}
