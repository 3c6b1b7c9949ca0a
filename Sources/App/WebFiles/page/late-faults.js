import { t } from "./text.js";

/**
 * Faults of what somebody has asked for in a dialog and that come after it was closed. The person sees them where they are now: in
 * the dialog that is open, or else on the page.
 * @typedef {import("./types").Fault} Fault
 */

/** @type {(fault: Fault | null) => void} */
let showOnPage = () => {};

/**
 * The open dialogs, the latest last.
 * @type {((fault: Fault) => void)[]}
 */
const open = [];

// Counts how often somebody has left. What goes wrong for them is not shown to the next person.
let departures = 0;

/**
 * Gives late faults a place on the page.
 * @param {(fault: Fault | null) => void} show null: there is none for the person who is here now
 */
export function whenFaultIsLate(show) { showOnPage = show; }

/**
 * A dialog opens, and has a place for late faults of others.
 * @param {(fault: Fault) => void} show
 * @returns {() => void} says that it has closed
 */
export function takeLateFaults(show) {
  open.push(show);
  return () => {
    const place = open.indexOf(show);
    if (place >= 0) open.splice(place, 1);
  };
}

/** Nobody is signed in any more, or perhaps somebody else. */
export function forgetLateFaults() {
  departures += 1;
  showOnPage(null);
}

/**
 * A request begins.
 * @returns {(title: string, fault: Fault) => void} shows what went wrong with it, after the title of the dialog, to the person who
 *   is signed in now
 */
export function lateFault() {
  const before = departures;
  return (title, { message, details = null }) => {
    if (before !== departures) return;
    const fault = { message: t("fault.because", { field: title, reason: message }), details };
    (open.at(-1) ?? showOnPage)(fault);
  };
}
