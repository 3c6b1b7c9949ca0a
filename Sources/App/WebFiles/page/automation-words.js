import { commandWords, fieldWords, unitOf } from "./candidates.js";
import { plain, valueWords } from "./history-words.js";

/**
 * @typedef {import("./types").Automation} Automation
 * @typedef {import("./types").Run} Run
 * @typedef {(entity: import("./automation-model").Entity | undefined) => string} NameOf
 */

/**
 * Whether an automation is on, and what else there is to say first.
 * @param {Automation} automation
 * @returns {{ text: string, level: "" | "good" | "warning" | "alarm" }}
 */
export function stateWords({ isActive, isValid, isRunning, isPaused, isUnderstood, validationIssues }) {
  const wrong = validationIssues.filter(({ severity }) => severity === "error").length || validationIssues.length;
  if (isUnderstood === false) return { text: "Made by a later version, so it does not run", level: "warning" };
  if (isPaused) return { text: "Paused: it started too often. Release it to go on", level: "alarm" };
  if (isRunning) return { text: "Running", level: "good" };
  if (!isValid) return { text: `${isActive ? "On" : "Off"}, but ${wrong > 1 ? `${wrong} parts need` : "a part needs"} attention`, level: "warning" };
  return isActive ? { text: "On", level: "good" } : { text: "Off", level: "" };
}

/**
 * To whom an automation of somebody else belongs.
 * @param {Automation} automation
 */
export function ownerWords({ owner }) { return `Belongs to ${owner}.`; }

/** @type {Record<string, string>} */
const ends = {
  completed: "Done", conditionFalse: "A condition was not met", stopped: "Stopped", failed: "Something failed", late: "Late",
  missed: "Missed, because the gateway was not running", suppressed: "Ignored, as the automation asks for a pause",
  alreadyRunning: "It was still running", interrupted: "Interrupted", loopCut: "Cut, because it started itself again and again",
  notAuthorised: "Not permitted", limitReached: "Too many automations were running", exhausted: "It has run as often as it may",
};

/** @param {string | undefined} end */
export function endWords(end) { return end === undefined ? "Running" : ends[end] ?? plain(end); }

/**
 * When it ran last, and how that ended.
 * @param {Run | null | undefined} run
 * @param {number} now
 */
export function lastRunWords(run, now) {
  if (!run) return "It has not run yet";
  return `${whenWords(run.startedAt, now)}: ${run.text || endWords(run.end)}`;
}

/**
 * A moment, as short as it can be: the time of today, else with its day.
 * @param {string | number} time
 * @param {number} now
 */
export function whenWords(time, now) {
  const moment = new Date(time);
  const clock = moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const today = new Date(now);
  if (moment.toDateString() === today.toDateString()) return clock;
  const yesterday = new Date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  if (moment.toDateString() === yesterday.toDateString()) return `Yesterday, ${clock}`;
  const isThisYear = moment.getFullYear() === today.getFullYear();
  return `${moment.toLocaleDateString([], { day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }) })}, ${clock}`;
}

/**
 * A duration, in the largest units that say it exactly.
 * @param {number} seconds
 */
