import { accepts } from "./accepted.js";
import { hueOf, pointOf, reciprocal } from "./colors.js";
import { Slider, Toggle } from "./control-fields.js";
import { element } from "./dom.js";
import { t } from "./text.js";

/**
 * @typedef {import("./controls.js").ControlKind} ControlKind
 * @typedef {import("./controls.js").Part} Part
 * @typedef {import("./types").Traits} Traits
 */

const speaker = "SpeakerDeviceType";

/** @type {ControlKind} */
const power = {
  name: "power", isMain: true,
  fits: ({ OnOff }) => OnOff !== undefined && (accepts(OnOff, 0) || accepts(OnOff, 1)),
  make: (part) => {
    const isSpeaker = part.types.includes(speaker);
    const toggle = new Toggle(isSpeaker ? t("control.sound", { name: part.name }) : part.name, (isOn) => {
      part.send("OnOff", isOn ? "on" : "off", {}, { OnOff: { onOff: isOn } });
    });
    return {
      node: toggle.node,
      update: ({ OnOff }, isEnabled) => toggle.show(OnOff?.onOff === true, isEnabled),
    };
  },
};

/** @type {ControlKind} */
const level = {
  name: "level",
  fits: ({ LevelControl }) => LevelControl?.currentLevel !== undefined && accepts(LevelControl, 4),
  make: (part) => {
    const isSpeaker = part.types.includes(speaker);
    const title = isSpeaker ? t("lightControls.volume") : t("lightControls.brightness");
    const highest = () => part.traits().LevelControl?.maxLevel ?? 254;
    const slider = new Slider({
      title, label: `${part.name}: ${title.toLowerCase()}`, minimum: 1, maximum: 100,
      words: (value) => `${value} %`,
      changed: (value) => {
        const wanted = Math.max(1, Math.round(value / 100 * highest()));
        // The lowest level would be off, and muting is not what somebody who turns a speaker down wants.
        const { OnOff } = part.traits();
        part.send("LevelControl", "moveToLevelWithOnOff", { level: Math.max(wanted, 2) }, {
          LevelControl: { currentLevel: Math.max(wanted, 2) },
          ...(OnOff ? { OnOff: { onOff: true } } : {}),
        });
      },
    });
    return {
      node: slider.node,
      update: ({ LevelControl }, isEnabled) => {
        const now = LevelControl?.currentLevel;
        slider.show(typeof now === "number" ? Math.max(1, Math.round(now / highest() * 100)) : null, isEnabled);
      },
    };
  },
};

// Colours also change while the light is off, so that it comes on as somebody has set it.
const evenIfOff = { optionsMask: 1, optionsOverride: 1 };

/**
 * Whether a light has white tones, or hues. A light that lists no capabilities is judged by its attributes and its type.
 * @param {any} color the attributes of ColorControl
 * @param {string[]} types
 * @returns {{ hasTones: boolean, hasHues: boolean }}
 */
export function capabilities(color, types) {
  if (!color) return { hasTones: false, hasHues: false };
  const listed = color.colorCapabilities ?? color.featureMap;
  const hasTones = typeof listed === "number" ? (listed & 16) !== 0 : color.colorTemperatureMireds !== undefined;
  const hasHues = typeof listed === "number" ? (listed & 9) !== 0
    : !types.includes("ColorTemperatureLightDeviceType")
      && (color.currentHue !== undefined || color.currentX !== undefined);
  return { hasTones: hasTones && accepts(color, 10), hasHues: hasHues && (accepts(color, 6) || accepts(color, 7)) };
}

