import { kindName, partsOf } from "./kinds.js";
import { locale, t } from "./text.js";

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
  return value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/**
 * A temperature.
 * @param {unknown} hundredths of a degree Celsius
 */
export function temperatureText(hundredths) {
  return isNumber(hundredths) ? `${decimal(hundredths / 100, 1)} °C` : t("readings.noValueYet");
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
  CarbonMonoxide: t("readings.carbonMonoxide"), CarbonDioxide: t("readings.carbonDioxide"), NitrogenDioxide: t("readings.nitrogenDioxide"),
  Ozone: t("readings.ozone"), Pm25: "PM2.5", Pm1: "PM1", Pm10: "PM10", Formaldehyde: t("readings.formaldehyde"),
  TotalVolatileOrganicCompounds: t("readings.organicCompounds"), Radon: t("readings.radon"),
};
/** @type {Record<string, string>} */
const lockWords = { locked: t("readings.locked"), unlocked: t("readings.unlocked"), unlatched: t("readings.unlatched"), notFullyLocked: t("readings.notFullyLocked") };
/** @type {Record<string, string>} */
const doorWords = { doorOpen: t("readings.doorOpen"), doorClosed: t("readings.doorClosed"), doorAjar: t("readings.doorAjar"),
  doorJammed: t("readings.doorJammed"), doorForcedOpen: t("readings.doorForcedOpen") };
/** @type {Record<string, string>} */
const playbackWords = { playing: t("readings.playing"), paused: t("readings.paused"), notPlaying: t("readings.nothingIsPlaying"), buffering: t("readings.loading") };
/** @type {Record<string, string>} */
const fanWords = { off: t("readings.off"), low: t("readings.low"), medium: t("readings.medium"), high: t("readings.high"), on: t("readings.on"), auto: t("readings.automatic"), smart: t("readings.smart") };
/** @type {Record<string, string>} */
export const modeWords = { off: t("readings.off"), auto: t("readings.heatAndCool"), cool: t("readings.cool"), heat: t("readings.heat"),
  emergencyHeat: t("readings.emergencyHeat"), precooling: t("readings.precooling"), fanOnly: t("readings.fanOnly"), dry: t("readings.dry"), sleep: t("readings.sleep") };
/** @type {Record<string, string>} */
const airWords = { good: t("readings.good"), fair: t("readings.fair"), moderate: t("readings.moderate"), poor: t("readings.poor"), veryPoor: t("readings.veryPoor"),
  extremelyPoor: t("readings.extremelyPoor"), unknown: t("readings.notKnown") };

/**
 * @param {string} name
 * @param {unknown} state of an alarm: normal, warning or critical
 * @param {[string, string]} words while it is normal, and while it is not
 * @returns {Reading}
 */
