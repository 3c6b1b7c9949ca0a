import { whenWords } from "./automation-words.js";
import { element, setText } from "./dom.js";

// The day on which the moments were last said: a time without a date is one of that day.
let day = "";

/**
 * A moment in words, as short as it can be: the time of today, else with its day. It shows its date once the day is over.
 * @param {string} time
 */
export function momentElement(time) {
  const node = element("time", "", whenWords(time, Date.now()));
  node.dateTime = time;
  return node;
}

/** Says every moment on the page again on another day; called once a second. A dialog may stay open overnight. */
export function renewMoments() {
  const now = new Date();
  if (day === now.toDateString()) return;
  day = now.toDateString();
  for (const node of document.querySelectorAll("time")) setText(node, whenWords(node.dateTime, now.getTime()));
}
