import { choiceKey, choiceOptions, entityKey, entityOf, fieldWords, shapeOf } from "./candidates.js";
import {
  afterRemoval, checkField, dayFields, drawn, durationField, firstControl, inputField, partList, selectField,
} from "./editor-controls.js";
import { Button, element } from "./dom.js";
import { clockText, operatorWords } from "./automation-words.js";
import { missingNumber } from "./missing-fields.js";
import { t } from "./text.js";
import { firstValue, guessedField, valueField } from "./value-fields.js";

/**
 * @typedef {import("./automation-model").Block} Block
 * @typedef {import("./automation-model").Comparison} Comparison
 * @typedef {import("./automation-model").Operator} Operator
 * @typedef {import("./automation-model").Row} Row
 * @typedef {import("./types").CandidateField} CandidateField
 * @typedef {import("./automation-editor.js").Desk} Desk
 */

/**
 * The operator and the values of a comparison.
 * @param {Comparison} comparison changed in place
 * @param {string} trait
 * @param {CandidateField | undefined} known
 * @param {() => void} redraw
 */
export function comparisonFields(comparison, trait, known, redraw) {
  const field = known ?? guessedField(comparison.field, comparison.values[0]);
  const { kind } = shapeOf(field);
  /** @type {Operator[]} */
  const operators = kind === "number" ? ["equals", "notEquals", "greaterThan", "greaterThanOrEquals", "lessThan", "lessThanOrEquals", "between"]
    : ["equals", "notEquals"];
  if (!operators.includes(comparison.operator)) operators.push(comparison.operator);
  const nodes = [selectField(t("conditionRows.it"), "operator", operators.map((one) => [one, operatorWords(one)]), comparison.operator, (value) => {
    comparison.operator = /** @type {Operator} */ (value);
    const count = value === "between" ? 2 : 1;
    comparison.values = Array.from({ length: count }, (_, index) => comparison.values[index] ?? comparison.values[0]);
    redraw();
  })];
  comparison.values.forEach((value, index) => {
    const label = comparison.values.length === 1 ? t("conditionRows.value") : index === 0 ? t("conditionRows.from") : t("conditionRows.to");
    nodes.push(valueField({ label, name: `value-${index}`, trait, field, value, changed: (one) => {
      // An empty text is a value. An empty field of any other kind has none.
      comparison.values[index] = one ?? (kind === "text" ? "" : null);
    } }));
  });
  return nodes;
}

/**
 * The blocks of conditions.
 * @param {Block[]} blocks changed in place
 * @param {Desk} desk
 */
export function blockList(blocks, desk) {
  return partList({
    parts: blocks, noun: t("conditionRows.condition"), isOrdered: true, placed: desk.placed,
    build: (block) => blockFields(block, desk, true),
    more: (parts, added) => new Button("plus", t("conditionRows.addACondition"), () => {
      parts.push(newBlock(desk));
      added();
    }).node,
  });
}

/**
 * @param {Desk} desk
 * @returns {Block}
 */
export function newBlock(desk) { return { kind: "condition", join: "and", rows: [firstRow(desk)], seconds: null }; }

/**
 * @param {Desk} desk
 * @returns {Row}
 */
function firstRow(desk) {
  const [entity] = desk.candidates.entities("stateReader");
  return entity ? compareRow(desk, entityKey(entity)) : timeRow(desk);
}

/**
 * @param {Desk} desk
 * @returns {Row}
 */
function timeRow(desk) { return { kind: "time", structure: desk.structureID, from: { hours: 22, minutes: 0 }, to: { hours: 6, minutes: 0 } }; }

/**
 * @param {Desk} desk
 * @param {string} key of the entity
 * @param {string} [wanted] what of it
 * @returns {Row}
 */
function compareRow(desk, key, wanted) {
  const choices = desk.candidates.choices(entityOf(key), "stateReader");
  const choice = choices.find((one) => one.key === wanted) ?? choices.find(({ isMissing }) => isMissing === "") ?? choices[0];
  const deviceType = choice?.candidate.deviceTypes[0];
  return { kind: "compare", entity: entityOf(key), ...(deviceType === undefined ? {} : { deviceType }), trait: choice?.candidate.trait ?? "",
    comparison: { field: choice?.field?.name ?? "", operator: "equals", values: [firstValue(choice?.field)] } };
}

/**
 * The rows of a block, how they are joined, and for how long they must hold.
 * @param {Block} block changed in place
 * @param {Desk} desk
 * @param {boolean} mayLast whether it may have to hold for a while
 */
