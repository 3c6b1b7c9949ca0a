import { fieldWords, shapeOf, unitOf } from "./candidates.js";
import { inputField, selectField } from "./editor-controls.js";
import { valueText } from "./automation-words.js";

/** @typedef {import("./types").CandidateField} CandidateField */

/**
 * The value that a field has before somebody chooses one.
 * @param {CandidateField | undefined} field
 * @returns {any}
 */
export function firstValue(field) {
  if (!field) return "";
  const { kind, options, minimum } = shapeOf(field);
  if (kind === "boolean") return true;
  if (kind === "choice") return options.find((one) => !/[uU]nspecified|[uU]nknown/.test(one)) ?? options[0];
  if (kind === "number") return Math.max(minimum ?? 0, 0);
  return "";
}

/**
 * The fields that are asked for. One that takes a record or a list is, if it needs a value or has one: few people write JSON.
 * @param {CandidateField[]} fields
 * @param {Record<string, any>} values what the graph has, perhaps under names that the candidates do not describe
 * @returns {CandidateField[]}
 */
export function askedFields(fields, values) {
  const asked = fields.filter((field) => {
    const { kind, isRequired } = shapeOf(field);
    return kind !== "other" || isRequired || values[field.name] !== undefined;
  });
  const unknown = Object.keys(values).filter((name) => !fields.some((field) => field.name === name));
  return [...asked, ...unknown.map((name) => guessedField(name, values[name]))];
}

/**
 * A control for the value of a field, by what the field takes.
 * @param {object} options
 * @param {string} [options.label]
 * @param {string} options.name
 * @param {string} options.trait
 * @param {CandidateField} options.field
 * @param {any} options.value undefined if it has none
 * @param {boolean} [options.isOptional] whether it may stay without a value
 * @param {(value: any) => void} options.changed undefined if it has none
 */
export function valueField({ label, name, trait, field, value, isOptional = false, changed }) {
  const shape = shapeOf(field);
  const words = label ?? fieldWords(trait, field.name);
  if (shape.kind === "boolean" || shape.kind === "choice") {
    const values = shape.kind === "boolean" ? [true, false] : shape.options;
    /** @type {import("./editor-controls.js").Option[]} */
    const options = values.map((one) => [String(one), valueText(trait, field.name, one)]);
    if (isOptional) options.unshift(["", "–"]);
    return selectField(words, name, options, value === undefined || value === null ? "" : String(value),
      (one) => changed(one === "" ? undefined : shape.kind === "boolean" ? one === "true" : one), !isOptional);
  }
  if (shape.kind === "number") return numberField({ words, name, trait, field, shape, value, isOptional, changed });
  const isText = shape.kind === "text";
  const text = value === undefined ? "" : isText ? String(value) : JSON.stringify(value);
  return inputField(isText ? words : `${words} (JSON)`, name, "text", text,
    (one) => changed(one === "" && !shape.isRequired ? undefined : isText ? one : parsed(one)), { maxLength: 2000, required: !isText && !isOptional });
}

/**
 * @param {{ words: string, name: string, trait: string, field: CandidateField, shape: import("./candidates.js").FieldShape,
 *   value: any, isOptional: boolean, changed: (value: any) => void }} options
 */
function numberField({ words, name, trait, field, shape, value, isOptional, changed }) {
  const { factor, unit } = unitOf(trait, field.name);
  const scaled = (/** @type {number | undefined} */ one) => one === undefined ? "" : String(one / factor);
  return inputField(unit ? `${words} (${unit})` : words, name, "number", typeof value === "number" ? scaled(value) : "", (text) => {
    if (text === "") changed(undefined);
    else changed(shape.isWhole ? Math.round(Number(text) * factor) : Number(text) * factor);
  }, { min: scaled(shape.minimum), max: scaled(shape.maximum), step: shape.isWhole ? String(1 / factor) : "any",
    inputMode: "decimal", required: !isOptional });
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    // The gateway says that the value does not fit.
    return text;
  }
}

/**
 * A field for what a graph has and the candidates do not describe.
 * @param {string} name
 * @param {any} value
 * @returns {CandidateField}
 */
export function guessedField(name, value) {
  const type = typeof value === "boolean" ? "bool" : typeof value === "number" ? "double" : typeof value === "string" ? "string" : "json";
  return { name, type };
}

