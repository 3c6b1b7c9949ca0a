import { commandWords, fieldWords, unitOf } from "./candidates.js";
import { plain, valueWords } from "./history-words.js";
import { counted, known, locale, t } from "./text.js";

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
  if (isUnderstood === false) return { text: t("automationWords.laterVersion"), level: "warning" };
  if (isPaused) return { text: t("automationWords.startedTooOften"), level: "alarm" };
  if (isRunning) return { text: t("automationWords.running"), level: "good" };
  if (!isValid) return { text: counted(isActive ? "automation.onBut" : "automation.offBut", Math.max(1, wrong)), level: "warning" };
  return isActive ? { text: t("automationWords.on"), level: "good" } : { text: t("automationWords.off"), level: "" };
}

/**
 * To whom an automation of somebody else belongs.
 * @param {Automation} automation
 */
export function ownerWords({ owner }) { return t("automationWords.belongsToOwner", { owner }); }

/** @type {Record<string, string>} */
const ends = {
  completed: t("automationWords.done"), conditionFalse: t("automationWords.aConditionWasNotMet"), stopped: t("automationWords.stopped"), failed: t("automationWords.somethingFailed"), late: t("automationWords.late"),
  missed: t("automationWords.missed"), suppressed: t("automationWords.suppressed"),
  alreadyRunning: t("automationWords.itWasStillRunning"), interrupted: t("automationWords.interrupted"), loopCut: t("automationWords.loopCut"),
  notAuthorised: t("automationWords.notPermitted"), limitReached: t("automationWords.tooManyAutomationsWereRunning"), exhausted: t("automationWords.exhausted"),
};

/** @param {string | undefined} end */
export function endWords(end) { return end === undefined ? t("automationWords.running") : ends[end] ?? plain(end); }

/**
 * How a run ended, or that it goes on.
 * @param {Run} run
 */
export function runWords({ text, end }) { return text || endWords(end); }

/**
 * A moment, as short as it can be: the time of today, else with its day.
 * @param {string | number} time
 * @param {number} now
 */
export function whenWords(time, now) {
  const moment = new Date(time);
  const clock = moment.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const today = new Date(now);
  if (moment.toDateString() === today.toDateString()) return clock;
  const yesterday = new Date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  if (moment.toDateString() === yesterday.toDateString()) return t("automationWords.yesterdayClock", { clock });
  const isThisYear = moment.getFullYear() === today.getFullYear();
  return `${moment.toLocaleDateString(locale, { day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }) })}, ${clock}`;
}

/**
 * A duration, in the largest units that say it exactly.
 * @param {number} seconds
 */
export function durationWords(seconds) {
  const units = /** @type {const} */ ([[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]]);
  const parts = [];
  let rest = Math.abs(seconds);
  for (const [size, name] of units) {
    const count = size === 1 ? Math.round(rest * 1000) / 1000 : Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(counted(`duration.${name}`, count));
  }
  return parts.join(" ") || counted("duration.second", 0);
}

/** @type {Record<string, string>} */
const operators = { equals: t("automationWords.is"), notEquals: t("automationWords.isNot"), greaterThan: t("automationWords.isAbove"), greaterThanOrEquals: t("automationWords.isAtLeast"),
  lessThan: t("automationWords.isBelow"), lessThanOrEquals: t("automationWords.isAtMost"), between: t("automationWords.isBetween"), contains: t("automationWords.contains") };

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
  if (typeof value === "number" && unit) return `${(value / factor).toLocaleString(locale, { maximumFractionDigits: 2 })} ${unit}`;
  return valueWords(trait, field, value);
}

/** @param {{ hours: number, minutes: number, seconds?: number }} time */
export function clockText({ hours, minutes, seconds = 0 }) {
  return [hours, minutes, ...(seconds ? [seconds] : [])].map((part) => String(part).padStart(2, "0")).join(":");
}

/** @param {{ type: string, offset?: number | null }} time */
export function sunText({ type, offset }) {
  const event = known(`sun.${type}`) ?? type;
  if (!offset) return event;
  return t(offset < 0 ? "sun.before" : "sun.after", { duration: durationWords(offset), event });
}

