/** @typedef {HTMLInputElement | HTMLSelectElement} Control */

/**
 * What the controls of the editor are called.
 * @type {WeakMap<Control, string>}
 */
const names = new WeakMap();

/**
 * A number that is missing. The model of the editor keeps it while somebody clears a field, and saving is refused. It has a sign,
 * unlike NaN: the offset of the sun goes to one side.
 */
export const missingNumber = Infinity;

/**
 * @param {Control} control
 * @param {string} label
 */
export function nameControl(control, label) { names.set(control, label); }

/** @param {Control} control */
function isMissing({ required, value }) { return required && value.trim() === ""; }

/**
 * Marks a control that needs a value and has none, and takes the mark from one that has it.
 * @param {Control} control
 */
export function markMissing(control) {
  if (isMissing(control)) control.setAttribute("aria-invalid", "true");
  else control.removeAttribute("aria-invalid");
}

/**
 * The controls that need a value and have none. They are marked.
 * @param {Element[]} parts of the editor
 * @returns {{ control: Control, words: string }[]} words: what it is called, and in which row it is
 */
export function missingFields(parts) {
  return parts.flatMap((part) => {
    /** @type {NodeListOf<Control>} */
    const controls = part.querySelectorAll("input, select");
    return [...controls].filter(isMissing).map((control) => {
      markMissing(control);
      const row = rowOf(control);
      const label = names.get(control) ?? "";
      return { control, words: row ? `${label} (${row})` : label };
    });
  });
}

/**
 * What the row is called that a control is in; "" if it is in none.
 * @param {Element} control
 */
function rowOf(control) {
  for (let node = control.parentElement; node; node = node.parentElement) {
    if (node.getAttribute("role") === "group") return node.getAttribute("aria-label") ?? "";
  }
  return "";
}
