/**
 * Changes a list, and keeps the keyboard's focus in it: a button that is gone leaves it to the one in its place, or to the last
 * one.
 * @param {HTMLElement} list
 * @param {() => void} change
 * @param {HTMLElement | null} [otherwise] has it if the list has no button any more
 */
export function keepFocus(list, change, otherwise = null) {
  const buttons = () => [...list.querySelectorAll("button")];
  const place = buttons().findIndex((one) => one === document.activeElement);
  change();
  if (place < 0 || list.contains(document.activeElement)) return;
  const left = buttons();
  (left[place] ?? left.at(-1) ?? otherwise)?.focus();
}