/** @type {ControlKind} */
const tone = {
  name: "tone", fold: t("lightControls.colour"),
  fits: ({ ColorControl }, types) => capabilities(ColorControl, types).hasTones,
  make: (part) => {
    const slider = new Slider({
      title: t("lightControls.white"), label: t("control.colourTemperature", { name: part.name }), minimum: 2000, maximum: 6500,
      step: 50, className: "tone",
      words: (value) => `${value} K`,
      changed: (value) => {
        const colorTemperatureMireds = reciprocal(value);
        part.send("ColorControl", "moveToColorTemperature", { colorTemperatureMireds, ...evenIfOff },
          { ColorControl: { colorTemperatureMireds, colorMode: "colorTemperatureMireds" } });
      },
    });
    return {
      node: slider.node,
      update: (traits, isEnabled) => {
        const warmest = reciprocal(traits.ColorControl?.colorTempPhysicalMaxMireds || 500);
        const coldest = reciprocal(traits.ColorControl?.colorTempPhysicalMinMireds || 153);
        slider.limit(Math.ceil(warmest / 50) * 50, Math.floor(coldest / 50) * 50);
        const mireds = traits.ColorControl?.colorTemperatureMireds;
        slider.show(mireds ? reciprocal(mireds) : null, isEnabled);
        slider.node.classList.toggle("unused", traits.ColorControl?.colorMode !== "colorTemperatureMireds");
      },
    };
  },
};

/**
 * The colour that a light has.
 * @param {any} color the attributes of ColorControl
 * @returns {{ hue: number, saturation: number }} degrees, and 0 to 1
 */
export function colorOf(color) {
  if (color?.colorMode === "currentXAndCurrentY" && color.currentX !== undefined && color.currentY !== undefined) {
    return hueOf(color.currentX / 65536, color.currentY / 65536);
  }
  return { hue: (color?.currentHue ?? 0) / 254 * 360, saturation: (color?.currentSaturation ?? 0) / 254 };
}

/** @type {ControlKind} */
const hue = {
  name: "hue", fold: t("lightControls.colour"),
  fits: ({ ColorControl }, types) => capabilities(ColorControl, types).hasHues,
  make: (part) => {
    let color = { hue: 0, saturation: 1 };
    const change = () => {
      if (accepts(part.traits().ColorControl, 6)) {
        const parameters = { hue: Math.round(color.hue / 360 * 254), saturation: Math.round(color.saturation * 254) };
        part.send("ColorControl", "moveToHueAndSaturation", { ...parameters, ...evenIfOff }, {
          ColorControl: { currentHue: parameters.hue, currentSaturation: parameters.saturation,
            colorMode: "currentHueAndCurrentSaturation" },
        });
      } else {
        const { x, y } = pointOf(color.hue, color.saturation);
        const parameters = { colorX: Math.round(x * 65536), colorY: Math.round(y * 65536) };
        part.send("ColorControl", "moveToColor", { ...parameters, ...evenIfOff }, {
          ColorControl: { currentX: parameters.colorX, currentY: parameters.colorY, colorMode: "currentXAndCurrentY" },
        });
      }
    };
    const hues = new Slider({
      title: t("lightControls.hue"), label: t("control.hue", { name: part.name }), minimum: 0, maximum: 360, step: 2, className: "hue",
      words: (value) => hueName(value),
      changed: (value) => {
        // A hue without saturation would be white: somebody who picks one wants to see it.
        color = { hue: value, saturation: color.saturation || 1 };
        change();
      },
    });
    const saturations = new Slider({
      title: t("lightControls.saturation"), label: t("control.saturation", { name: part.name }), minimum: 0, maximum: 100,
      words: (value) => `${value} %`,
      changed: (value) => {
        color = { ...color, saturation: value / 100 };
        change();
      },
    });
    return {
      node: element("div", "colour", hues.node, saturations.node),
      update: ({ ColorControl }, isEnabled) => {
        color = colorOf(ColorControl);
        hues.show(Math.round(color.hue), isEnabled);
        saturations.show(Math.round(color.saturation * 100), isEnabled);
        for (const { node } of [hues, saturations]) {
          node.classList.toggle("unused", ColorControl?.colorMode === "colorTemperatureMireds");
        }
      },
    };
  },
};

const hueNames = [t("lightControls.red"), t("lightControls.orange"), t("lightControls.yellow"), t("lightControls.lime"), t("lightControls.green"), t("lightControls.mint"), t("lightControls.cyan"), t("lightControls.azure"), t("lightControls.blue"), t("lightControls.violet"), t("lightControls.magenta"), t("lightControls.pink")];

/**
 * What people call a hue.
 * @param {number} degrees
 */
export function hueName(degrees) { return hueNames[Math.round(degrees / 30) % 12]; }

/** @type {ControlKind[]} */
export const lightControls = [power, level, tone, hue];
