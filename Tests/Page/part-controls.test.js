import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { arrange } from "../../Sources/App/WebFiles/page/dom.js";
import { PartControls } from "../../Sources/App/WebFiles/page/part-controls.js";

/** As much of an element as this needs. It counts how often it was put somewhere: a node that moves loses the focus. */
class Node {
  constructor(tag) { Object.assign(this, { tag, childNodes: [], placed: 0, className: "", textContent: "" }); }
  get firstChild() { return this.childNodes[0]; }
  append(...nodes) { for (const node of nodes) this.insertBefore(node, null); }
  removeChild(node) { this.childNodes.splice(this.childNodes.indexOf(node), 1); }
  insertBefore(node, next) {
    if (this.childNodes.includes(node)) this.removeChild(node);
    this.childNodes.splice(next ? this.childNodes.indexOf(next) : this.childNodes.length, 0, node);
    if (node instanceof Node) node.placed += 1;
  }
}

const before = globalThis.document;
beforeEach(() => { globalThis.document = { createElement: (tag) => new Node(tag) }; });
afterEach(() => { globalThis.document = before; });

const kind = (name, rest = {}) => ({
  name, fits: () => true, ...rest,
  make: (part) => ({ node: Object.assign(new Node("control"), { name, label: `${part.name}: ${name}` }), update: () => {} }),
});
const [power, dimmer, chime, night, privacy] = [
  kind("power", { isMain: true }), kind("dimmer"), kind("chime"), kind("night", { fold: "Picture" }), kind("privacy", { fold: "Privacy" }),
];
const hdr = kind("hdr", { fold: "Picture" });
const part = (name = "Yard", types = ["Camera"]) => ({ name, types, traits: () => ({}), send() {}, write() {} });

/** The names of the controls and folds, as they are shown. */
const shown = (node) => node.childNodes.map((one) => (one.tag === "details" ? shown(one).slice(1) : one.name ?? one.textContent));

test("nodes take their places without moving those that stay", () => {
  const parent = new Node("div");
  const [a, b, c, d] = ["a", "b", "c", "d"].map((tag) => new Node(tag));
  arrange(parent, [b, d]);
  arrange(parent, [a, b, c, d]);
  assert.deepEqual(parent.childNodes, [a, b, c, d]);
  arrange(parent, [a, d]);
  assert.deepEqual(parent.childNodes, [a, d]);
  assert.deepEqual([a, b, c, d].map(({ placed }) => placed), [1, 1, 1, 1]);
  arrange(parent, []);
  assert.deepEqual(parent.childNodes, []);
});

test("a control and its fold stay as they are while others come and go", () => {
  const controls = new PartControls();
  controls.show(part(), [hdr, privacy], "");
  const [fold, second] = controls.node.childNodes;
  const switched = fold.childNodes[1];
  assert.deepEqual(shown(controls.node), [["hdr"], ["privacy"]]);

  controls.show(part(), [dimmer, night, hdr, chime, privacy], "");
  assert.deepEqual(shown(controls.node), ["dimmer", ["night", "hdr"], "chime", ["privacy"]]);
  assert.equal(controls.node.childNodes[1], fold);
  assert.equal(fold.childNodes[2], switched);
  controls.show(part(), [hdr], "");
  assert.deepEqual(shown(controls.node), [["hdr"]]);
  assert.deepEqual([fold.placed, switched.placed, second.placed], [1, 1, 1]);
  assert.deepEqual([...controls.controls].length, 1);
});

test("a fold that has gone for a while is the same one when it returns", () => {
  const controls = new PartControls();
  controls.show(part(), [night, privacy], "");
  const fold = controls.node.childNodes[0];
  fold.open = true;
  controls.show(part(), [privacy], "");
  controls.show(part(), [night, privacy], "");
  assert.equal(controls.node.childNodes[0], fold);
  assert.equal(fold.open, true);
});

test("a part that is called otherwise gets controls with its new name in the folds that it has", () => {
  const controls = new PartControls();
  controls.show(part("Yard"), [hdr], "");
  const fold = controls.node.childNodes[0];
  controls.show(part("Gate"), [hdr], "");
  assert.equal(controls.node.childNodes[0], fold);
  assert.deepEqual(fold.childNodes.slice(1).map(({ label }) => label), ["Gate: hdr"]);
});

test("the main control is beside the device's name, or beside the part's if there are several", () => {
  const controls = new PartControls();
  const alone = controls.show(part(), [power, dimmer], "");
  assert.deepEqual(alone.map(({ name }) => name), ["power"]);
  assert.deepEqual(shown(controls.node), ["dimmer"]);
  assert.deepEqual(controls.show(part(), [power, dimmer], "Socket"), []);
  assert.deepEqual(shown(controls.head), ["Socket", "power"]);
  assert.deepEqual(controls.node.childNodes[0], controls.head);
});
