import { element } from "./dom.js";
import { t } from "./text.js";

/**
 * What a question says. `no` is the button that changes nothing, and "Cancel" without it.
 * @typedef {{ question: string, details?: string[], yes: string, no?: string, isDangerous?: boolean, field?: { label: string,
 *   type: "password" | "text", value?: string } }} Asked
 */

/**
 * A question that is open.
 * @typedef {object} Question
 * @property {HTMLDialogElement} node closes with the answer no
 * @property {Promise<string | null>} answer what was entered, "" without a field, and null for no
 */

// Questions may be open above each other, and each needs a name of its own.
let count = 0;

/**
 * Opens a question above everything else. Escape and the second button say no. A browser gives the focus back to what had it
 * before.
 * @param {Asked} asked
 * @returns {Question}
 */
export function openQuestion({ question, details = [], yes, no = t("ask.cancel"), isDangerous = false, field }) {
  count += 1;
  const agree = element("button", isDangerous ? "button danger" : "button primary", yes);
  agree.type = "submit";
  const refuse = element("button", "button", no);
  refuse.type = "button";
  const heading = element("h2", "", question);
  heading.id = `question-${count}`;
  const lines = details.map((text) => element("p", "", text));
  for (const [index, line] of lines.entries()) line.id = `${heading.id}-${index}`;
  const form = element("form", "question", heading, ...lines);
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
  const node = element("dialog", "card ask", form);
  node.setAttribute("aria-labelledby", heading.id);
  if (lines.length > 0) node.setAttribute("aria-describedby", lines.map(({ id }) => id).join(" "));
  /** @type {string | null} */
  let entered = null;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    entered = input.value;
    node.close();
  });
  refuse.addEventListener("click", () => node.close());
  // Chromium may close the dialog below with the same Escape. So it does not learn of this key.
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
    event.preventDefault();
    node.close();
  });
  /** @type {Promise<string | null>} */
  const answer = new Promise((resolve) => {
    node.addEventListener("close", () => {
      node.remove();
      resolve(entered);
    });
  });
  document.body.append(node);
  node.showModal();
  if (!field) (isDangerous ? refuse : agree).focus();
  return { node, answer };
}

/**
 * Asks a question in a dialog of the page. The browser's own questions (`confirm`) can be switched off by the person, and then
 * everything that needs one fails silently, or is done without one.
 * @param {Asked} asked
 * @returns {Promise<string | null>} what was entered, "" without a field, and null for no
 */
export function ask(asked) { return openQuestion(asked).answer; }
