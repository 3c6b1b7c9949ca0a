import { labelled, textField } from "./camera-fields.js";
import { fieldOf, isGroup, listOf } from "./config-lines.js";
import { Button, element } from "./dom.js";
import { t } from "./text.js";

/**
 * @typedef {import("./text.js").TextKey} TextKey
 * @typedef {import("./types").SettingValue} Value
 * @typedef {{ key: string, reason: string }} Problem
 * @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control
 */

let made = 0;

/** A control of a form with its label, and the place for what the gateway says about its value. */
export class Field {
  /**
   * @param {string} path the key of the config, such as "mqtt.port"
   * @param {Control} control
   * @param {HTMLElement} label around the control
   * @param {string} [hint]
   */
  constructor(path, control, label, hint = "") {
    this.path = path;
    this.control = control;
    const id = `setting-${++made}`;
    this.fault = element("p", "error");
    this.fault.id = id;
    this.fault.hidden = true;
    this.node = element("div", "setting", label, this.fault);
    /** @type {string[]} */
    this.descriptions = [];
    if (hint === "") return;
    const words = element("p", "setting-hint", hint);
    words.id = `${id}-hint`;
    this.descriptions.push(words.id);
    this.fault.before(words);
    this.describe();
  }

  describe() {
    const ids = [...this.descriptions, ...(this.fault.hidden ? [] : [this.fault.id])];
    if (ids.length > 0) this.control.setAttribute("aria-describedby", ids.join(" "));
    else this.control.removeAttribute("aria-describedby");
  }

  /** @param {string} text "" for nothing */
  say(text) {
    this.fault.textContent = text;
    this.fault.hidden = text === "";
    if (text === "") this.control.removeAttribute("aria-invalid");
    else this.control.setAttribute("aria-invalid", "true");
    this.describe();
  }
}

/**
 * @param {string} path
 * @param {TextKey} key
 * @param {Value | undefined} value
 * @param {{ placeholder?: string, type?: string, hint?: string }} options
 */
export function lineField(path, key, value, { placeholder = "", type = "text", hint = "" } = {}) {
  const control = textField({ maxLength: 2048, placeholder, type });
  control.value = value === null || value === undefined || value === false ? "" : String(value);
  if (type === "password") control.autocomplete = "new-password";
  if (type === "number") {
    // The gateway says which numbers it takes.
    control.type = "text";
    control.inputMode = "numeric";
  }
  return new Field(path, control, labelled(key, control), hint);
}

/**
 * A list with an entry in each line.
 * @param {string} path
 * @param {TextKey} key
 * @param {Value | undefined} values
 * @param {{ placeholder?: string, hint?: string }} options
 */
export function listField(path, key, values, { placeholder = "", hint = "" } = {}) {
  const control = element("textarea");
  control.rows = 2;
  control.placeholder = placeholder;
  control.spellcheck = false;
  control.autocapitalize = "off";
  control.value = (Array.isArray(values) ? values : []).join("\n");
  return new Field(path, control, labelled(key, control), hint);
}

/**
 * @param {string} path
 * @param {TextKey} key
 * @param {HTMLSelectElement} control
 * @param {string} value
 */
export function choiceField(path, key, control, value) {
  control.value = value;
  return new Field(path, control, labelled(key, control));
}

/**
 * @param {string} path
 * @param {TextKey} key
 * @param {boolean} isChecked
 * @param {string} [hint]
 */
export function switchField(path, key, isChecked, hint = "") {
  const control = element("input");
  control.type = "checkbox";
  control.checked = isChecked;
  return new Field(path, control, element("label", "check", control, element("span", "", t(key))), hint);
}

/** @param {Field} field */
export function isOn({ control }) { return control instanceof HTMLInputElement && control.checked; }

/** @param {Field} field */
export function textOf({ control }) {
  const text = control.value.trim();
  return text === "" ? null : text;
}

