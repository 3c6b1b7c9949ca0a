import { t } from "./text.js";


/**
 * The element with this id. Throws if index.html has none, or one of another kind.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind for example HTMLInputElement
 * @returns {T}
 */
export function byID(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`index.html has no ${kind.name} with the id ${id}`);
  return found;
}

/**
 * Makes an element. Texts of the gateway and of cameras are only ever set as text, never as markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {...(Node | string)} content
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, className = "", ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

/**
 * A text that stays the same is not set: the browser would lay it out again, and somebody may have marked it.
 * @param {HTMLElement} node
 * @param {string} text
 */
export function setText(node, text) { if (node.textContent !== text) node.textContent = text; }

/**
 * Sets a text that is read out. One that counts, such as the seconds without a picture, is read out once, when it begins to.
 * @param {HTMLElement} node a live region
 * @param {string} text
 * @param {boolean} isCounting
 */
export function sayText(node, text, isCounting) {
  node.setAttribute("aria-live", isCounting && node.dataset["counting"] === "true" ? "off" : "polite");
  node.dataset["counting"] = String(isCounting);
  setText(node, text);
}

/** How a page scrolls for somebody: at once, if they want things to move little. @returns {ScrollBehavior} */
export function scrollBehavior() { return globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth"; }

/**
 * Gives an element these children, in this order. Those that are in place are not touched, because a node that moves loses
 * the focus and whatever somebody is doing with it.
 * @param {Node} parent
 * @param {Node[]} nodes
 */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  const former = Array.from(parent.childNodes).filter((node) => !wanted.has(node));
  for (const node of former) parent.removeChild(node);
  for (const [index, node] of nodes.entries()) {
    const present = parent.childNodes[index] ?? null;
    if (present !== node) parent.insertBefore(node, present);
  }
}

