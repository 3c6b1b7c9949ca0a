import { plain } from "./history-words.js";
import { kindName } from "./kinds.js";
import { t } from "./text.js";

/**
 * @typedef {import("./automation-model").Entity} Entity
 * @typedef {import("./types").Candidate} Candidate
 * @typedef {import("./types").CandidateField} CandidateField
 * @typedef {import("./editor-controls.js").Option} Option
 * @typedef {"starter" | "stateReader" | "action"} Role
 */

/**
 * What a field of a candidate takes, for the control that asks for it.
 * @typedef {{ kind: "boolean" | "choice" | "number" | "text" | "other", options: string[], minimum?: number,
 *   maximum?: number, isWhole: boolean, isRequired: boolean }} FieldShape
 */

/**
 * One thing to choose for an entity: an attribute, an event or a command.
 * @typedef {{ key: string, words: string, label: string, candidate: Candidate,
 *   field?: CandidateField, isMissing: string }} Choice
 */

/** What a home offers to automations. */
export class Candidates {
  /** @param {Candidate[]} list */
  constructor(list) {
    this.list = list;
    /** @type {Map<string, Candidate[]>} */
    this.byEntity = new Map();
    for (const candidate of list) {
      const key = entityKey(candidate.entity);
      this.byEntity.set(key, [...this.byEntity.get(key) ?? [], candidate]);
    }
  }

  /**
   * The entities that have something for a role.
   * @param {Role} role
   * @returns {Entity[]}
   */
  entities(role) {
    return [...this.byEntity.values()].filter((own) => own.some(({ roles }) => roles.includes(role)))
      .map(([{ entity }]) => entity);
  }

  /**
   * The entities that have something for a role, as options of a field, and the one that is chosen.
   * @param {Role} role
   * @param {(entity: Entity) => string} nameOf
   * @param {Entity} [chosen]
   * @returns {Option[]}
   */
  entityOptions(role, nameOf, chosen) {
    const entities = this.entities(role);
    if (chosen && !entities.some((entity) => entityKey(entity) === entityKey(chosen))) entities.push(chosen);
    return entities.map((entity) => /** @type {[string, string]} */ ([entityKey(entity), nameOf(entity)]))
      .sort(([, one], [, other]) => one.localeCompare(other, undefined, { numeric: true }));
  }

  /**
   * What can be chosen for an entity: an attribute at a time, each event, each command, and the writing of attributes.
   * @param {Entity} entity
   * @param {Role} role
   * @returns {Choice[]}
   */
  choices(entity, role) {
    const choices = this.allChoices(entity, role);
    // Two parts of a device may have the same trait.
    for (const choice of choices) {
      const isAlone = choices.filter(({ words }) => words === choice.words).length === 1;
      choice.label = isAlone ? choice.words : `${choice.words} (${kindName(choice.candidate.deviceTypes[0] ?? "")})`;
      if (choice.isMissing) choice.label += ` (${choice.isMissing})`;
    }
    return choices;
  }

  /**
   * @param {Entity} entity
   * @param {Role} role
   * @returns {Choice[]}
   */
  allChoices(entity, role) {
    return (this.byEntity.get(entityKey(entity)) ?? []).filter(({ roles }) => roles.includes(role)).flatMap((candidate) => {
      if (candidate.kind === "command") {
        return [made(candidate, commandWords(candidate.command ?? ""))];
      }
      if (candidate.kind === "event") {
        return [made(candidate, plain(candidate.event ?? ""))];
      }
      if (role === "action") return [made(candidate, t("automation.set", { values: plain(candidate.trait).toLowerCase() }))];
      return candidate.fields.map((field) => made(candidate, fieldWords(candidate.trait, field.name), field));
    });
  }

  /**
   * The candidate for a trait of a part of an entity.
   * @param {{ entity: Entity, deviceType?: string, trait: string }} source
   * @param {Candidate["kind"]} kind
   * @param {string} [name] of its command or event
   */
  find({ entity, deviceType, trait }, kind, name) {
    return (this.byEntity.get(entityKey(entity)) ?? []).find((one) => one.kind === kind && one.trait === trait
      && (deviceType === undefined || one.deviceTypes.includes(deviceType))
      && (name === undefined || one.command === name || one.event === name));
  }
}

/**
 * @param {Candidate} candidate
 * @param {string} words
 * @param {CandidateField} [field]
 * @returns {Choice}
 */
function made(candidate, words, field) {
  return { key: choiceKey(candidate, field?.name), words, label: words, candidate, isMissing: missingWords(candidate), ...(field ? { field } : {}) };
}

/**
 * The choices as options of a field.
 * @param {Choice[]} choices
 * @returns {Option[]}
 */
export function choiceOptions(choices) { return choices.map(({ key, label, isMissing }) => [key, label, isMissing !== ""]); }

/** @param {Entity} entity */
export function entityKey({ device, structure }) { return device === undefined ? `structure ${structure}` : `device ${device}`; }

/**
 * @param {string} key
 * @returns {Entity}
 */
