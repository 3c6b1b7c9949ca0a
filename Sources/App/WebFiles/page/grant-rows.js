import { Button, element } from "./dom.js";
import { checkbox, scopeWords } from "./grant-fields.js";
import { keepFocus } from "./kept-focus.js";
import { t } from "./text.js";

/**
 * @typedef {import("./types").Grant} Grant
 * @typedef {{ id: string, name: string }} Named
 */

/**
 * The place of a grant, as the value of an option.
 * @param {{ structureID?: string, deviceID?: string }} grant
 */
export function placeValue({ structureID, deviceID }) {
  if (deviceID !== undefined) return `device ${deviceID}`;
  return structureID === undefined ? "" : `structure ${structureID}`;
}

/**
 * The place that an option stands for.
 * @param {string} value
 * @returns {{ structureID?: string, deviceID?: string }}
 */
export function placeOfValue(value) {
  const [kind, id] = value.split(" ");
  if (kind === "device") return { deviceID: id };
  return kind === "structure" ? { structureID: id } : {};
}

/** The grants of a token, one line for each place with the scopes that hold there. */
export class GrantRows {
  /** @param {HTMLElement} node */
  constructor(node) {
    this.node = node;
    /** @type {{ place: HTMLSelectElement, boxes: { box: HTMLInputElement, scope: import("./types").Scope }[] }[]} */
    this.rows = [];
    /** @type {Named[]} */
    this.structures = [];
    /** @type {Named[]} */
    this.devices = [];
  }

  /**
   * @param {Named[]} structures
   * @param {Named[]} devices
   * @param {Grant[]} grants
   */
  show(structures, devices, grants) {
    this.structures = structures;
    this.devices = devices;
    this.rows = [];
    const add = new Button("plus", t("grantRows.anotherPlace"), () => this.add({ scopes: ["read"] }), "button");
    this.node.replaceChildren(add.node);
    for (const grant of grants) this.add(grant);
  }

  /** @param {Grant} grant */
  add(grant) {
    const place = element("select");
    place.setAttribute("aria-label", t("grantRows.where"));
    place.append(new Option(t("grantRows.inTheWholeHome"), ""));
    place.append(...this.structures.map((one) => new Option(t("grantRows.allOfName", { name: one.name }), placeValue({ structureID: one.id }))));
    const group = element("optgroup");
    group.label = t("grantRows.oneDevice");
    group.append(...this.devices.map((one) => new Option(one.name, placeValue({ deviceID: one.id }))));
    if (this.devices.length > 0) place.append(group);
    const value = placeValue(grant);
    // A place that is gone stays in the grant until somebody chooses another.
    if (![...place.options].some((option) => option.value === value)) {
      place.append(new Option(t("grantRows.somethingThatIsGone"), value));
    }
    place.value = value;
    const boxes = scopeWords.map(([scope, words]) => ({ scope, words, box: checkbox(grant.scopes.includes(scope)) }));
    const row = { place, boxes };
    const bin = new Button("bin", t("grantRows.takeAway"), () => {
      this.rows.splice(this.rows.indexOf(row), 1);
      keepFocus(this.node, () => node.remove());
    }, "button plain");
    bin.node.setAttribute("aria-label", t("grantRows.takeThisPlaceAway"));
    const node = element("fieldset", "grant", element("legend", "", t("grantRows.itMay")), element("div", "line", place, bin.node),
      ...boxes.map(({ box, words }) => element("label", "check", box, ` ${words}`)));
    this.rows.push(row);
    this.node.insertBefore(node, this.node.lastElementChild);
  }

  /** @returns {Grant[]} without places where nothing is checked */
  get grants() {
    return this.rows.map(({ place, boxes }) => ({
      scopes: boxes.filter(({ box }) => box.checked).map(({ scope }) => scope), ...placeOfValue(place.value),
    })).filter(({ scopes }) => scopes.length > 0);
  }
}
