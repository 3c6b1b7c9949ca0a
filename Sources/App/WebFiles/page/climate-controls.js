import { Choice, Slider, Stepper, Toggle } from "./control-fields.js";
import { element } from "./dom.js";
import { modeWords, temperatureText } from "./readings.js";
import { t } from "./text.js";

/** @typedef {import("./controls.js").ControlKind} ControlKind */

/** @type {ControlKind} */
const fanPower = {
  name: "fan-power", isMain: true,
  fits: ({ FanControl, OnOff }) => FanControl?.fanMode !== undefined && OnOff === undefined,
  make: (part) => {
    const toggle = new Toggle(part.name, (isOn) => {
      // A fan that comes on without a speed takes its own.
      part.write("FanControl", { fanMode: isOn ? "high" : "off" },
        { FanControl: { fanMode: isOn ? "high" : "off", percentSetting: isOn ? 100 : 0 } });
    });
    return {
      node: toggle.node,
      update: ({ FanControl }, isEnabled) => {
        toggle.show(FanControl?.fanMode !== undefined && FanControl.fanMode !== "off", isEnabled);
      },
    };
  },
};

/** @type {ControlKind} */
const fanSpeed = {
  name: "fan-speed",
  fits: ({ FanControl }) => FanControl !== undefined && FanControl.percentSetting !== undefined,
  make: (part) => {
    const slider = new Slider({
      title: t("climateControls.speed"), label: t("control.speed", { name: part.name }), minimum: 0, maximum: 100, words: (value) => `${value} %`,
      changed: (value) => part.write("FanControl", { percentSetting: value }, {
        FanControl: { percentSetting: value, ...(value === 0 ? { fanMode: "off" } : { fanMode: speedMode(value) }) },
      }),
    });
    return {
      node: slider.node,
      update: ({ FanControl }, isEnabled) => {
        slider.show(FanControl?.percentSetting ?? FanControl?.percentCurrent ?? null, isEnabled);
      },
    };
  },
};

/** @param {number} percent */
function speedMode(percent) { return percent < 34 ? "low" : percent < 67 ? "medium" : "high"; }

/**
 * The modes of a fan that chooses its speed by itself.
 * @param {string | undefined} sequence its fanModeSequence, such as "offLowHighAuto"
 * @returns {[string, string][]}
 */
export function fanModes(sequence = "") {
  /** @type {[string, string, boolean?][]} */
  const modes = [["off", t("climateControls.off")], ["low", t("climateControls.low"), !sequence.includes("Low")],
    ["medium", t("climateControls.medium"), !sequence.includes("Med")], ["high", t("climateControls.high")],
    ["auto", t("climateControls.automatic")]];
  return modes.filter(([, , isMissing]) => !isMissing).map(([mode, words]) => [mode, words]);
}

/** @type {ControlKind} */
const fanAuto = {
  name: "fan-auto",
  fits: ({ FanControl }) => String(FanControl?.fanModeSequence ?? "").endsWith("Auto"),
  make: (part) => {
    const choice = new Choice(t("climateControls.mode"), t("control.mode", { name: part.name }), (fanMode) => part.write("FanControl", { fanMode }));
    return {
      node: choice.node,
      update: ({ FanControl }, isEnabled) => {
        choice.show(FanControl?.fanMode ?? "off", fanModes(FanControl?.fanModeSequence), isEnabled);
      },
    };
  },
};

/**
 * The modes of a thermostat that can do these things.
 * @param {string | undefined} sequence its controlSequenceOfOperation
 * @returns {[string, string][]}
 */
export function thermostatModes(sequence = "coolingAndHeating") {
  const heats = !sequence.startsWith("coolingOnly") && !sequence.startsWith("coolingWith");
  const cools = !sequence.startsWith("heating");
  const modes = ["off", ...(heats ? ["heat"] : []), ...(cools ? ["cool"] : []), ...(heats && cools ? ["auto"] : [])];
  return modes.map((mode) => [mode, modeWords[mode]]);
}

/** @type {ControlKind} */
const thermostat = {
  name: "thermostat",
  fits: ({ Thermostat }) => Thermostat !== undefined,
  make: (part) => {
    const mode = new Choice(t("climateControls.mode"), t("control.mode", { name: part.name }), (systemMode) => part.write("Thermostat", { systemMode }));
    /** @param {string} title @param {string} attribute */
    const setpoint = (title, attribute) => new Stepper({
      title, label: `${part.name}: ${title.toLowerCase()}`, step: 50, words: temperatureText,
      changed: (value) => part.write("Thermostat", { [attribute]: value }),
    });
    const heat = setpoint(t("climateControls.heatTo"), "occupiedHeatingSetpoint");
    const cool = setpoint(t("climateControls.coolTo"), "occupiedCoolingSetpoint");
    return {
      node: element("div", "thermostat", mode.node, heat.node, cool.node),
      update: ({ Thermostat }, isEnabled) => {
        const now = Thermostat ?? {};
        const modes = thermostatModes(now.controlSequenceOfOperation);
        mode.node.hidden = now.systemMode === undefined;
        mode.show(now.systemMode ?? "off", modes, isEnabled);
        const { occupiedHeatingSetpoint: heating, occupiedCoolingSetpoint: cooling } = now;
        const known = new Set(modes.map(([one]) => one));
        heat.node.hidden = typeof heating !== "number" || !known.has("heat") || now.systemMode === "cool";
        cool.node.hidden = typeof cooling !== "number" || !known.has("cool") || now.systemMode === "heat";
        heat.show(heating ?? 0, [now.minHeatSetpointLimit ?? now.absMinHeatSetpointLimit ?? 700,
          now.maxHeatSetpointLimit ?? now.absMaxHeatSetpointLimit ?? 3000], isEnabled);
        cool.show(cooling ?? 0, [now.minCoolSetpointLimit ?? now.absMinCoolSetpointLimit ?? 1600,
          now.maxCoolSetpointLimit ?? now.absMaxCoolSetpointLimit ?? 3200], isEnabled);
      },
    };
  },
};

/** @type {ControlKind[]} */
export const climateControls = [fanPower, fanSpeed, fanAuto, thermostat];
