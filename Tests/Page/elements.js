// Stand-ins for what the page uses of a document, without layout and without pictures.

export class TestElement {
  constructor(name = "div") {
    Object.assign(this, {
      name, tag: name, className: "", id: "", hidden: false, value: "", dataset: {}, style: {}, attributes: new Map(), listeners: new Map(), own: "",
    });
    /** @type {TestElement[]} */
    this.childNodes = [];
    /** @type {TestElement | null} */
    this.parentNode = null;
    const classes = new Set();
    this.classList = {
      toggle: (one, isOn = !classes.has(one)) => (isOn ? classes.add(one) : classes.delete(one)), contains: (one) => classes.has(one),
    };
    this.content = { cloneNode: () => new TestElement("svg") };
    if (name === "video") Object.assign(this, { muted: false, play: async () => {} });
  }
  get children() { return this.childNodes; }
  get options() { return this.childNodes; }
  get parentElement() { return this.parentNode; }
  get firstChild() { return this.childNodes[0] ?? null; }
  get lastElementChild() { return this.childNodes.at(-1) ?? null; }
  get previousElementSibling() { return this.beside(-1); }
  get nextSibling() { return this.beside(1); }
  get isConnected() { return this.name === "body" || (this.parentNode?.isConnected ?? false); }
  get textContent() { return this.own + this.childNodes.map((one) => one.textContent).join(""); }
  set textContent(text) {
    this.replaceChildren();
    this.own = text;
  }
  beside(by) {
    const nodes = this.parentNode?.childNodes ?? [];
    // Lists grow at the end.
    return nodes[nodes.lastIndexOf(this) + by] ?? null;
  }
  insertBefore(node, next) {
    const made = typeof node === "string" ? Object.assign(new TestElement("text"), { own: node }) : node;
    made.remove();
    made.parentNode = this;
    this.childNodes.splice(next ? this.childNodes.indexOf(next) : this.childNodes.length, 0, made);
    return made;
  }
  append(...nodes) { for (const node of nodes) this.insertBefore(node, null); }
  prepend(...nodes) { for (const node of nodes.reverse()) this.insertBefore(node, this.firstChild); }
  before(...nodes) { for (const node of nodes) this.parentNode?.insertBefore(node, this); }
  after(...nodes) { for (const node of nodes.reverse()) this.parentNode?.insertBefore(node, this.nextSibling); }
  replaceChildren(...nodes) {
    for (const node of this.childNodes.slice()) node.remove();
    this.own = "";
    this.append(...nodes);
  }
  removeChild(node) { node.remove(); }
  remove() {
    // What moves or goes loses the focus.
    const { document } = globalThis;
    if (this.parentNode && document?.activeElement && this.contains(document.activeElement)) document.activeElement = document.body;
    const nodes = this.parentNode?.childNodes ?? [];
    if (nodes.includes(this)) nodes.splice(nodes.indexOf(this), 1);
    this.parentNode = null;
  }
  contains(node) { return node === this || this.childNodes.some((one) => one.contains(node)); }
  querySelector(name) { return this.querySelectorAll(name)[0] ?? null; }
  /** By what the elements are, by the names of controls and by classes, with commas between several. */
  querySelectorAll(selector) {
    const wanted = selector.split(", ");
    const fits = (one) => wanted.some((name) => name === one.name || name === one.tag || (name.startsWith(".") && one.className.split(" ").includes(name.slice(1))));
    return this.childNodes.flatMap((one) => [...(fits(one) ? [one] : []), ...one.querySelectorAll(selector)]);
  }
  closest(name) { return this.tag === name ? this : this.parentNode?.closest(name) ?? null; }
  setAttribute(name, value) { this.attributes.set(name, value); }
  getAttribute(name) { return this.attributes.get(name) ?? null; }
  removeAttribute(name) { this.attributes.delete(name); }
  addEventListener(name, listener) { this.listeners.set(name, listener); }
  focus() { if (!this.hidden) globalThis.document.activeElement = this; }
  scrollIntoView() {}
  showModal() { this.open = true; }
  close() {
    // A browser does nothing for a dialog that is closed.
    if (!this.open) return;
    this.open = false;
    this.listeners.get("close")?.();
  }
  getContext() { return { drawImage: () => {} }; }
}

/** @type {Map<string, PropertyDescriptor | undefined>} */
const before = new Map();

/**
 * Puts a value in the place of a global one until restore().
 * @param {string} name
 * @param {unknown} value
 */
export function replace(name, value) {
  if (!before.has(name)) before.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

/** Puts back what was there before. */
export function restore() {
  for (const [name, value] of before) {
    if (value) Object.defineProperty(globalThis, name, value);
    else delete globalThis[name];
  }
  before.clear();
}

/**
 * Answers the question of the page that is open.
 * @param {TestElement} body
 * @param {boolean} isAgreed
 */
export async function answerQuestion(body, isAgreed) {
  const question = body.querySelectorAll(".ask").at(-1);
  if (isAgreed) question.querySelector("form").listeners.get("submit")({ preventDefault() {} });
  else question.querySelectorAll("button")[0].listeners.get("click")({});
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
}

/** A document. Answers its elements with an id, which are made when they are asked for. */
export function replaceDocument() {
  /** @type {Map<string, TestElement>} */
  const named = new Map();
  const body = new TestElement("body");
  for (const kind of ["HTMLElement", "HTMLInputElement", "HTMLFormElement", "HTMLButtonElement", "HTMLImageElement", "HTMLSelectElement"]) replace(kind, TestElement);
  for (const kind of ["IntersectionObserver", "ResizeObserver"]) {
    replace(kind, class {
      observe() {}
      unobserve() {}
      disconnect() {}
    });
  }
  replace("Option", class extends TestElement {});
  replace("document", {
    body, documentElement: new TestElement("html"), visibilityState: "visible", activeElement: null, createElement: (name) => new TestElement(name),
    getElementById: (id) => {
      if (!named.has(id)) named.set(id, new TestElement());
      body.append(named.get(id));
      return named.get(id);
    },
    addEventListener: () => {}, querySelector: () => null, querySelectorAll: (name) => body.querySelectorAll(name),
  });
  replace("addEventListener", () => {});
  replace("navigator", { onLine: true });
  return { body, named };
}