export function blockFields(block, desk, mayLast) {
  return drawn("block", (redraw, marks) => {
    const rows = block.rows.map((row, index) => {
      const replace = (/** @type {Row} */ other) => {
        block.rows[index] = other;
        redraw();
      };
      const node = element("div", "row", rowFields(row, desk, replace), element("div", "box-issues"));
      if (block.rows.length > 1) {
        const bin = new Button("close", t("conditionRows.remove"), () => {
          block.rows.splice(index, 1);
          redraw(...afterRemoval(index));
        }, "button plain");
        marks.set(`remove ${index}`, bin.node);
        bin.node.setAttribute("aria-label", t("conditionRows.removeComparisonNumber", { number: index + 1 }));
        node.append(bin.node);
      }
      marks.set(`new ${index}`, firstControl(node));
      desk.placed(row, node);
      return node;
    });
    /** @type {HTMLElement[]} */
    const parts = [...rows];
    if (rows.length > 1) {
      parts.unshift(selectField(t("conditionRows.ofThese"), "join", [["and", t("conditionRows.allMustHold")], ["or", t("conditionRows.oneMustHold")]], block.join,
        (value) => { block.join = value === "or" ? "or" : "and"; }));
    }
    const add = new Button("plus", t("conditionRows.anotherComparison"), () => {
      block.rows.push(firstRow(desk));
      redraw(`new ${block.rows.length - 1}`);
    }, "button compact").node;
    marks.set("add", add);
    parts.push(add);
    if (mayLast) parts.push(...lastingFields(block, redraw));
    return parts;
  });
}

/**
 * @param {{ seconds: number | null }} part changed in place
 * @param {() => void} redraw
 * @returns {HTMLElement[]}
 */
export function lastingFields(part, redraw) {
  const nodes = [checkField(t("conditionRows.hasDuration"), "lasting", part.seconds !== null, (isChecked) => {
    part.seconds = isChecked ? 60 : null;
    redraw();
  })];
  if (part.seconds === null) return nodes;
  return [...nodes, durationField(t("conditionRows.for"), "for", part.seconds, (seconds) => { part.seconds = seconds; })];
}

/**
 * @param {Row} row changed in place
 * @param {Desk} desk
 * @param {(other: Row) => void} replace
 */
function rowFields(row, desk, replace) {
  return drawn("row-fields", (redraw) => {
    const what = row.kind === "compare" ? entityKey(row.entity) : row.kind;
    /** @type {import("./editor-controls.js").Option[]} */
    const options = [["time", t("conditionRows.timeOfDay")], ["days", t("conditionRows.dayOfTheWeek")],
      ...desk.candidates.entityOptions("stateReader", desk.nameOf, row.kind === "compare" ? row.entity : undefined)];
    const chooser = selectField(t("conditionRows.what"), "what", options, what, (value) => {
      if (value === "time") replace(timeRow(desk));
      else if (value === "days") replace({ kind: "days", structure: desk.structureID, days: ["monday", "tuesday", "wednesday", "thursday", "friday"] });
      else replace(compareRow(desk, value));
    });
    if (row.kind === "days") return [chooser, dayFields(row.days, (days) => { row.days = days; })];
    if (row.kind === "time") return [chooser, ...momentFields(row, "from", t("conditionRows.from"), redraw), ...momentFields(row, "to", t("conditionRows.until"), redraw)];
    const choices = desk.candidates.choices(row.entity, "stateReader");
    const candidate = desk.candidates.find(row, "attributes");
    const key = candidate ? choiceKey(candidate, row.comparison.field) : "";
    const known = choices.find((one) => one.key === key);
    const shown = choiceOptions(choices);
    if (!known) shown.push([key, fieldWords(row.trait, row.comparison.field)]);
    return [chooser, selectField(t("conditionRows.which"), "which", shown, key, (value) => replace(compareRow(desk, what, value))),
      ...comparisonFields(row.comparison, row.trait, known?.field, redraw)];
  });
}

/**
 * @param {import("./automation-model").TimeRow} row changed in place
 * @param {"from" | "to"} end
 * @param {string} label
 * @param {() => void} redraw
 */
function momentFields(row, end, label, redraw) {
  const moment = row[end];
  const kind = typeof moment === "string" ? moment : "clock";
  const nodes = [selectField(label, end, [["clock", t("conditionRows.aTime")], ["sunrise", t("sun.sunrise")], ["sunset", t("sun.sunset")]], kind, (value) => {
    row[end] = value === "sunrise" || value === "sunset" ? value : { hours: 12, minutes: 0 };
    redraw();
  })];
  if (typeof moment === "string") return nodes;
  const words = t("conditionRows.timeOfEnd", { end: label });
  return [...nodes, clockField(words, `${end}-time`, moment, (time) => { row[end] = time; })];
}

/**
 * @param {string} label
 * @param {string} name
 * @param {{ hours: number, minutes: number, seconds?: number }} time with infinite hours if it is missing
 * @param {(time: { hours: number, minutes: number, seconds?: number }) => void} changed
 */
export function clockField(label, name, time, changed) {
  return inputField(label, name, "time", Number.isFinite(time.hours) ? clockText(time) : "", (text) => {
    const [hours, minutes, seconds] = text === "" ? [missingNumber, missingNumber] : text.split(":").map(Number);
    changed({ hours, minutes, ...(seconds ? { seconds } : {}) });
  }, { required: true });
}
