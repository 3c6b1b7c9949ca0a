import { element } from "./dom.js";
import { t } from "./text.js";

/** @typedef {import("./types").Grant} Grant */
/** @typedef {import("./types").Scope} Scope */

/** @type {[Scope, string][]} */
export const scopeWords = [
  ["read", t("grantFields.read")],
  ["control", t("grantFields.switchDevices")],
  ["media", t("grantFields.media")],
  ["view", t("grantFields.view")],
  ["automate", t("grantFields.automate")],
  ["unlock", t("grantFields.letAutomationsUnlockAndOpen")],
  ["admin", t("grantFields.admin")],
];

/**
 * What grants permit, as a sentence.
 * @param {Grant[]} grants
 * @param {(id: string) => string} nameOf the name of a device or structure
 */
export function grantWords(grants, nameOf) {
  return grants.map((grant) => {
    const place = grant.deviceID ?? grant.structureID;
    const scopes = grant.scopes.join(", ");
    return place === undefined ? t("grant.everywhere", { scopes }) : t("grant.for", { scopes, name: nameOf(place) });
  }).join("; ");
}

/**
 * The grants for some scopes in some places; the whole home when there are no places.
 * @param {Scope[]} chosen
 * @param {{ deviceID?: string, structureID?: string }[]} places
 * @returns {Grant[]}
 */
export function grantsFor(chosen, places) {
  if (places.length === 0) return [{ scopes: chosen }];
  return places.map((place) => ({ scopes: chosen, ...place }));
}

/** Check boxes for scopes, and for the places in which they hold. */
export class GrantFields {
  /**
   * @param {HTMLElement} node
   * @param {Scope[]} preset the scopes that are checked at first
   */
  constructor(node, preset) {
    this.node = node;
    this.preset = preset;
    /** @type {{ box: HTMLInputElement, scope: Scope }[]} */
    this.scopes = [];
    /** @type {{ box: HTMLInputElement, place: { deviceID?: string, structureID?: string } }[]} */
    this.places = [];
  }

  /**
   * Shows the fields for these places.
   * @param {{ id: string, name: string }[]} structures
   * @param {{ id: string, name: string }[]} devices
   */
  show(structures, devices) {
    this.scopes = scopeWords.map(([scope, words]) => ({ box: checkbox(this.preset.includes(scope)), scope, words }));
    this.places = [
      ...structures.map(({ id, name }) => ({ box: checkbox(false), place: { structureID: id }, words: t("grantFields.allOfName", { name }) })),
      ...devices.map(({ id, name }) => ({ box: checkbox(false), place: { deviceID: id }, words: name })),
    ];
    this.node.replaceChildren(
      group(t("grantFields.itMay"), this.scopes), group(t("grantFields.places"), this.places));
  }

  /** @returns {Grant[]} empty when no scope is checked */
  get grants() {
    const chosen = this.scopes.filter(({ box }) => box.checked).map(({ scope }) => scope);
    if (chosen.length === 0) return [];
    return grantsFor(chosen, this.places.filter(({ box }) => box.checked).map(({ place }) => place));
  }
}

/** @param {boolean} isChecked */
export function checkbox(isChecked) {
  const box = element("input");
  box.type = "checkbox";
  box.checked = isChecked;
  return box;
}

/**
 * @param {string} title
 * @param {any[]} fields with a box and words
 */
function group(title, fields) {
  const labels = fields.map(({ box, words }) => element("label", "check", box, ` ${words}`));
  return element("fieldset", "fields", element("legend", "", title), ...labels);
}
