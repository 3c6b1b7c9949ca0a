import { kindName, partsOf } from "./kinds.js";

/**
 * @typedef {import("./types").Device} Device
 * @typedef {import("./types").Endpoint} Endpoint
 * @typedef {import("./types").Traits} Traits
 */

/**
 * Something that a device measures or is, in words.
 * @typedef {object} Reading
 * @property {string} name what it is, such as "Temperature"
 * @property {string} value with its unit
 * @property {"alarm" | "warning"} [level] missing while all is well
 */

/**
 * @param {unknown} value
 * @returns {value is number}
 */
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/**
 * @param {number} value
 * @param {number} digits behind the point
 */
function decimal(value, digits) {
  return value.toLocaleString([], { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/**
 * A temperature.
 * @param {unknown} hundredths of a degree Celsius
 */
export function temperatureText(hundredths) {
  return isNumber(hundredths) ? `${decimal(hundredths / 100, 1)} °C` : "No value yet";
}

/**
 * How bright a light is, or how loud a speaker, in percent.
 * @param {any} level the attributes of LevelControl
 * @returns {number | null}
 */
export function levelPercent(level) {
  if (!isNumber(level?.currentLevel)) return null;
  const highest = level.maxLevel ?? 254;
  return Math.round(Math.min(1, level.currentLevel / (highest || 254)) * 100);
}

/** @type {Record<string, string>} */
const units = { ppm: "ppm", ppb: "ppb", ppt: "ppt", mgm3: "mg/m³", ugm3: "µg/m³", ngm3: "ng/m³", pm3: "/m³",
  bqm3: "Bq/m³" };
/** @type {Record<string, string>} */
const substances = {
  CarbonMonoxide: "Carbon monoxide", CarbonDioxide: "Carbon dioxide", NitrogenDioxide: "Nitrogen dioxide",
  Ozone: "Ozone", Pm25: "PM2.5", Pm1: "PM1", Pm10: "PM10", Formaldehyde: "Formaldehyde",
  TotalVolatileOrganicCompounds: "Organic compounds", Radon: "Radon",
};
/** @type {Record<string, string>} */
const lockWords = { locked: "Locked", unlocked: "Unlocked", unlatched: "Unlatched", notFullyLocked: "Not fully locked" };
/** @type {Record<string, string>} */
const doorWords = { doorOpen: "Door open", doorClosed: "Door closed", doorAjar: "Door ajar",
  doorJammed: "Door jammed", doorForcedOpen: "Door forced open" };
/** @type {Record<string, string>} */
const playbackWords = { playing: "Playing", paused: "Paused", notPlaying: "Nothing is playing", buffering: "Loading" };
/** @type {Record<string, string>} */
const fanWords = { off: "Off", low: "Low", medium: "Medium", high: "High", on: "On", auto: "Automatic", smart: "Smart" };
/** @type {Record<string, string>} */
export const modeWords = { off: "Off", auto: "Heat and cool", cool: "Cool", heat: "Heat",
  emergencyHeat: "Emergency heat", precooling: "Precooling", fanOnly: "Fan only", dry: "Dry", sleep: "Sleep" };
/** @type {Record<string, string>} */
const airWords = { good: "Good", fair: "Fair", moderate: "Moderate", poor: "Poor", veryPoor: "Very poor",
  extremelyPoor: "Extremely poor", unknown: "Not known" };

/**
 * @param {string} name
 * @param {unknown} state of an alarm: normal, warning or critical
 * @param {[string, string]} words while it is normal, and while it is not
 * @returns {Reading}
 */
function alarm(name, state, words) {
  if (state === undefined || state === null) return { name, value: "No value yet" };
  if (state === "normal") return { name, value: words[0] };
  return { name, value: words[1], level: state === "warning" ? "warning" : "alarm" };
}

/**
 * How far a blind is lowered.
 * @param {any} covering the attributes of WindowCovering
 * @returns {number | null} percent; 0 is open
 */
export function loweredPercent(covering) {
  const hundredths = covering?.currentPositionLiftPercent100ths;
  if (isNumber(hundredths)) return Math.round(hundredths / 100);
  const percent = covering?.currentPositionLiftPercentage;
  return isNumber(percent) ? percent : null;
}

/**
 * What a trait says, by its name.
 * @type {Record<string, (attributes: any, types: string[], traits: Traits) => Reading[]>}
 */
const byTrait = {
  OnOff: ({ onOff }, types, traits) => {
    if (typeof onOff !== "boolean") return [];
    if (types.includes("SpeakerDeviceType")) return onOff ? [] : [{ name: "Sound", value: "Muted" }];
    // How bright or fast it is says that it is on.
    const hasMore = onOff && levelPercent(traits.LevelControl) !== null;
    return hasMore ? [] : [{ name: "Power", value: onOff ? "On" : "Off" }];
  },
  LevelControl: (level, types, traits) => {
    const percent = levelPercent(level);
    if (percent === null || (traits.OnOff && traits.OnOff.onOff !== true)) return [];
    return [{ name: types.includes("SpeakerDeviceType") ? "Volume" : "Brightness", value: `${percent} %` }];
  },
  FanControl: ({ fanMode, percentSetting }) => {
    if (fanMode === "auto" || fanMode === "smart") return [{ name: "Fan", value: fanWords[fanMode] }];
    if (isNumber(percentSetting)) return [{ name: "Fan", value: percentSetting === 0 ? "Off" : `${percentSetting} %` }];
    return fanMode ? [{ name: "Fan", value: fanWords[fanMode] ?? fanMode }] : [];
  },
  WindowCovering: (covering) => {
    const lowered = loweredPercent(covering);
    if (lowered === null) return [];
    return [{ name: "Position", value: lowered === 0 ? "Open" : lowered === 100 ? "Closed" : `${100 - lowered} % open` }];
  },
  DoorLock: ({ lockState, doorState }) => {
    /** @type {Reading[]} */
    const result = [{ name: "Lock", value: lockWords[lockState] ?? "No value yet",
      ...(lockState === "notFullyLocked" ? { level: /** @type {const} */ ("warning") } : {}) }];
    if (doorWords[doorState]) result.push({ name: "Door", value: doorWords[doorState] });
    return result;
  },
  Thermostat: ({ localTemperature, systemMode }) => [
    { name: "Temperature", value: temperatureText(localTemperature) },
    ...(systemMode ? [{ name: "Mode", value: modeWords[systemMode] ?? systemMode }] : []),
  ],
  TemperatureMeasurement: ({ measuredValue }) => [{ name: "Temperature", value: temperatureText(measuredValue) }],
  RelativeHumidityMeasurement: ({ measuredValue }) => [{ name: "Humidity",
    value: isNumber(measuredValue) ? `${decimal(measuredValue / 100, 0)} %` : "No value yet" }],
  OccupancySensing: ({ occupancy }, types) => {
    const name = types.includes("MotionSensorDeviceType") ? "Motion" : "Occupancy";
    if (!isNumber(occupancy)) return [{ name, value: "No value yet" }];
    const isThere = occupancy % 2 === 1;
    if (name === "Motion") return [{ name, value: isThere ? "Motion" : "No motion" }];
    return [{ name, value: isThere ? "Somebody is there" : "Nobody is there" }];
  },
  // A contact that is made is a door or window that is closed.
  BooleanState: ({ stateValue }, types) => {
    if (typeof stateValue !== "boolean") return [{ name: "State", value: "No value yet" }];
    if (types.includes("ContactSensorDeviceType")) return [{ name: "Contact", value: stateValue ? "Closed" : "Open" }];
    return [{ name: "State", value: stateValue ? "Active" : "Not active" }];
  },
  SmokeCoAlarm: ({ smokeState, coState, batteryAlert, hardwareFaultAlert, endOfServiceAlert, testInProgress }) => [
    alarm("Smoke", smokeState, ["No smoke", "Smoke!"]),
    alarm("Carbon monoxide", coState, ["No carbon monoxide", "Carbon monoxide!"]),
    ...(batteryAlert && batteryAlert !== "normal" ? [alarm("Battery", batteryAlert, ["", "Battery low"])] : []),
    ...(hardwareFaultAlert ? [alarm("Fault", "warning", ["", "Broken"])] : []),
    ...(endOfServiceAlert === "expired" ? [alarm("Service", "warning", ["", "Has to be replaced"])] : []),
    ...(testInProgress ? [{ name: "Test", value: "Testing" }] : []),
  ],
  AirQuality: ({ airQuality }) => [{ name: "Air", value: airWords[airQuality] ?? "No value yet",
    ...(["veryPoor", "extremelyPoor"].includes(airQuality) ? { level: /** @type {const} */ ("warning") } : {}) }],
  MediaPlayback: ({ currentState }, _, { OnOff }) => (OnOff?.onOff === false && currentState === "notPlaying" ? [] : [{ name: "Playback", value: playbackWords[currentState] ?? "No value yet" }]),
  Volume: ({ currentVolume, isMuted }) => {
    if (isMuted === true) return [{ name: "Volume", value: "Muted" }];
    return isNumber(currentVolume) ? [{ name: "Volume", value: `${currentVolume} %` }] : [];
  },
  Chime: ({ enabled }) => (enabled === false ? [{ name: "Chime", value: "Silent" }] : []),
  ExtendedPowerSource: ({ batPercentRemaining, batChargeLevel }) => {
    const level = batChargeLevel === "warning" || batChargeLevel === "critical"
      ? { level: /** @type {const} */ ("warning") } : {};
    // The trait counts half percents.
    if (isNumber(batPercentRemaining)) {
      return [{ name: "Battery", value: `Battery ${Math.round(batPercentRemaining / 2)} %`, ...level }];
    }
    return batChargeLevel ? [{ name: "Battery", value: batChargeLevel === "ok" ? "Battery good" : "Battery low", ...level }]
      : [];
  },
};

/**
 * The readings of a part of a device.
 * @param {Endpoint} part
 * @returns {Reading[]}
 */
export function readingsOf({ traits, types }) {
  /** @type {Reading[]} */
  const result = [];
  for (const [name, attributes] of Object.entries(traits)) {
    if (Object.hasOwn(byTrait, name)) {
      result.push(...byTrait[name](attributes ?? {}, types, traits));
      continue;
    }
    const substance = name.match(/^(\w+)ConcentrationMeasurement$/)?.[1];
    if (substance && isNumber(attributes?.measuredValue)) {
      const value = attributes.measuredValue.toLocaleString([], { maximumFractionDigits: 2 });
      const unit = units[attributes.measurementUnit] ?? "";
      result.push({ name: substances[substance] ?? substance, value: `${value} ${unit}`.trim() });
    }
  }
  return result;
}

/**
 * Whether a reading needs its name to be understood: "45 %" does, "Closed" does not.
 * @param {Reading} reading
 */
function withName({ name, value }) {
  if (value === "No value yet") return `${name}: no value yet`;
  return /^[\d−-]/.test(value) && !value.endsWith("°C") ? `${name} ${value}` : value;
}

/**
 * The line under the name of a device that is not a camera.
 * @param {Device} device
 */
export function deviceLine(device) {
  const parts = partsOf(device);
  const said = [];
  if (device.connectivityState === "offline") said.push("Offline: it does not answer");
  if (device.connectivityState === "partiallyOnline") said.push("Partly offline");
  if (device.dataSourceLocality === "unspecified") said.push("Nothing serves it at the moment");
  for (const part of parts) {
    const isCutOff = part.connectivityState === "offline" && device.connectivityState !== "offline";
    const words = isCutOff ? "offline" : readingsOf(part).map(withName).join(" · ");
    if (words) said.push(parts.length > 1 ? `${kindName(part.types[0] ?? "")}: ${words}` : words);
  }
  const kind = kindName(device.type);
  // A name such as "Kitchen blind" says it already.
  const isNamed = String(device.name).toLocaleLowerCase().includes(kind.toLocaleLowerCase());
  const isSaid = said.some((words) => words.startsWith(`${kind}: `));
  if ((!isNamed && !isSaid) || said.length === 0) said.unshift(kind);
  // A number stays on the line of its unit.
  return said.join(" · ").replaceAll(/(\d) (?=%|°C)/g, "$1\u00A0");
}

/**
 * The most serious level of a device's readings.
 * @param {Device} device
 * @returns {"alarm" | "warning" | ""}
 */
export function levelOf(device) {
  const levels = new Set(partsOf(device).flatMap(readingsOf).map(({ level }) => level));
  return levels.has("alarm") ? "alarm" : levels.has("warning") ? "warning" : "";
}
