import { en } from "./text-en.js";

// Every text that people read is in a table of its language. What the gateway itself says, such as the reason of a failure, is
// in English.

/** @typedef {keyof typeof en} TextKey */

/**
 * The languages of the page, by their codes, each in its own words.
 * @type {Record<string, string>}
 */
export const languages = { en: "English", de: "Deutsch" };

const storageKey = "gatehouse.language";

/**
 * The language for a person.
 * @param {string | null} chosen what they have chosen here
 * @param {readonly string[]} preferred the languages of their browser, the best first
 */
export function languageFor(chosen, preferred) {
  if (chosen !== null && Object.hasOwn(languages, chosen)) return chosen;
  return preferred.map((one) => one.slice(0, 2).toLowerCase()).find((one) => Object.hasOwn(languages, one)) ?? "en";
}

/** @returns {string | null} */
function chosenLanguage() {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    // A browser that stores nothing, or none at all.
    return null;
  }
}

const preferred = globalThis.document === undefined ? [] : navigator.languages;

/** The code of the page's language. */
export const language = languageFor(chosenLanguage(), preferred);

/** How dates and numbers are written: as the person's browser does it, if it has the page's language. */
export const locale = preferred.find((one) => one.slice(0, 2).toLowerCase() === language) ?? language;

/** @type {Record<TextKey, string>} */
const table = language === "de" ? (await import("./text-de.js")).de : en;

/**
 * A value as it stands in a text. A number may be that of a line or a status, so its digits are not grouped.
 * @param {string | number} value
 */
function valueWords(value) { return typeof value === "number" ? value.toLocaleString(locale, { useGrouping: false }) : value; }

/**
 * A text in the page's language.
 * @param {TextKey} key
 * @param {Record<string, string | number>} [values] what stands for `{name}` in it
 */
export function t(key, values) {
  const text = table[key];
  return values === undefined ? text : text.replaceAll(/\{(\w+)\}/g, (_, name) => valueWords(values[name] ?? ""));
}

/**
 * A text for a number of things: the key with `.one` for one of them, and with `.many` for any other number.
 * @param {string} stem
 * @param {number} count `{count}` in the text
 * @param {Record<string, string | number>} [values]
 */
export function counted(stem, count, values = {}) {
  return t(/** @type {TextKey} */ (`${stem}.${count === 1 ? "one" : "many"}`), { count: count.toLocaleString(locale), ...values });
}

/**
 * A word in the middle of a sentence. German nouns keep their capital letters.
 * @param {string} word
 */
export function lower(word) { return language === "en" ? word.toLowerCase() : word; }

/**
 * A text whose key depends on something that the gateway says.
 * @param {string} key
 * @returns {string | null} null for a key that the table does not have
 */
export function known(key) { return Object.hasOwn(table, key) ? table[/** @type {TextKey} */ (key)] : null; }

/**
 * Uses another language from now on.
 * @param {string} code
 */
export function choose(code) {
  localStorage.setItem(storageKey, code);
  location.reload();
}

/**
 * Says that all modules of a page have arrived, and puts texts into elements of its document that name their keys: `data-text`
 * for the content, `data-label` for the accessible name, `data-placeholder` for the example in a field.
 * @param {Document} page
 */
export function translate(page) {
  page.documentElement.dataset["runs"] = "";
  page.documentElement.lang = language;
  if (language === "en") return;
  for (const node of page.querySelectorAll("[data-text]")) node.textContent = known(node.getAttribute("data-text") ?? "");
  for (const node of page.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", known(node.getAttribute("data-label") ?? "") ?? "");
  }
  for (const node of page.querySelectorAll("[data-placeholder]")) {
    node.setAttribute("placeholder", known(node.getAttribute("data-placeholder") ?? "") ?? "");
  }
}
