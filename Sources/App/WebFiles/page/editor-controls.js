import { Button, element } from "./dom.js";
import { markMissing, missingNumber, nameControl } from "./missing-fields.js";
import { locale, lower, t } from "./text.js";

// Counts the controls, each of which has a label of its own.
let fields = 0;

/** @typedef {[value: string, words: string, isDisabled?: boolean]} Option */
/** @typedef {(...wanted: string[]) => void} Redraw wanted: the marks that may have the focus, the first one at best */
/** @typedef {Map<string, HTMLElement | null>} Marks what may have the focus when a part was drawn again */

/**
 * A control with its label. The name finds it again after its row was drawn again.
 * @param {string} label
 * @param {HTMLInputElement | HTMLSelectElement} control
 * @param {string} name
 */
export function labelled(label, control, name) {
  control.name = name;
  fields += 1;
  control.id = `field-${fields}`;
  nameControl(control, label);
  const text = element("label", "", label);
  text.htmlFor = control.id;
  return element("div", "field", text, control);
}

/**
 * @param {string} label
 * @param {string} name
 * @param {Option[]} options
 * @param {string} value one that is missing among the options is added
 * @param {(value: string) => void} changed
 * @param {boolean} [isRequired]
 */
export function selectField(label, name, options, value, changed, isRequired = false) {
  const control = element("select");
  control.required = isRequired;
  for (const [one, words, isDisabled] of options) {
    const option = new Option(words, one);
    option.disabled = isDisabled === true;
    control.append(option);
  }
  if (!options.some(([one]) => one === value)) control.prepend(new Option(value === "" ? t("editorControls.choose") : value, value));
  control.value = value;
  control.addEventListener("change", () => {
    markMissing(control);
    changed(control.value);
  });
  return labelled(label, control, name);
}

/**
 * @param {string} label
 * @param {string} name
 * @param {string} type of the input
 * @param {string} value
 * @param {(value: string) => void} changed
 * @param {Partial<HTMLInputElement>} [settings]
 */
export function inputField(label, name, type, value, changed, settings = {}) {
  const control = element("input");
  control.type = type;
  Object.assign(control, { autocomplete: "off", ...settings });
  control.value = value;
  control.addEventListener("input", () => {
    markMissing(control);
    changed(control.value);
  });
  return labelled(label, control, name);
}

/**
 * @param {string} label
 * @param {string} name
 * @param {boolean} isChecked
 * @param {(isChecked: boolean) => void} changed
 */
export function checkField(label, name, isChecked, changed) {
  const control = element("input");
  control.type = "checkbox";
  control.checked = isChecked;
  control.name = name;
  control.addEventListener("change", () => changed(control.checked));
  return element("label", "check", control, ` ${label}`);
}

/** @type {[string, number][]} */
const units = [[t("editorControls.seconds"), 1], [t("editorControls.minutes"), 60], [t("editorControls.hours"), 3600]];

/**
 * A duration: a number and its unit.
 * @param {string} label
 * @param {string} name
 * @param {number} seconds infinite if it is missing
 * @param {(seconds: number) => void} changed
 */
export function durationField(label, name, seconds, changed) {
  const fitting = [...units].reverse().find(([, size]) => seconds % size === 0 && seconds >= size) ?? units[0];
  let size = fitting[1];
  const amount = element("input");
  Object.assign(amount, { type: "number", min: "0", step: "any", required: true, inputMode: "decimal",
    value: Number.isFinite(seconds) ? String(seconds / size) : "" });
  const unit = element("select");
  unit.setAttribute("aria-label", t("control.unit", { name: label }));
  unit.name = `${name}-unit`;
  unit.append(...units.map(([words, one]) => new Option(words, String(one))));
  unit.value = String(size);
  const tell = () => changed(amount.value === "" ? missingNumber : Math.round(Number(amount.value) * size * 1000) / 1000);
  amount.addEventListener("input", () => {
    markMissing(amount);
    tell();
  });
  unit.addEventListener("change", () => {
    size = Number(unit.value);
    tell();
  });
  return element("div", "field duration", labelled(label, amount, name), unit);
}

/**
 * Check boxes for the days of the week.
 * @param {string[]} chosen
 * @param {(days: string[]) => void} changed
 */
export function dayFields(chosen, changed) {
  const days = new Set(chosen);
  const words = new Intl.DateTimeFormat(locale, { weekday: "short", timeZone: "UTC" });
  // January 1, 2024 was a Monday.
  const boxes = weekdays.map((day, index) => {
    const label = words.format(Date.UTC(2024, 0, 1 + index));
    return checkField(label, day, days.has(day), (isChecked) => {
      if (isChecked) days.add(day);
      else days.delete(day);
      changed(weekdays.filter((one) => days.has(one)));
    });
  });
  const node = element("fieldset", "days", element("legend", "", t("editorControls.days")), ...boxes);
  return node;
}