export function durationWords(seconds) {
  /** @type {[number, string][]} */
  const units = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const parts = [];
  let rest = Math.abs(seconds);
  for (const [size, name] of units) {
    const count = size === 1 ? Math.round(rest * 1000) / 1000 : Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? "" : "s"}`);
  }
  return parts.join(" ") || "0 seconds";
}

/** @type {Record<string, string>} */
const operators = { equals: "is", notEquals: "is not", greaterThan: "is above", greaterThanOrEquals: "is at least",
  lessThan: "is below", lessThanOrEquals: "is at most", between: "is between", contains: "contains" };

/** @param {string} operator */
export function operatorWords(operator) { return operators[operator] ?? operator; }

/**
 * A value as a person says it.
 * @param {string} trait
 * @param {string} field
 * @param {any} value
 * @returns {string}
 */
export function valueText(trait, field, value) {
  if (value !== null && typeof value === "object") {
    if ("hours" in value && "minutes" in value) return clockText(value);
    if (Array.isArray(value)) return value.map((one) => valueText(trait, field, one)).join(", ");
    return Object.entries(value).map(([name, one]) => `${plain(name).toLowerCase()} ${valueText(trait, name, one)}`).join(", ");
  }
  if (typeof value === "string") {
    const state = value.match(/^(?:presenceState|attendanceState)(.+)$/)?.[1];
    return plain(state ?? value).toLowerCase();
  }
  const { factor, unit } = unitOf(trait, field);
  if (typeof value === "number" && unit) return `${value / factor} ${unit}`;
  return valueWords(trait, field, value);
}

/** @param {{ hours: number, minutes: number, seconds?: number }} time */
export function clockText({ hours, minutes, seconds = 0 }) {
  return [hours, minutes, ...(seconds ? [seconds] : [])].map((part) => String(part).padStart(2, "0")).join(":");
}

/** @param {{ type: string, offset?: number | null }} time */
export function sunText({ type, offset }) {
  if (!offset) return type;
  return `${durationWords(offset)} ${offset < 0 ? "before" : "after"} ${type}`;
}

/**
 * The line for a node of a graph.
 * @param {any} node
 * @param {NameOf} nameOf
 * @returns {string}
 */
export function nodeWords(node, nameOf) {
  switch (node?.type) {
    case "manualStarter": return "Somebody runs it";
    case "attributeStarter": return `${plain(node.trait)} of ${nameOf(node.entity)} changes`;
    case "eventStarter": return node.trait === "Time" ? scheduleWords(node.parameters ?? {}) : eventWords(node, nameOf);
    case "stateReader": return `Read ${plain(node.trait).toLowerCase()} of ${nameOf(node.entity)}`;
    case "condition": return node.for === undefined ? "Only if" : `Only if, for ${durationWords(node.for)}`;
    case "if": return "If";
    case "action": return actionWords(node, nameOf);
    case "parallel": return "At the same time";
    case "sequential": return "In order";
    case "select": return "One of";
    case "delay": return `Wait ${durationWords(node.for)}`;
    case "suppress": return `Then do not start again for ${durationWords(node.for)}`;
    default: return "A step that this page does not know";
  }
}

/**
 * @param {{ event: string, entity: any, parameters?: object }} node
 * @param {NameOf} nameOf
 */
function eventWords({ event, entity, parameters = {} }, nameOf) {
  const asked = Object.entries(parameters).map(([name, value]) => `${plain(name).toLowerCase()} ${valueText("", name, value)}`);
  return `${plain(event)} at ${nameOf(entity)}${asked.length > 0 ? ` (${asked.join(", ")})` : ""}`;
}

/**
 * When a schedule is due.
 * @param {Record<string, any>} parameters
 */
export function scheduleWords({ clockTime, solarTime, daysOfWeek, cronExpression }) {
  const days = Array.isArray(daysOfWeek) && daysOfWeek.length > 0 && daysOfWeek.length < 7
    ? `, on ${daysOfWeek.map((day) => plain(day)).join(", ")}` : "";
  if (clockTime) return `At ${clockText(clockTime)}${days}`;
  const sun = solarTime ? sunText(solarTime) : "";
  if (sun && !cronExpression) return `At ${sun}${days}`;
  return `By the rule ${cronExpression ?? "?"}${sun ? `, at ${sun}` : ""}`;
}

/**
 * @param {any} node
 * @param {NameOf} nameOf
 */
function actionWords({ entity, trait, command, parameters = {}, update }, nameOf) {
  const values = Object.entries(update ?? parameters)
    .map(([name, value]) => `${fieldWords(trait, name).toLowerCase()} ${valueText(trait, name, value)}`);
  const what = update ? `Set ${values.join(", ")}` : commandWords(command ?? "");
  return `${what}: ${nameOf(entity)}${!update && values.length > 0 ? ` (${values.join(", ")})` : ""}`;
}

/**
 * An expression in words.
 * @param {any} expression
 * @param {(id: string) => any} nodeOf the starter or reader of this name
 * @param {NameOf} nameOf
 * @returns {string}
 */
export function expressionWords(expression, nodeOf, nameOf) {
  if (expression === null || typeof expression !== "object") return "?";
  const inner = (/** @type {any} */ one) => expressionWords(one, nodeOf, nameOf);
  if ("constant" in expression) return valueText("", "", expression.constant);
  if (typeof expression.field === "string") {
    const node = nodeOf(expression.of?.reference);
    const words = fieldWords(node?.trait ?? "", expression.field);
    return node ? `${words} of ${nameOf(node.entity)}` : words;
  }
  for (const join of ["and", "or"]) {
    if (Array.isArray(expression[join])) return expression[join].map(inner).join(join === "and" ? ", and " : ", or ");
  }
  if (Array.isArray(expression.not)) return `not (${inner(expression.not[0])})`;
  const operator = Object.keys(operators).find((name) => Array.isArray(expression[name]));
  if (!operator) return "something that this page does not know";
  const [left, ...right] = expression[operator];
  const node = nodeOf(left?.of?.reference);
  const values = right.map((/** @type {any} */ one) => one !== null && typeof one === "object" && "constant" in one
    ? valueText(node?.trait ?? "", left?.field ?? "", one.constant) : inner(one));
  return `${inner(left)} ${operatorWords(operator)} ${values.join(" and ")}`;
}
