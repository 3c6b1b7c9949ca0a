import { arrange, element } from "./dom.js";

/**
 * @typedef {import("./controls.js").Control} Control
 * @typedef {import("./controls.js").ControlKind} ControlKind
 * @typedef {import("./controls.js").Part} Part
 */

/**
 * The controls of a part of a device, with their folds. Controls come and go with what the device reports. The others are not
 * touched, so a fold stays open, a slider stays in somebody's hand, and a list keeps the keyboard's focus.
 */
export class PartControls {
  constructor() {
    this.node = element("div", "part");
    this.head = element("div", "part-head");
    this.title = element("h4");
    /** @type {Map<string, HTMLDetailsElement>} */
    this.folds = new Map();
    /** @type {Map<string, Control>} */
    this.made = new Map();
    // What the controls were made for: their labels contain it.
    this.key = "";
  }

  /** @returns {Iterable<Control>} */
  get controls() { return this.made.values(); }

  /**
   * Makes the controls that are missing and removes those that do not fit any more.
   * @param {Part} part
   * @param {ControlKind[]} kinds those that fit, in their order
   * @param {string} title of the part; empty if the device has no other
   * @returns {Node[]} the controls that belong beside the device's name
   */
  show(part, kinds, title) {
    const key = JSON.stringify([part.name, part.types]);
    const former = key === this.key ? this.made : new Map();
    this.key = key;
    this.made = new Map(kinds.map((kind) => [kind.name, former.get(kind.name) ?? kind.make(part)]));
    /** @type {Node[]} */
    const main = [];
    /** @type {Map<string, Node[]>} */
    const folded = new Map();
    /** @type {Set<Node>} */
    const below = new Set();
    for (const kind of kinds) {
      const node = /** @type {Control} */ (this.made.get(kind.name)).node;
      if (kind.isMain) main.push(node);
      else if (kind.fold) {
        folded.set(kind.fold, [...folded.get(kind.fold) ?? [], node]);
        below.add(this.fold(kind.fold));
      } else below.add(node);
    }
    for (const [name, nodes] of folded) {
      const fold = this.fold(name);
      arrange(fold, [/** @type {Node} */ (fold.firstChild), ...nodes]);
    }
    this.title.textContent = title;
    const head = title === "" ? [] : [this.title, ...main];
    arrange(this.head, head);
    arrange(this.node, [...head.length > 0 ? [this.head] : [], ...below]);
    return title === "" ? main : [];
  }

  /** @param {string} name */
  fold(name) {
    const known = this.folds.get(name);
    if (known) return known;
    const made = element("details", "fold", element("summary", "", name));
    this.folds.set(name, made);
    return made;
  }
}