export function entityOf(key) {
  const [kind, id] = [key.slice(0, key.indexOf(" ")), key.slice(key.indexOf(" ") + 1)];
  return kind === "device" ? { device: id } : { structure: id };
}

/**
 * @param {{ kind: string, deviceTypes: string[], trait: string, command?: string, event?: string }} candidate
 * @param {string} [field]
 */
export function choiceKey({ kind, deviceTypes, trait, command, event }, field = "") {
  return [kind, trait, command ?? event ?? field, ...deviceTypes].join(" ");
}

/** @type {Record<string, string>} */
const commands = { on: t("candidates.turnOn"), off: t("candidates.turnOff"), toggle: t("candidates.turnOnOrOff"), onWithTimedOff: t("candidates.turnOnForAWhile"),
  moveToLevel: t("candidates.dim"), moveToLevelWithOnOff: t("candidates.turnOnAndDim"), upOrOpen: t("candidates.open"), downOrClose: t("candidates.close"), stopMotion: t("candidates.stop"),
  goToLiftPercentage: t("candidates.openInPart"), lockDoor: t("candidates.lock"), unlockDoor: t("candidates.unlock") };

/**
 * What a command does.
 * @param {string} name
 */
export function commandWords(name) { return Object.hasOwn(commands, name) ? commands[name] : plain(name); }

/** @type {Record<string, string>} */
const fields = { "OnOff.onOff": t("candidates.onOrOff"), "BooleanState.stateValue": t("candidates.closedOrOpen"), "OccupancySensing.occupancy": t("candidates.occupancy"),
  "TemperatureMeasurement.measuredValue": t("candidates.temperature"), "RelativeHumidityMeasurement.measuredValue": t("candidates.humidity"),
  "LevelControl.currentLevel": t("candidates.brightness"), "AreaPresenceState.presenceState": t("candidates.somebodyAtHome"),
  "AreaAttendanceState.attendanceState": t("candidates.howManyAreAtHome") };

/**
 * What an attribute is called.
 * @param {string} trait
 * @param {string} field
 */
export function fieldWords(trait, field) {
  const key = `${trait}.${field}`;
  return Object.hasOwn(fields, key) ? fields[key] : plain(field);
}

/** @type {Record<string, string>} */
const reasons = {
  missingStructureAddressSetup: t("candidates.theHomeHasNoCoordinates"),
  missingPresenceSensingSetup: t("candidates.noPresence"),
  featureNotAvailable: t("candidates.notInThisGateway"),
};

/**
 * Why a candidate cannot be used now; "" if it can.
 * @param {Candidate} candidate
 */
export function missingWords({ unsupportedReasons }) {
  const [first] = unsupportedReasons ?? [];
  return first ? reasons[first.type] ?? t("candidates.itCannotBeUsedNow") : "";
}

/**
 * @param {CandidateField} field
 * @returns {FieldShape}
 */
export function shapeOf(field) {
  const { constraint = {} } = field;
  const type = (typeof field.type === "string" ? field.type : field.type?.name ?? "").toLowerCase();
  const named = (typeof field.type === "object" ? field.type?.values : null) ?? constraint.values ?? constraint.allowed
    ?? constraint.enum ?? constraint.options;
  const options = Array.isArray(named) ? named.map((/** @type {any} */ one) => typeof one === "object" ? one.name : String(one)) : [];
  const bounds = constraint.range ?? constraint;
  const minimum = numberIn(bounds.minimum ?? bounds.min ?? bounds.lowerBound);
  const maximum = numberIn(bounds.maximum ?? bounds.max ?? bounds.upperBound);
  const isRequired = field.isRequired === true || field.required === true || field.isOptional === false;
  const isWhole = /int|signed|enum|bitmap/.test(type) || !/float|double|single|number/.test(type);
  const shape = { options, minimum, maximum, isWhole, isRequired };
  if (type.startsWith("bool")) return { ...shape, kind: "boolean" };
  if (options.length > 0 && !/list|bitmap|\[/.test(type)) return { ...shape, kind: "choice" };
  if (/^(u?int|signed|unsigned|float|double|single|number|percent|integer|bitmap|map\d)/.test(type)) return { ...shape, kind: "number" };
  if (/^(string|text)/.test(type)) return { ...shape, kind: "text" };
  return { ...shape, kind: "other" };
}

/** @param {unknown} value */
function numberIn(value) { return typeof value === "number" ? value : undefined; }

/**
 * How a number is shown: divided by a factor, with a unit. A device counts in hundredths what people count in degrees.
 * @param {string} trait
 * @param {string} field
 */
export function unitOf(trait, field) {
  if (trait === "TemperatureMeasurement" || (trait === "Thermostat" && /Setpoint|emperature/.test(field))) return { factor: 100, unit: "°C" };
  if (trait === "RelativeHumidityMeasurement") return { factor: 100, unit: "%" };
  if (/Percent100ths/.test(field)) return { factor: 100, unit: "%" };
  if (/[pP]ercent/.test(field)) return { factor: 1, unit: "%" };
  if (trait === "LevelControl" && /[lL]evel/.test(field)) return { factor: 1, unit: t("candidates.of254") };
  return { factor: 1, unit: "" };
}
