import { t } from "./text.js";


/** @typedef {"talk" | "mute" | "louder" | "quieter" | "full" | "float" | "save" | "quality" | "closer" | "wider" | "whole"
 *   | "previous" | "next" | "back" | "help"} Action */

/**
 * What keys do in the view of a camera. An arrow moves the picture instead while a part of it is shown larger.
 * @type {{ action: Action, keys: string[], shown: string, words: string, repeats?: boolean }[]} repeats: a key that is held
 *   goes on with it
 */
export const shortcuts = [
  { action: "talk", keys: ["t"], shown: "T", words: t("shortcuts.talkAndStopTalking") },
  { action: "mute", keys: ["m"], shown: "M", words: t("shortcuts.soundOnAndOff") },
  { action: "louder", keys: ["ArrowUp"], shown: "↑", words: t("shortcuts.louder"), repeats: true },
  { action: "quieter", keys: ["ArrowDown"], shown: "↓", words: t("shortcuts.quieter"), repeats: true },
  { action: "closer", keys: ["+", "="], shown: "+", words: t("shortcuts.zoomIn"), repeats: true },
  { action: "wider", keys: ["-"], shown: "−", words: t("shortcuts.zoomOut"), repeats: true },
  { action: "whole", keys: ["0"], shown: "0", words: t("shortcuts.showTheWholePicture") },
  { action: "save", keys: ["s"], shown: "S", words: t("shortcuts.saveThePicture") },
  { action: "quality", keys: ["q"], shown: "Q", words: t("shortcuts.highOrLowQuality") },
  { action: "float", keys: ["p"], shown: "P", words: t("shortcuts.pictureInPicture") },
  { action: "full", keys: ["f"], shown: "F", words: t("shortcuts.fullScreen") },
  { action: "previous", keys: ["ArrowLeft"], shown: "←", words: t("shortcuts.theCameraBefore"), repeats: true },
  { action: "next", keys: ["ArrowRight"], shown: "→", words: t("shortcuts.theNextCamera"), repeats: true },
  { action: "back", keys: ["Escape"], shown: "Esc", words: t("shortcuts.back") },
  { action: "help", keys: ["?"], shown: "?", words: t("shortcuts.thisList") },
];

/**
 * The shortcuts that a wall has too.
 * @type {Set<Action>}
 */
export const wallActions = new Set(["full", "back", "help"]);

/**
 * What a key asks for. Nothing with Ctrl, Alt or the command key, and nothing in a field.
 * @param {{ key: string, ctrlKey?: boolean, altKey?: boolean, metaKey?: boolean, defaultPrevented?: boolean,
 *   repeat?: boolean }} event
 * @param {string} [tag] of the element that has the focus
 * @returns {Action | null}
 */
export function actionOf({ key, ctrlKey, altKey, metaKey, defaultPrevented, repeat }, tag = "") {
  if (ctrlKey || altKey || metaKey || defaultPrevented) return null;
  // A field keeps its keys. Escape leaves the view even from there.
  if (["INPUT", "SELECT", "TEXTAREA"].includes(tag) && key !== "Escape") return null;
  const plain = key.length === 1 ? key.toLowerCase() : key;
  const found = shortcuts.find(({ keys }) => keys.includes(plain));
  return found && (found.repeats || !repeat) ? found.action : null;
}