/** @param {Field} field */
export function linesOfField({ control }) { return listOf(control.value); }

/**
 * @typedef {object} Column
 * @property {string} key
 * @property {TextKey} label
 * @property {string} [placeholder]
 * @property {string} [type]
 */

/** Entries with several keys, such as servers with their users. */
export class Rows {
  /**
   * @param {string} path
   * @param {TextKey} title
   * @param {TextKey} add
   * @param {Column[]} columns
   * @param {Value | undefined} values
   * @param {Record<string, Value>} fixed keys that each entry has without a field
   */
  constructor(path, title, add, columns, values, fixed = {}) {
    this.path = path;
    this.columns = columns;
    this.fixed = fixed;
    /** @type {{ others: Record<string, Value>, fields: Field[], node: HTMLElement }[]} */
    this.rows = [];
    this.list = element("div", "servers");
    this.addButton = new Button("plus", t(add), () => this.add({}).fields[0]?.control.focus(), "button compact");
    this.node = element("fieldset", "", element("legend", "", t(title)), this.list, this.addButton.node);
    for (const value of Array.isArray(values) ? values : []) if (isGroup(value)) this.add(value);
  }

  /** @param {{ [key: string]: Value }} value */
  add(value) {
    const known = new Set(this.columns.map(({ key }) => key));
    const others = Object.fromEntries(Object.entries(value).filter(([key]) => !known.has(key)));
    const fields = this.columns.map(({ key, label, ...options }) => lineField(key, label, value[key], options));
    const remove = new Button("bin", t("settings.removeRow"), () => {
      this.rows = this.rows.filter((one) => one !== row);
      row.node.remove();
      // The focus does not get lost with the row.
      this.addButton.node.focus();
      this.node.dispatchEvent(new Event("input", { bubbles: true }));
    }, "button compact");
    const row = { others, fields, node: element("div", "server", ...fields.map(({ node }) => node), remove.node) };
    this.rows.push(row);
    this.list.append(row.node);
    return row;
  }

  /** @returns {Value[]} */
  get values() {
    return this.rows.map(({ others, fields }) => ({
      ...this.fixed, ...others,
      ...Object.fromEntries(fields.flatMap((field) => {
        const text = textOf(field);
        return text === null ? [] : [[field.path, text]];
      })),
    }));
  }

  /** The fields of the rows, with the paths that they have now. @returns {{ path: string, field: Field }[]} */
  get places() {
    return this.rows.flatMap(({ fields }, index) => fields.flatMap((field, column) => [
      ...(column === 0 ? [{ path: `${this.path}[${index}]`, field }] : []),
      { path: `${this.path}[${index}].${field.path}`, field },
    ]));
  }
}

/**
 * Shows what the gateway says at the fields that it is about.
 * @param {Problem[]} problems
 * @param {(Field | Rows)[]} fields
 * @returns {{ first: Field | null, others: string[] }} the first field with a problem, and what is about no field
 */
export function tell(problems, fields) {
  const places = fields.flatMap((one) => (one instanceof Rows ? one.places : [{ path: one.path, field: one }]));
  for (const { field } of places) field.say("");
  /** @type {Map<Field, string[]>} */
  const told = new Map();
  /** @type {string[]} */
  const others = [];
  for (const { key, reason } of problems) {
    const found = fieldOf(key, places.map(({ path }) => path));
    const field = places.find(({ path }) => path === found?.path)?.field;
    if (!field || !found) {
      others.push(`${key}: ${reason}`);
      continue;
    }
    const line = /^\[(\d+)\]/.exec(found.rest)?.[1];
    told.set(field, [...(told.get(field) ?? []), line === undefined ? reason : t("settings.inLine", { line: Number(line) + 1, reason })]);
  }
  for (const [field, reasons] of told) field.say(reasons.join(" · "));
  const first = places.find(({ field }) => told.has(field))?.field ?? null;
  return { first, others };
}