const shapes = {
  camera: '<path d="M3 8.5A2.5 2.5 0 0 1 5.5 6h9A2.5 2.5 0 0 1 17 8.5v7a2.5 2.5 0 0 1-2.5 2.5h-9A2.5 2.5 0 0 1 3 15.5z"/><path d="m17 11 4-2.5v7L17 13"/>',
  bell: '<path d="M6 10a6 6 0 0 1 12 0c0 5 2 6 2 7H4c0-1 2-2 2-7z"/><path d="M10 20a2.2 2.2 0 0 0 4 0"/>',
  play: '<path d="M8 5.5v13l10.5-6.5z" fill="currentColor"/>',
  stop: '<rect x="6.5" y="6.5" width="11" height="11" rx="2" fill="currentColor"/>',
  microphone: '<rect x="9" y="3" width="6" height="11" rx="3"/><path d="M5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3"/>',
  sound: '<path d="M4 9.5v5h3.5L12 18V6L7.5 9.5z"/><path d="M15.5 9a4.2 4.2 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11"/>',
  muted: '<path d="M4 9.5v5h3.5L12 18V6L7.5 9.5z"/><path d="m16 9.5 5 5m0-5-5 5"/>',
  pause: '<rect x="6.5" y="5.5" width="4" height="13" rx="1" fill="currentColor"/><rect x="13.5" y="5.5" width="4" height="13" rx="1" fill="currentColor"/>',
  history: '<path d="M4 12a8 8 0 1 0 2.5-5.8"/><path d="M4 4v4h4M12 8v4.5l3 2"/>',
  close: '<path d="m6 6 12 12M18 6 6 18"/>',
  back: '<path d="m14.5 5.5-6.5 6.5 6.5 6.5"/>',
  forward: '<path d="m9.5 5.5 6.5 6.5-6.5 6.5"/>',
  closer: '<circle cx="11" cy="11" r="6.5"/><path d="m16 16 4.5 4.5M8.5 11h5M11 8.5v5"/>',
  wider: '<circle cx="11" cy="11" r="6.5"/><path d="m16 16 4.5 4.5M8.5 11h5"/>',
  up: '<path d="m5.5 14.5 6.5-6.5 6.5 6.5"/>',
  down: '<path d="m5.5 9.5 6.5 6.5 6.5-6.5"/>',
  lock: '<rect x="5.5" y="10.5" width="13" height="9.5" rx="2"/><path d="M8.5 10.5V8a3.5 3.5 0 0 1 7 0v2.5"/>',
  unlock: '<rect x="5.5" y="10.5" width="13" height="9.5" rx="2"/><path d="M8.5 10.5V7.5a3.5 3.5 0 0 1 6.8-1.2"/>',
  more: '<path d="M6 12h.01M12 12h.01M18 12h.01" stroke-width="3"/>',
  edit: '<path d="m5 19 1-4L16 5l3 3L9 18z"/>',
  minus: '<path d="M5 12h14"/>',
  plus: '<path d="M12 5v14M5 12h14"/>',
  save: '<path d="M12 4v11m-4.5-4L12 15.5l4.5-4.5M5 19.5h14"/>',
  bin: '<path d="M5 7h14M9.5 7V4.5h5V7M7 7l1 12.5h8L17 7"/>',
  large: '<rect x="3.5" y="5" width="17" height="14" rx="2"/><path d="M10 9H7.5v2.5M14 15h2.5v-2.5"/>',
  wall: '<rect x="3.5" y="5" width="7.5" height="6" rx="1"/><rect x="13" y="5" width="7.5" height="6" rx="1"/><rect x="3.5" y="13" width="7.5" height="6" rx="1"/><rect x="13" y="13" width="7.5" height="6" rx="1"/>',
  float: '<rect x="3.5" y="5" width="17" height="14" rx="2"/><rect x="12" y="12" width="6" height="4.5" rx="1" fill="currentColor"/>',
  picture: '<rect x="3.5" y="6.5" width="17" height="12.5" rx="2"/><path d="M8.5 6.5 10 4h4l1.5 2.5"/><circle cx="12" cy="12.5" r="3.3"/>',
  keys: '<rect x="3" y="6.5" width="18" height="11" rx="2"/><path d="M6.5 10h.01M10 10h.01M14 10h.01M17.5 10h.01M8 14h8"/>',
  help: '<circle cx="12" cy="12" r="8.5"/><path d="M9.7 9.5a2.4 2.4 0 1 1 3.5 2.1c-.8.5-1.2.9-1.2 1.9M12 16.5h.01"/>',
  copy: '<rect x="8.5" y="8.5" width="11" height="11" rx="2"/><path d="M15.5 8.5v-2a2 2 0 0 0-2-2h-7a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h2"/>',
  full: '<path d="M9 4H4v5M15 4h5v5M9 20H4v-5M15 20h5v-5"/>',
};

/** @typedef {keyof typeof shapes} Shape */

/**
 * The icons that were asked for: a thousand devices have the same ones, and reading markup takes its time.
 * @type {Map<Shape, HTMLTemplateElement>}
 */
const drawn = new Map();

/**
 * @param {Shape} shape
 * @returns {Node}
 */
export function icon(shape) {
  const known = drawn.get(shape);
  if (known) return known.content.cloneNode(true);
  const holder = document.createElement("template");
  holder.innerHTML = `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes[shape]}</svg>`;
  drawn.set(shape, holder);
  return holder.content.cloneNode(true);
}

/** A button with an icon and a label that can change. */
export class Button {
  /**
   * @param {Shape} shape
   * @param {string} label
   * @param {() => unknown} action
   * @param {string} [className]
   */
  constructor(shape, label, action, className = "button") {
    this.text = element("span", "", label);
    this.node = element("button", className, icon(shape), this.text);
    this.node.type = "button";
    this.node.title = label;
    this.node.addEventListener("click", action);
  }

  /** @param {Shape} shape */
  set shape(shape) { this.node.replaceChildren(icon(shape), this.text); }

  /** @param {string} label */
  set label(label) {
    if (this.text.textContent === label) return;
    this.text.textContent = label;
    this.node.title = label;
  }
}

/**
 * What went wrong, as elements: the sentence, and the rest for those who open it.
 * @param {import("./types").Fault} fault
 * @returns {(Node | string)[]}
 */
export function faultElements({ message, details }) {
  if (!details) return [message];
  return [message, element("details", "more", element("summary", "", t("dom.details")), element("p", "", details))];
}
