import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { keepEntered, openDialog } from "../../Sources/App/WebFiles/page/dialog.js";
import { Views } from "../../Sources/App/WebFiles/page/views.js";
import { replace, replaceDocument, restore, TestElement } from "./elements.js";

let home;
let views;
let named;
/** The link of a camera in the list, and what its tile always has. */
let link;
let more;

beforeEach(() => {
  let body;
  ({ body, named } = replaceDocument());
  document.activeElement = body;
  replace("location", { hash: "", pathname: "/", search: "", replace: (hash) => { location.hash = hash; } });
  replace("history", { pushState: (_, __, address) => { location.hash = address.replace(/^\//, ""); } });
  replace("scrollTo", () => {});
  replace("scrollY", 0);
  replace("removeEventListener", () => {});
  [link, more] = [new TestElement("a"), new TestElement("button")];
  // Neither is sent, so no view of them begins.
  const tile = (id, key) => ({ reported: { id, key, name: id, endpoints: [] }, more: { node: more } });
  home = {
    node: new TestElement(), structures: new Map(), rooms: new Map(), suspend: () => {}, resume: () => {},
    tiles: new Map([["d1", tile("d1", "yard")]]),
  };
  home.node.append(link, more);
  body.append(home.node);
  const [rights, snapshots] = [{ may: () => true }, { add: () => {}, remove: () => {} }];
  views = new Views(home, { page: { gateway: {}, link: { isUp: true } }, snapshots, rights });
  views.isOpen = true;
});
afterEach(() => {
  views.close();
  restore();
});

function go(fragment) {
  location.hash = fragment;
  views.show();
}
const held = () => document.activeElement;
const button = (title) => views.view.node.querySelectorAll("button").find((one) => one.title === title);

test("a large view that opens from the list has the focus at its name, and the list has it again where it was", () => {
  link.focus();
  go("#camera/yard");
  assert.equal(held(), views.view.frame.heading);
  views.leave();
  assert.equal(held(), link);
});

test("the wall has the focus, and the list has it again where it was", () => {
  link.focus();
  go("#wall");
  assert.equal(held(), views.view.frame.stage);
  go("#camera/yard");
  assert.equal(held(), views.view.frame.heading);
  views.leave();
  assert.equal(held(), views.view.frame.stage);
  views.leave();
  assert.equal(held(), link);
});

test("the list has the focus at the camera that was shown, if what opened it has gone", () => {
  for (const goAway of [() => link.remove(), () => { link.hidden = true; }]) {
    link.focus();
    go("#camera/yard");
    goAway();
    views.leave();
    assert.equal(held(), more);
    home.node.append(link);
  }
});

test("a page that began with the wall has the focus at the way to it, when the list is shown", () => {
  go("#wall");
  views.leave();
  assert.equal(held(), named.get("open-wall"));
});

test("the button for the next camera keeps the focus, and another key brings it to the name", () => {
  views.parts.cameras = () => ["a", "b"].map((id) => ({ id, name: id, endpoints: [] }));
  link.focus();
  go("#camera/yard");
  button("Next camera").focus();
  go("#camera/hall");
  assert.equal(held(), button("Next camera"));
  views.view.frame.stage.focus();
  go("#camera/yard");
  assert.equal(held(), views.view.frame.heading);
});

test("a screen that nobody touches has no mark around the name of its camera", () => {
  // Somebody signs in, and the page shows what its address says.
  const field = new TestElement("input");
  document.body.append(field);
  field.focus();
  location.hash = "#camera/yard";
  views.open();
  assert.equal(held(), field);
  document.activeElement = document.body;
  go("#camera/hall");
  assert.equal(held(), document.body);
});

test("dialogs close with the view that they were opened in, the latest first", () => {
  document.querySelectorAll = (name) => document.body.querySelectorAll(name);
  go("#camera/yard");
  const closed = [];
  const open = (name) => openDialog(name, "", () => closed.push(name));
  open("Settings");
  open("Question");
  // An address that asks for the same view does not close them.
  go("#camera/yard");
  assert.deepEqual(closed, []);
  go("#wall");
  assert.deepEqual(closed, ["Question", "Settings"]);
  go("");
  open("Device");
  go("");
  go("#nothing-known");
  assert.deepEqual(closed.length, 2);
  go("#wall");
  assert.deepEqual(closed.length, 3);
});

test("the focus that a dialog gives back goes along, too", () => {
  document.querySelectorAll = (name) => document.body.querySelectorAll(name);
  link.focus();
  const { node } = openDialog("Settings", "", () => link.focus());
  node.focus();
  go("#camera/yard");
  assert.equal(held(), views.view.frame.heading);
  views.leave();
  assert.equal(held(), link);
});

test("somebody who keeps what they have entered stays, with the address of what is shown", () => {
  document.querySelectorAll = (name) => document.body.querySelectorAll(name);
  go("#camera/yard");
  const { view } = views;
  let isKept = true;
  replace("confirm", () => !isKept);
  const { node } = openDialog("Editor", "");
  let text = "";
  keepEntered(node, () => text);
  text = "entered";
  go("#wall");
  assert.deepEqual([views.view === view, node.isConnected, location.hash], [true, true, "#camera/yard"]);
  isKept = false;
  go("#wall");
  assert.deepEqual([views.view === view, node.isConnected, location.hash], [false, false, "#wall"]);
});
