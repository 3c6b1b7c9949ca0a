/** @typedef {"talk" | "mute" | "louder" | "quieter" | "full" | "float" | "save" | "quality" | "closer" | "wider" | "whole"
 *   | "previous" | "next" | "back" | "help"} Action */

/**
 * What keys do in the view of a camera. An arrow moves the picture instead while a part of it is shown larger.
 * @type {{ action: Action, keys: string[], shown: string, words: string, repeats?: boolean }[]} repeats: a key that is held
 *   goes on with it
 */
export const shortcuts = [
  { action: "talk", keys: ["t"], shown: "T", words: "Talk, and stop talking" },
  { action: "mute", keys: ["m"], shown: "M", words: "Sound on and off" },
  { action: "louder", keys: ["ArrowUp"], shown: "↑", words: "Louder", repeats: true },
  { action: "quieter", keys: ["ArrowDown"], shown: "↓", words: "Quieter", repeats: true },
  { action: "closer", keys: ["+", "="], shown: "+", words: "Zoom in; then the arrows move the picture", repeats: true },
  { action: "wider", keys: ["-"], shown: "−", words: "Zoom out", repeats: true },
  { action: "whole", keys: ["0"], shown: "0", words: "Show the whole picture" },
  { action: "save", keys: ["s"], shown: "S", words: "Save the picture" },
  { action: "quality", keys: ["q"], shown: "Q", words: "High or low quality" },
  { action: "float", keys: ["p"], shown: "P", words: "Picture in picture" },
  { action: "full", keys: ["f"], shown: "F", words: "Full screen" },
  { action: "previous", keys: ["ArrowLeft"], shown: "←", words: "The camera before", repeats: true },
  { action: "next", keys: ["ArrowRight"], shown: "→", words: "The next camera", repeats: true },
  { action: "back", keys: ["Escape"], shown: "Esc", words: "Back" },
  { action: "help", keys: ["?"], shown: "?", words: "This list" },
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