function alarm(name, state, words) {
  if (state === undefined || state === null) return { name, value: t("readings.noValueYet") };
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
    if (types.includes("SpeakerDeviceType")) return onOff ? [] : [{ name: t("readings.sound"), value: t("readings.muted") }];
    // How bright or fast it is says that it is on.
    const hasMore = onOff && levelPercent(traits.LevelControl) !== null;
    return hasMore ? [] : [{ name: t("readings.power"), value: onOff ? t("readings.on") : t("readings.off") }];
  },
  LevelControl: (level, types, traits) => {
    const percent = levelPercent(level);
    if (percent === null || (traits.OnOff && traits.OnOff.onOff !== true)) return [];
    return [{ name: types.includes("SpeakerDeviceType") ? t("readings.volume") : t("readings.brightness"), value: `${percent} %` }];
  },
  FanControl: ({ fanMode, percentSetting }) => {
    if (fanMode === "auto" || fanMode === "smart") return [{ name: t("readings.fan"), value: fanWords[fanMode] }];
    if (isNumber(percentSetting)) return [{ name: t("readings.fan"), value: percentSetting === 0 ? t("readings.off") : `${percentSetting} %` }];
    return fanMode ? [{ name: t("readings.fan"), value: fanWords[fanMode] ?? fanMode }] : [];
  },
  WindowCovering: (covering) => {
    const lowered = loweredPercent(covering);
    if (lowered === null) return [];
    return [{ name: t("readings.position"), value: lowered === 0 ? t("readings.open") : lowered === 100 ? t("readings.closed") : t("readings.percentOpen", { percent: 100 - lowered }) }];
  },
  DoorLock: ({ lockState, doorState }) => {
    /** @type {Reading[]} */
    const result = [{ name: t("readings.lock"), value: lockWords[lockState] ?? t("readings.noValueYet"),
      ...(lockState === "notFullyLocked" ? { level: /** @type {const} */ ("warning") } : {}) }];
    if (doorWords[doorState]) result.push({ name: t("readings.door"), value: doorWords[doorState] });
    return result;
  },
  Thermostat: ({ localTemperature, systemMode }) => [
    { name: t("readings.temperature"), value: temperatureText(localTemperature) },
    ...(systemMode ? [{ name: t("readings.mode"), value: modeWords[systemMode] ?? systemMode }] : []),
  ],
  TemperatureMeasurement: ({ measuredValue }) => [{ name: t("readings.temperature"), value: temperatureText(measuredValue) }],
  RelativeHumidityMeasurement: ({ measuredValue }) => [{ name: t("readings.humidity"),
    value: isNumber(measuredValue) ? `${decimal(measuredValue / 100, 0)} %` : t("readings.noValueYet") }],
  OccupancySensing: ({ occupancy }, types) => {
    const isMotion = types.includes("MotionSensorDeviceType");
    const name = isMotion ? t("readings.motion") : t("readings.occupancy");
    if (!isNumber(occupancy)) return [{ name, value: t("readings.noValueYet") }];
    const isThere = occupancy % 2 === 1;
    if (isMotion) return [{ name, value: isThere ? t("readings.motion") : t("readings.noMotion") }];
    return [{ name, value: isThere ? t("readings.somebodyIsThere") : t("readings.nobodyIsThere") }];
  },
  // A contact that is made is a door or window that is closed.
  BooleanState: ({ stateValue }, types) => {
    if (typeof stateValue !== "boolean") return [{ name: t("readings.state"), value: t("readings.noValueYet") }];
    if (types.includes("ContactSensorDeviceType")) return [{ name: t("readings.contact"), value: stateValue ? t("readings.closed") : t("readings.open") }];
    return [{ name: t("readings.state"), value: stateValue ? t("readings.active") : t("readings.notActive") }];
  },
  SmokeCoAlarm: ({ smokeState, coState, batteryAlert, hardwareFaultAlert, endOfServiceAlert, testInProgress }) => [
    alarm(t("readings.smoke"), smokeState, [t("readings.noSmoke"), t("readings.smoke2")]),
    alarm(t("readings.carbonMonoxide"), coState, [t("readings.noCarbonMonoxide"), t("readings.carbonMonoxide2")]),
    ...(batteryAlert && batteryAlert !== "normal" ? [alarm(t("readings.battery"), batteryAlert, ["", t("readings.batteryLow")])] : []),
    ...(hardwareFaultAlert ? [alarm(t("readings.fault"), "warning", ["", t("readings.broken")])] : []),
    ...(endOfServiceAlert === "expired" ? [alarm(t("readings.service"), "warning", ["", t("readings.hasToBeReplaced")])] : []),
    ...(testInProgress ? [{ name: t("readings.test"), value: t("readings.testing") }] : []),
  ],
  AirQuality: ({ airQuality }) => [{ name: t("readings.air"), value: airWords[airQuality] ?? t("readings.noValueYet"),
    ...(["veryPoor", "extremelyPoor"].includes(airQuality) ? { level: /** @type {const} */ ("warning") } : {}) }],
  MediaPlayback: ({ currentState }, _, { OnOff }) => (OnOff?.onOff === false && currentState === "notPlaying" ? [] : [{ name: t("readings.playback"), value: playbackWords[currentState] ?? t("readings.noValueYet") }]),
  Volume: ({ currentVolume, isMuted }) => {
    if (isMuted === true) return [{ name: t("readings.volume"), value: t("readings.muted") }];
    return isNumber(currentVolume) ? [{ name: t("readings.volume"), value: `${currentVolume} %` }] : [];
  },
  Chime: ({ enabled }) => (enabled === false ? [{ name: t("readings.chime"), value: t("readings.silent") }] : []),
  ExtendedPowerSource: ({ batPercentRemaining, batChargeLevel }) => {
    const level = batChargeLevel === "warning" || batChargeLevel === "critical"
      ? { level: /** @type {const} */ ("warning") } : {};
    // The trait counts half percents.
    if (isNumber(batPercentRemaining)) {
      return [{ name: t("readings.battery"), value: t("readings.batteryPercent", { percent: Math.round(batPercentRemaining / 2) }), ...level }];
    }
    return batChargeLevel ? [{ name: t("readings.battery"), value: batChargeLevel === "ok" ? t("readings.batteryGood") : t("readings.batteryLow"), ...level }]
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
      const value = attributes.measuredValue.toLocaleString(locale, { maximumFractionDigits: 2 });
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
  if (value === t("readings.noValueYet")) return t("readings.nameNoValueYet", { name });
  return /^[\d−-]/.test(value) && !value.endsWith("°C") ? `${name} ${value}` : value;
}

/**
 * The line under the name of a device that is not a camera.
 * @param {Device} device
 */
export function deviceLine(device) {
  const parts = partsOf(device);
  const said = [];
  if (device.connectivityState === "offline") said.push(t("readings.offlineItDoesNotAnswer"));
  if (device.connectivityState === "partiallyOnline") said.push(t("readings.partlyOffline"));
  if (device.dataSourceLocality === "unspecified") said.push(t("readings.isUnserved"));
  for (const part of parts) {
    const isCutOff = part.connectivityState === "offline" && device.connectivityState !== "offline";
    const words = isCutOff ? t("readings.offline") : readingsOf(part).map(withName).join(" · ");
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
