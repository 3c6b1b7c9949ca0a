import { choiceKey, choiceOptions, entityKey, entityOf, fieldWords } from "./candidates.js";
import { clockField, comparisonFields, lastingFields } from "./condition-rows.js";
import { dayFields, drawn, durationField, inputField, partList, selectField } from "./editor-controls.js";
import { Button } from "./dom.js";
import { plain } from "./history-words.js";
import { t } from "./text.js";
import { askedFields, firstValue, valueField } from "./value-fields.js";

/**
 * @typedef {import("./automation-model").AttributeStarter} AttributeStarter
 * @typedef {import("./automation-model").EventStarter} EventStarter
 * @typedef {import("./automation-model").Starter} Starter
 * @typedef {import("./automation-editor.js").Desk} Desk
 */

/**
 * What starts an automation.
 * @param {Starter[]} starters changed in place
 * @param {Desk} desk
 */
export function starterList(starters, desk) {
  return partList({
    parts: starters, noun: t("starterRows.starter"), placed: desk.placed, build: (starter, replace) => starterFields(starter, desk, replace),
    more: (parts, added) => new Button("plus", t("starterRows.addAStarter"), () => {
      parts.push(deviceStarter(desk) ?? { kind: "manual" });
      added();
    }).node,
  });
}

/**
 * What a starter is to a person.
 * @param {Starter} starter
 * @returns {"manual" | "time" | "presence" | "device"}
 */
export function starterKind(starter) {
  if (starter.kind === "manual") return "manual";
  if (starter.kind === "event" && starter.trait === "Time" && starter.entity.structure !== undefined) return "time";
  const { comparison } = starter.kind === "attribute" ? starter : { comparison: null };
  if (starter.trait === "AreaPresenceState" && comparison?.operator === "equals" && starter.kind === "attribute" && starter.seconds === null
    && ["presenceStateOccupied", "presenceStateVacant"].includes(comparison.values[0])) return "presence";
  return "device";
}

/**
 * @param {Desk} desk
 * @param {string} [key] of the entity
 * @param {string} [wanted] what of it
 * @returns {Starter | null} null if nothing can start
 */
function deviceStarter(desk, key, wanted) {
  const entities = desk.candidates.entities("starter");
  const entity = key === undefined ? entities.find(({ device }) => device !== undefined) ?? entities[0] : entityOf(key);
  if (!entity) return null;
  const choices = desk.candidates.choices(entity, "starter");
  const choice = choices.find((one) => one.key === wanted) ?? choices.find(({ isMissing }) => isMissing === "") ?? choices[0];
  if (!choice) return null;
  const { candidate, field } = choice;
  const source = { entity, ...(candidate.deviceTypes[0] === undefined ? {} : { deviceType: candidate.deviceTypes[0] }), trait: candidate.trait };
  if (candidate.kind === "event") return { kind: "event", ...source, event: candidate.event ?? "", parameters: {} };
  return { kind: "attribute", ...source, seconds: null,
    comparison: field ? { field: field.name, operator: "equals", values: [firstValue(field)] } : null };
}

/**
 * @param {Desk} desk
 * @param {Record<string, any>} parameters
 * @param {string} [event]
 * @returns {EventStarter}
 */
function timeStarter(desk, parameters, event = "Scheduled") {
  return { kind: "event", entity: { structure: desk.structureID }, trait: "Time", event, parameters };
}

/**
 * @param {Desk} desk
 * @param {string} value
 * @returns {AttributeStarter}
 */
function presenceStarter(desk, value) {
  return { kind: "attribute", entity: { structure: desk.structureID }, trait: "AreaPresenceState", seconds: null,
    comparison: { field: "presenceState", operator: "equals", values: [value] } };
}

/**
 * @param {Starter} starter changed in place
 * @param {Desk} desk
 * @param {(other: Starter) => void} replace
 */
function starterFields(starter, desk, replace) {
  return drawn("row-fields", (redraw) => {
    const kind = starterKind(starter);
    const chooser = selectField(t("starterRows.when"), "kind", [["device", t("starterRows.aDeviceDoesSomething")], ["time", t("starterRows.itIsTime")],
      ["presence", t("starterRows.somebodyComesOrAllLeave")], ["manual", t("starterRows.somebodyRunsIt")]], kind, (value) => {
      if (value === "manual") replace({ kind: "manual" });
      else if (value === "time") replace(timeStarter(desk, { clockTime: { hours: 8, minutes: 0 } }));
      else if (value === "presence") replace(presenceStarter(desk, "presenceStateVacant"));
      else replace(deviceStarter(desk) ?? { kind: "manual" });
    });
    if (starter.kind === "manual") return [chooser];
    if (kind === "time" && starter.kind === "event") return [chooser, ...timeFields(starter, desk, redraw)];
    if (kind === "presence" && starter.kind === "attribute") {
      return [chooser, selectField(t("starterRows.who"), "presence", [["presenceStateOccupied", t("starterRows.theFirstPersonComesHome")],
        ["presenceStateVacant", t("starterRows.theLastPersonLeaves")]], starter.comparison?.values[0], (value) => {
        if (starter.comparison) starter.comparison.values = [value];
      })];
    }
    return [chooser, ...deviceFields(starter, desk, replace, redraw)];
  });
}

/**
 * @param {AttributeStarter | EventStarter} starter changed in place
 * @param {Desk} desk
 * @param {(other: Starter) => void} replace
 * @param {() => void} redraw
 */