export const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/**
 * A part of the editor that is drawn again when what it shows becomes something else. The control that had the focus has it
 * again. A button that adds, moves or removes something is gone then. It names the marks that may have the focus instead: the
 * first one that can have it gets it.
 * @param {string} className
 * @param {(redraw: Redraw, marks: Marks) => Node[]} build
 * @returns {HTMLDivElement}
 */
export function drawn(className, build) {
  const node = element("div", className);
  /** @type {Marks} */
  const marks = new Map();
  /** @param {string} name */
  const controls = (name) => {
    /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */
    const all = node.querySelectorAll("input, select");
    return [...all].filter((one) => one.name === name);
  };
  /** @type {Redraw} */
  const draw = (...wanted) => {
    const held = document.activeElement;
    const isControl = node.contains(held) && (held instanceof HTMLInputElement || held instanceof HTMLSelectElement);
    const name = isControl ? held.name : "";
    // Each row has a control of this name.
    const place = isControl ? controls(name).indexOf(held) : -1;
    marks.clear();
    node.replaceChildren(...build(draw, marks));
    const marked = wanted.map((mark) => marks.get(mark)).find((one) => one && !(one instanceof HTMLButtonElement && one.disabled));
    (marked ?? controls(name)[place])?.focus();
  };
  draw();
  return node;
}

/**
 * What takes the focus in something new: its first field, or the button that adds one.
 * @param {HTMLElement} node
 */
export function firstControl(node) {
  /** @type {HTMLElement | null} */
  const field = node.querySelector("select, input");
  return field ?? [...node.querySelectorAll("button")].at(-1) ?? null;
}

/**
 * Parts of a list, each in a box with the buttons that move and remove it.
 * @template {object} Part
 * @param {object} options
 * @param {Part[]} options.parts changed in place
 * @param {string} options.noun what one is called for those who hear the page
 * @param {(part: Part, replace: (other: Part) => void) => Node} options.build
 * @param {(parts: Part[], added: () => void) => HTMLElement} options.more what adds one
 * @param {(part: Part, node: HTMLElement) => void} options.placed tells where a part is shown
 * @param {boolean} [options.isOrdered] whether their order counts
 */
export function partList({ parts, noun, build, more, placed, isOrdered = false }) {
  return drawn("parts-list", (redraw, marks) => {
    const boxes = parts.map((part, index) => {
      const replace = (/** @type {Part} */ other) => {
        parts[parts.indexOf(part)] = other;
        redraw();
      };
      const move = (/** @type {number} */ by) => {
        parts.splice(index, 1);
        parts.splice(index + by, 0, part);
        // At an end of the list, the button that was pressed can do no more.
        const place = index + by;
        redraw(...by < 0 ? [`up ${place}`, `down ${place}`] : [`down ${place}`, `up ${place}`]);
      };
      const head = element("div", "box-head", element("span", "", `${noun} ${index + 1}`));
      if (isOrdered && parts.length > 1) {
        const up = small("up", t("editor.moveUp", { noun: lower(noun), number: index + 1 }), () => move(-1));
        const down = small("down", t("editor.moveDown", { noun: lower(noun), number: index + 1 }), () => move(1));
        up.disabled = index === 0;
        down.disabled = index === parts.length - 1;
        marks.set(`up ${index}`, up).set(`down ${index}`, down);
        head.append(up, down);
      }
      const bin = small("close", t("editor.remove", { noun: lower(noun), number: index + 1 }), () => {
        parts.splice(index, 1);
        redraw(...afterRemoval(index));
      });
      marks.set(`remove ${index}`, bin);
      head.append(bin);
      const box = element("div", "box", head, build(part, replace), element("div", "box-issues"));
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", `${noun} ${index + 1}`);
      marks.set(`new ${index}`, firstControl(box));
      placed(part, box);
      return box;
    });
    const add = more(parts, () => redraw(`new ${parts.length - 1}`, "add"));
    marks.set("add", add);
    return [...boxes, add];
  });
}

/**
 * The marks for the focus when a row was removed: the button that removes what is in its place now, or the row before.
 * @param {number} index
 */
export function afterRemoval(index) { return [`remove ${index}`, `remove ${index - 1}`, "add"]; }

/**
 * @param {import("./dom.js").Shape} shape
 * @param {string} label
 * @param {() => void} action
 */
function small(shape, label, action) {
  const { node } = new Button(shape, label, action, "button plain");
  node.setAttribute("aria-label", label);
  return node;
}
