import { mask } from "./camera-model.js";

/**
 * @typedef {import("./types").SettingValue} Value
 * @typedef {Record<string, Value>} Sections
 */

/**
 * @param {Value | undefined} value
 * @returns {value is { [key: string]: Value }}
 */
export function isGroup(value) { return typeof value === "object" && value !== null && !Array.isArray(value); }

/**
 * The keys that differ. A section that is switched on or off is there as a whole.
 * @param {Sections} before
 * @param {Sections} after
 * @returns {Sections} null takes a key back to its default
 */
export function changesOf(before, after) {
  /** @type {Sections} */
  const changes = {};
  for (const [name, now] of Object.entries(after)) {
    const was = before[name];
    if (!isGroup(now)) {
      if (!isSame(now, was)) changes[name] = now;
    } else if (isGroup(was)) {
      const keys = Object.entries(now).filter(([key, value]) => !isSame(value, was[key]));
      if (keys.length > 0) changes[name] = Object.fromEntries(keys);
    } else {
      changes[name] = withoutNulls(now);
    }
  }
  return changes;
}

/**
 * Whether both mean the same: a key without a value is one that is not there, and the order of keys does not matter.
 * @param {Value | undefined} one
 * @param {Value | undefined} other
 */
function isSame(one, other) { return inOrder(one) === inOrder(other); }

/**
 * @param {Value | undefined} value
 * @returns {string}
 */
function inOrder(value) {
  if (Array.isArray(value)) return `[${value.map(inOrder).join()}]`;
  if (!isGroup(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value).filter((key) => value[key] !== null).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${inOrder(value[key])}`).join()}}`;
}

/**
 * @param {{ [key: string]: Value }} group
 * @returns {{ [key: string]: Value }}
 */
function withoutNulls(group) { return Object.fromEntries(Object.entries(group).filter(([, value]) => value !== null)); }

/** The keys in which the gateway replaces `${NAME}` with an environment variable. In all others the text is literal. */
const referring = new Set(["mqtt.username", "mqtt.password", "network.turn.username", "network.turn.credential", "cameras.source",
  "cameras.substream", "cameras.onvif.url", "cameras.onvif.username", "cameras.onvif.password"]);

/**
 * The sections as the config file has them: with an environment variable for each secret that the page does not know, and
 * with `$${` for a `${` that is part of a text. The gateway refuses a file with a variable that is not set, so that no password
 * becomes three asterisks.
 * @param {Sections} sections
 * @param {string} variable such as "MQTT_PASSWORD"
 * @returns {{ sections: Sections, variables: string[] }}
 */
export function withVariables(sections, variable) {
  /** @type {string[]} */
  const variables = [];
  /** @type {(one: Value, path: string) => Value} */
  const fill = (one, path) => {
    if (Array.isArray(one)) return one.map((inside) => fill(inside, path));
    if (isGroup(one)) return fillGroup(one, `${path}.`);
    if (typeof one !== "string" || !referring.has(path)) return one;
    // A function, because `$$` in a replacement means a single `$`.
    const text = one.replaceAll("${", () => "$${");
    if (!text.includes(mask)) return text;
    const name = variables.length === 0 ? variable : `${variable}_${variables.length + 1}`;
    variables.push(name);
    return text.replaceAll(mask, () => `\${${name}}`);
  };
  /** @type {(group: { [key: string]: Value }, path: string) => { [key: string]: Value }} */
  const fillGroup = (group, path) => Object.fromEntries(Object.entries(group).map(([key, inside]) => [key, fill(inside, path + key)]));
  return { sections: fillGroup(sections, ""), variables };
}

/**
 * The name of the variable for the password of a camera.
 * @param {string} id
 */
export function variableOf(id) {
  const name = id.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
  return `${/^\d/.test(name) ? "CAMERA_" : ""}${name}_PASSWORD`;
}

/**
 * Settings as lines of the config file.
 * @param {Sections} sections
 */
export function linesOf(sections) { return `${linesOfGroup(sections, "").join("\n")}\n`; }

/**
 * @param {{ [key: string]: Value }} group
 * @param {string} indent
 * @returns {string[]}
 */
function linesOfGroup(group, indent) {
  /** @type {string[]} */
  const lines = [];
  for (const [name, value] of Object.entries(group)) {
    const key = indent + keyOf(name);
    if (isGroup(value) && Object.keys(value).length > 0) {
      lines.push(`${key}:`, ...linesOfGroup(value, `${indent}  `));
    } else if (Array.isArray(value) && value.some(isGroup)) {
      lines.push(`${key}:`, ...value.flatMap((one) => linesOfElement(one, `${indent}  `)));
    } else {
      lines.push(`${key}: ${inOneLine(value)}`);
    }
  }
  return lines;
}

/**
 * An element of a list, after a dash.
 * @param {Value} value
 * @param {string} indent
 */
function linesOfElement(value, indent) {
  if (!isGroup(value) || Object.keys(value).length === 0) return [`${indent}- ${inOneLine(value)}`];
  const [first, ...others] = linesOfGroup(value, `${indent}  `);
  return [`${indent}- ${first?.trimStart() ?? ""}`, ...others];
}

/**
 * @param {Value} value
 * @returns {string}
 */
function inOneLine(value) {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(", ")}]`;
  if (isGroup(value)) return `{${Object.entries(value).map(([key, one]) => `${keyOf(key)}: ${inOneLine(one)}`).join(", ")}}`;
  return typeof value === "string" ? quoted(value) : String(value);
}

/**
 * Words that YAML takes for something else, such as "no", and names of people are quoted.
 * @param {string} name
 */
function keyOf(name) { return /^[a-z][A-Za-z0-9]+$/.test(name) && !/^(?:yes|no|on|off|true|false|null)$/i.test(name) ? name : quoted(name); }

/**
 * A text in double quotes. What ends a line in YAML, and not in JSON, is escaped too.
 * @param {string} text
 */
function quoted(text) {
  return JSON.stringify(text)
    .replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * What somebody has typed into a field for a number. Other text stays as it is, and the gateway says what it expects.
 * @param {string} typed
 * @returns {number | string | null} null for nothing
 */
export function numberOf(typed) {
  const text = typed.trim();
  if (text === "") return null;
  return /^-?\d{1,9}$/.test(text) ? Number(text) : text;
}

/**
 * The lines of a field, without empty ones.
 * @param {string} typed
 */
export function listOf(typed) { return typed.split(/[\n,]/).map((line) => line.trim()).filter(Boolean); }

/**
 * Which field a problem is about.
 * @param {string} key such as "network.stun[1]"
 * @param {string[]} paths of the fields
 * @returns {{ path: string, rest: string } | null} the longest path that leads to the key, and what follows it
 */
export function fieldOf(key, paths) {
  const [path] = paths.filter((one) => key === one || key.startsWith(`${one}.`) || key.startsWith(`${one}[`))
    .sort((one, other) => other.length - one.length);
  return path === undefined ? null : { path, rest: key.slice(path.length) };
}

/**
 * The keys that are changed in the file and not in force yet, of those that a form is about.
 * @param {string[]} keys as the gateway says them: a section, or a key of it
 * @param {string[]} paths of the form's fields
 */
export function waitingOf(keys, paths) {
  return keys.filter((key) => paths.some((path) => path === key || path.startsWith(`${key}.`)));
}
