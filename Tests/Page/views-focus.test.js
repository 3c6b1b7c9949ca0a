import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { closeDialogs, keepEntered, openDialog } from "../../Sources/App/WebFiles/page/dialog.js";
import { Views } from "../../Sources/App/WebFiles/page/views.js";
import { answerQuestion, replace, replaceDocument, restore, TestElement } from "./elements.js";

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

/** Opens a dialog with something that is not saved. */
function openEntered() {
  document.querySelectorAll = (name) => document.body.querySelectorAll(name);
  const { node } = openDialog("Editor", "");
  let text = "";
  keepEntered(node, () => text);
  text = "entered";
  return node;
}
const questions = () => document.body.querySelectorAll(".ask").length;

test("somebody who keeps what they have entered stays, with the address of what is shown", async () => {
  go("#camera/yard");
  const { view } = views;
  const node = openEntered();
  go("#wall");
  assert.deepEqual([views.view === view, questions()], [true, 1]);
  await answerQuestion(document.body, false);
  assert.deepEqual([views.view === view, node.isConnected, location.hash], [true, true, "#camera/yard"]);
  go("#wall");
  await answerQuestion(document.body, true);
  assert.deepEqual([views.view === view, node.isConnected, location.hash], [false, false, "#wall"]);
});

test("a page that goes elsewhere twice asks once, and shows the last address", async () => {
  const node = openEntered();
  go("#camera/yard");
  go("#wall");
  assert.equal(questions(), 1);
  await answerQuestion(document.body, true);
  assert.deepEqual([questions(), node.isConnected, views.shown.kind], [0, false, "wall"]);
});

test("a dialog that closes by itself while somebody is asked holds nobody back", async () => {
  const node = openEntered();
  go("#wall");
  node.close();
  await new Promise(setImmediate);
  assert.deepEqual([questions(), views.shown.kind, location.hash], [0, "wall", "#wall"]);
});

test("somebody who signs out while the page asks changes neither the address nor the view", async () => {
  openEntered();
  go("#wall");
  views.close();
  closeDialogs();
  await new Promise(setImmediate);
  assert.deepEqual([questions(), views.view, location.hash], [0, null, "#wall"]);
});