function deviceFields(starter, desk, replace, redraw) {
  const what = entityKey(starter.entity);
  const entities = desk.candidates.entityOptions("starter", desk.nameOf, starter.entity);
  const choices = desk.candidates.choices(starter.entity, "starter");
  const candidate = starter.kind === "event" ? desk.candidates.find(starter, "event", starter.event) : desk.candidates.find(starter, "attributes");
  const key = candidate ? choiceKey(candidate, starter.kind === "event" ? "" : starter.comparison?.field) : "";
  const options = choiceOptions(choices);
  if (!choices.some((one) => one.key === key)) {
    const words = starter.kind === "event" ? plain(starter.event) : starter.comparison
      ? fieldWords(starter.trait, starter.comparison.field) : t("starter.anything", { trait: plain(starter.trait).toLowerCase() });
    options.push([key, words]);
  }
  const change = (/** @type {Starter | null} */ other) => { if (other) replace(other); };
  const nodes = [
    selectField(t("starterRows.device"), "device", entities, what, (value) => change(deviceStarter(desk, value))),
    selectField(t("starterRows.what"), "what", options, key, (value) => change(deviceStarter(desk, what, value)))];
  if (starter.kind === "event") return [...nodes, ...parameterFields(starter, desk)];
  const own = starter.comparison?.field;
  const mode = selectField(t("starterRows.starts"), "mode", [["value", t("starterRows.whenItBecomesAValue")], ["any", t("starterRows.atEachChange")]], starter.comparison ? "value" : "any", (value) => {
    const field = candidate?.fields[0];
    starter.comparison = value === "any" ? null : { field: own ?? field?.name ?? "", operator: "equals", values: [firstValue(field)] };
    starter.seconds = null;
    redraw();
  });
  if (!starter.comparison) return [...nodes, mode];
  return [...nodes, mode, ...comparisonFields(starter.comparison, starter.trait, candidate?.fields.find(({ name }) => name === own), redraw),
    ...lastingFields(starter, redraw)];
}

/**
 * @param {EventStarter} starter changed in place
 * @param {Desk} desk
 */
function parameterFields(starter, desk) {
  const fields = askedFields(desk.candidates.find(starter, "event", starter.event)?.fields ?? [], starter.parameters);
  return fields.map((field) => valueField({ name: `parameter-${field.name}`, trait: starter.trait, field, isOptional: true,
    value: starter.parameters[field.name], changed: (value) => {
      if (value === undefined) delete starter.parameters[field.name];
      else starter.parameters[field.name] = value;
    } }));
}

/**
 * @param {EventStarter} starter changed in place
 * @param {Desk} desk
 * @param {() => void} redraw
 */
function timeFields(starter, desk, redraw) {
  const { parameters } = starter;
  const kind = parameters["cronExpression"] !== undefined ? "rule" : parameters["solarTime"] ? "sun" : "clock";
  /** @type {HTMLElement[]} */
  const nodes = [selectField(t("starterRows.by"), "by", [["clock", t("starterRows.theClock")], ["sun", t("starterRows.theSun")], ["rule", t("starterRows.aRuleCron")]], kind, (value) => {
    const days = parameters["daysOfWeek"] ? { daysOfWeek: parameters["daysOfWeek"] } : {};
    starter.event = value === "rule" ? "RecurringClockTimeScheduled" : "Scheduled";
    starter.parameters = value === "rule" ? { cronExpression: "0 8 * * *" }
      : value === "sun" ? { solarTime: { type: "sunset" }, ...days } : { clockTime: { hours: 8, minutes: 0 }, ...days };
    redraw();
  })];
  if (kind === "rule") {
    nodes.push(inputField(t("starterRows.cronRule"), "rule", "text", parameters["cronExpression"],
      (value) => { parameters["cronExpression"] = value; }, { maxLength: 256, spellcheck: false, required: true }));
  }
  if (kind === "clock" && parameters["clockTime"]) {
    nodes.push(clockField(t("starter.time"), "clock", parameters["clockTime"], (time) => { parameters["clockTime"] = time; }));
  }
  if (parameters["solarTime"]) nodes.push(...sunFields(parameters["solarTime"], desk, redraw));
  if (kind === "rule") return nodes;
  return [...nodes, dayFields(parameters["daysOfWeek"] ?? [], (days) => {
    if (days.length === 0) delete parameters["daysOfWeek"];
    else parameters["daysOfWeek"] = days;
  })];
}

/**
 * @param {{ type: string, offset?: number | null }} sun changed in place
 * @param {Desk} desk
 * @param {() => void} redraw
 * @returns {(HTMLLabelElement | HTMLDivElement)[]}
 */
function sunFields(sun, desk, redraw) {
  const side = !sun.offset ? "at" : sun.offset < 0 ? "before" : "after";
  /** @type {(HTMLLabelElement | HTMLDivElement)[]} */
  const nodes = [
    selectField(t("starterRows.side"), "side", [["at", t("sun.side.at")], ["before", t("sun.side.before")], ["after", t("sun.side.after")]], side, (value) => {
      if (value === "at") delete sun.offset;
      else sun.offset = Math.abs(sun.offset || 1800) * (value === "before" ? -1 : 1);
      redraw();
    }),
    selectField(t("starterRows.sun"), "sun", [["sunrise", t("sun.sunrise")], ["sunset", t("sun.sunset")]], sun.type, (value) => { sun.type = value; })];
  if (side !== "at") {
    nodes.push(durationField(t("starterRows.byHowMuch"), "offset", Math.abs(sun.offset ?? 0), (seconds) => {
      sun.offset = Math.round(seconds) * (side === "before" ? -1 : 1);
    }));
  }
  if (!desk.hasCoordinates) nodes.push(desk.hint(t("starterRows.needsCoordinates")));
  return nodes;
}