/**
 * The line for a node of a graph.
 * @param {any} node
 * @param {NameOf} nameOf
 * @returns {string}
 */
export function nodeWords(node, nameOf) {
  switch (node?.type) {
    case "manualStarter": return t("automationWords.somebodyRunsIt");
    case "attributeStarter": return t("automation.changes", { trait: plain(node.trait), name: nameOf(node.entity) });
    case "eventStarter": return node.trait === "Time" ? scheduleWords(node.parameters ?? {}) : eventWords(node, nameOf);
    case "stateReader": return t("automation.read", { trait: plain(node.trait).toLowerCase(), name: nameOf(node.entity) });
    case "condition": return node.for === undefined ? t("automationWords.onlyIf") : t("automation.onlyIfFor", { duration: durationWords(node.for) });
    case "if": return t("automationWords.if");
    case "action": return actionWords(node, nameOf);
    case "parallel": return t("automationWords.atTheSameTime");
    case "sequential": return t("automationWords.inOrder");
    case "select": return t("automationWords.oneOf");
    case "delay": return t("automation.wait", { duration: durationWords(node.for) });
    case "suppress": return t("automation.suppress", { duration: durationWords(node.for) });
    default: return t("automationWords.unknownStep");
  }
}

/**
 * @param {{ event: string, entity: any, parameters?: object }} node
 * @param {NameOf} nameOf
 */
function eventWords({ event, entity, parameters = {} }, nameOf) {
  const asked = Object.entries(parameters).map(([name, value]) => `${plain(name).toLowerCase()} ${valueText("", name, value)}`);
  const words = t("automation.eventAt", { event: plain(event), name: nameOf(entity) });
  return words + (asked.length > 0 ? ` (${asked.join(", ")})` : "");
}

/**
 * The name of a day of the week.
 * @param {string} day in the gateway's word
 */
export function dayName(day) { return known(`day.${day.toLowerCase()}`) ?? plain(day); }

/**
 * When a schedule is due.
 * @param {Record<string, any>} parameters
 */
export function scheduleWords({ clockTime, solarTime, daysOfWeek, cronExpression }) {
  const days = Array.isArray(daysOfWeek) && daysOfWeek.length > 0 && daysOfWeek.length < 7
    ? t("schedule.days", { days: daysOfWeek.map((day) => dayName(day)).join(", ") }) : "";
  if (clockTime) return t("schedule.at", { time: clockText(clockTime) }) + days;
  const sun = solarTime ? sunText(solarTime) : "";
  if (sun && !cronExpression) return t("schedule.atSun", { time: sun }) + days;
  return t("schedule.rule", { rule: cronExpression ?? "?" }) + (sun ? t("schedule.alsoAt", { time: sun }) : "");
}

/**
 * @param {any} node
 * @param {NameOf} nameOf
 */
function actionWords({ entity, trait, command, parameters = {}, update }, nameOf) {
  const values = Object.entries(update ?? parameters)
    .map(([name, value]) => `${fieldWords(trait, name).toLowerCase()} ${valueText(trait, name, value)}`);
  const what = update ? t("automation.set", { values: values.join(", ") }) : commandWords(command ?? "");
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
    return node ? t("automation.fieldOf", { field: words, name: nameOf(node.entity) }) : words;
  }
  for (const join of ["and", "or"]) {
    if (Array.isArray(expression[join])) return expression[join].map(inner).join(join === "and" ? t("list.and") : t("list.or"));
  }
  if (Array.isArray(expression.not)) return t("automation.not", { condition: inner(expression.not[0]) });
  const operator = Object.keys(operators).find((name) => Array.isArray(expression[name]));
  if (!operator) return t("automationWords.unknownValue");
  const [left, ...right] = expression[operator];
  const node = nodeOf(left?.of?.reference);
  const values = right.map((/** @type {any} */ one) => one !== null && typeof one === "object" && "constant" in one
    ? valueText(node?.trait ?? "", left?.field ?? "", one.constant) : inner(one));
  return `${inner(left)} ${operatorWords(operator)} ${values.join(` ${t("and")} `)}`;
}
