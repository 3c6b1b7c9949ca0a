import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { openCameraDialog } from "../../Sources/App/WebFiles/page/camera-dialog.js";
import { openCameraSettings } from "../../Sources/App/WebFiles/page/camera-edit.js";
import { openDevice } from "../../Sources/App/WebFiles/page/device-dialog.js";
import { closeDialogs, leaveDialog, mayDiscard } from "../../Sources/App/WebFiles/page/dialog.js";
import { openPlaces } from "../../Sources/App/WebFiles/page/places-dialog.js";
import { openNotifications } from "../../Sources/App/WebFiles/page/push-dialog.js";
import { openSettings } from "../../Sources/App/WebFiles/page/settings-dialog.js";
import { answerQuestion, replace, replaceDocument, restore } from "./elements.js";

// A dialog with something that is not saved asks before it closes.

let body;
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
const camera = { id: "yard", deviceID: "yard", source: "rtsp://192.0.2.1/one", name: "Yard", origin: "api" };
const device = { id: "d1", name: "Lamp", structureID: "s1", roomID: "r1", type: "OnOffLightDevice", endpoints: [] };

beforeEach(() => {
  ({ body } = replaceDocument());
  // A browser in which somebody has switched off its own questions.
  replace("confirm", () => false);
  replace("fetch", async () => Response.json({ cameras: [] }));
});
afterEach(restore);

const dialog = () => body.querySelectorAll("dialog")[0];
const questions = () => body.querySelectorAll(".ask").length;
/** Presses Escape. Returns whether the browser closes the dialog. */
function escape() {
  const node = dialog();
  let isPrevented = false;
  node.listeners.get("cancel")({ target: node, cancelable: true, preventDefault: () => { isPrevented = true; } });
  return !isPrevented;
}
const press = (words) => dialog().querySelectorAll("button").find((one) => one.textContent === words).listeners.get("click")({});
/** Requires that the page asks, and answers it. */
async function answer(isAgreed) {
  assert.equal(questions(), 1);
  await answerQuestion(body, isAgreed);
  assert.equal(questions(), 0);
}
/** Requires that Escape leads to a question, and keeps what was entered. */
async function escapeAsks() {
  assert.equal(escape(), false);
  await answer(false);
}
const escapeCloses = () => assert.deepEqual([escape(), questions()], [true, 0]);

/** Checks an open dialog, of which one field is changed. */
async function check(field) {
  const { value } = field;
  escapeCloses();
  field.value = "something else";
  await escapeAsks();
  press("Close");
  await answer(false);
  assert.equal(dialog()?.isConnected, true);
  field.value = value;
  escapeCloses();
  field.value = "something else";
  press("Close");
  await answer(true);
  assert.equal(dialog(), undefined);
}

test("the settings of a camera are not lost without a question", async () => {
  openCameraSettings("Yard", camera);
  await check(dialog().querySelectorAll("input")[0]);
});

test("settings of a camera that were saved need no question", async () => {
  openCameraSettings("Yard", camera);
  dialog().querySelectorAll("input")[0].value = "rtsp://192.0.2.1/two";
  dialog().querySelectorAll("form")[0].listeners.get("submit")({ preventDefault() {} });
  await settle();
  assert.equal(dialog(), undefined);
});

test("a camera that is not added yet is not lost without a question", async () => {
  openCameraDialog(() => new Set());
  await settle();
  await check(dialog().querySelectorAll("input")[0]);
});

test("the key Escape asks each time, because a browser asks the page only once whether a dialog may close", async () => {
  openCameraSettings("Yard", camera);
  const node = dialog();
  const key = (more) => {
    let isPrevented = false;
    node.listeners.get("keydown")({ key: "Escape", isComposing: false, defaultPrevented: false, preventDefault: () => { isPrevented = true; }, ...more });
    return isPrevented;
  };
  // Without anything to lose, the browser closes the dialog.
  assert.deepEqual([key(), questions()], [false, 0]);
  node.querySelectorAll("input")[0].value = "something else";
  assert.deepEqual([key({ isComposing: true }), key({ key: "a" }), questions()], [false, false, 0]);
  for (const isAgreed of [false, false, true]) {
    assert.equal(key(), true);
    await answer(isAgreed);
  }
  assert.equal(node.isConnected, false);
});

/** A browser closes the dialog, and only says so: Chromium does at the second way back without a touch between them. */
function force() {
  const node = dialog();
  node.listeners.get("cancel")({ target: node, cancelable: false, preventDefault: () => {} });
  node.close();
}

test("a dialog that the browser closes without letting the page ask opens again, and asks", async () => {
  openCameraSettings("Yard", camera);
  const node = dialog();
  const [field] = node.querySelectorAll("input");
  field.value = "something else";
  field.focus();
  await escapeAsks();
  for (const isAgreed of [false, false, true]) {
    field.focus();
    force();
    assert.deepEqual([node.open, node.isConnected, field.value], [true, true, "something else"]);
    await answer(isAgreed);
  }
  assert.equal(dialog(), undefined);
});

test("a dialog without anything to lose stays closed when the browser closes it", () => {
  openCameraSettings("Yard", camera);
  force();
  assert.deepEqual([dialog(), questions()], [undefined, 0]);
});

test("a dialog that the browser closes does not open again for the next person", async () => {
  openCameraSettings("Yard", camera);
  const node = dialog();
  node.querySelectorAll("input")[0].value = "something else";
  node.listeners.get("cancel")({ target: node, cancelable: false, preventDefault: () => {} });
  node.open = false;
  closeDialogs();
  node.listeners.get("close")();
  await settle();
  assert.deepEqual([dialog(), questions()], [undefined, 0]);
});

test("a dialog asks once at a time, and everybody who waits gets the answer", async () => {
  openCameraSettings("Yard", camera);
  const node = dialog();
  node.querySelectorAll("input")[0].value = "something else";
  const answers = [leaveDialog(node), leaveDialog(node), mayDiscard(node)];
  await answer(false);
  assert.deepEqual(await Promise.all(answers), [false, false, false]);
});

test("a dialog that closes takes its question along, and nobody has agreed to anything", async () => {
  openCameraSettings("Yard", camera);
  const node = dialog();
  node.querySelectorAll("input")[0].value = "something else";
  const left = leaveDialog(node);
  // What was asked for before has worked, for example.
  node.close();
  assert.deepEqual([questions(), dialog(), await left], [0, undefined, false]);
});

test("somebody who signs out leaves no dialog and no question", async () => {
  openLamp((id) => assert.fail(`the history of ${id} opens for nobody`));
  dialog().querySelectorAll("input")[0].value = "Big lamp";
  press("History");
  assert.equal(questions(), 1);
  closeDialogs();
  await settle();
  assert.equal(dialog(), undefined);
});

/** Opens the dialog of rooms. */
function openRooms() {
  let followed = () => {};
  const home = {
    structures: new Map([["s1", { id: "s1", name: "Home", timeZone: "Europe/Berlin" }]]), rooms: new Map([["r1", { id: "r1", name: "Hall", structureID: "s1" }]]),
    place: (known, id, one) => {
      known.set(id, one);
      followed();
    },
    followPlaces: (follower) => {
      followed = follower;
      return () => {};
    },
  };
  openPlaces(home, "s1", { may: () => true });
}
const input = (words) => dialog().querySelectorAll("input").find((one) => one.getAttribute("aria-label") === words || one.parentNode.textContent === words);
async function submit(one) {
  one.closest("form").listeners.get("submit")({ preventDefault() {} });
  await settle();
}

for (const words of ["Address", "Name of this home", "Name of Hall", "New room"]) {
  test(`what is entered in the dialog of rooms is not lost without a question: ${words}`, async () => {
    openRooms();
    await check(input(words));
  });
}

test("what was saved in the dialog of rooms needs no question, and what was entered since does", async () => {
  openRooms();
  for (const [words, text] of [["Address", "1 Main Street"], ["Name of this home", "Lake house"], ["Name of Hall", "Entrance"], ["New room", "Kitchen"]]) {
    input(words).value = text;
    await submit(input(words));
  }
  escapeCloses();
  const address = input("Address");
  address.value = "2 Main Street";
  const saved = submit(address);
  address.value = "3 Main Street";
  await saved;
  await escapeAsks();
});

/** Opens the dialog of the notifications of a browser that the gateway knows. */
function openKnown(detections = []) {
  replace("window", { isSecureContext: false });
  replace("navigator", { userAgent: "", onLine: true });
  const made = openNotifications([], "owner");
  made.show({ id: "p1", wishes: { doorbell: true, detections, picture: true } });
  return made;
}
const box = (words) => dialog().querySelectorAll("input").find((one) => one.parentNode.textContent === words);

test("wishes for notifications are not lost without a question, and those that were saved need none", async () => {
  replace("localStorage", { getItem: () => null, setItem: () => {} });
  openKnown();
  escapeCloses();
  box("A person").checked = true;
  await escapeAsks();
  await submit(box("A person"));
  escapeCloses();
  box("A person").checked = false;
  press("Close");
  await answer(false);
  assert.equal(dialog()?.isConnected, true);
});

test("what the gateway says late about a browser changes neither what somebody has chosen nor the focus", async () => {
  const made = openKnown();
  box("A vehicle").checked = true;
  box("A vehicle").focus();
  made.show({ id: "p2", wishes: { doorbell: true, detections: ["person"], picture: true } });
  assert.deepEqual(made.wishes.detections, ["vehicle"]);
  assert.equal(document.activeElement, box("A vehicle"));
  await escapeAsks();
});

test("settings of the gateway are not lost without a question, and those whose lines were copied need none", async () => {
  replace("HTMLSelectElement", document.createElement("select").constructor);
  const settings = { rtsp: { host: "127.0.0.1", port: 8554 }, rtmp: false, recording: false, mqtt: false };
  replace("fetch", async (path) => Response.json(path.endsWith("/settings") ? { file: "/etc/gatehouse.yaml", hasFile: true, settings }
    : { problems: [], needsRestart: [], cameras: [], removed: [] }));
  openSettings();
  await settle();
  const port = dialog().querySelectorAll("input").find(({ value }) => value === "8554");
  escapeCloses();
  port.value = "8555";
  await escapeAsks();
  await submit(port);
  await escapeAsks();
  port.closest("form").querySelectorAll("textarea")[0].listeners.get("copy")();
  escapeCloses();
  port.value = "8556";
  await escapeAsks();
});

/** Opens the dialog of a device. */
function openLamp(openHistory = () => {}) {
  const home = { structures: new Map([["s1", { id: "s1", name: "Home" }]]), rooms: new Map([["r1", { id: "r1", name: "Hall", structureID: "s1" }]]),
    followPlaces: () => () => {} };
  openDevice(home, { reported: device }, { may: () => true }, {}, openHistory);
}

test("the name and the room of a device are not lost without a question", async () => {
  openLamp();
  await check(dialog().querySelectorAll("input")[0]);
});

test("the history of a device waits until somebody agrees to lose what they have entered", async () => {
  const opened = [];
  openLamp((id) => opened.push(id));
  dialog().querySelectorAll("input")[0].value = "Big lamp";
  press("History");
  await answer(false);
  assert.deepEqual([opened, dialog()?.isConnected], [[], true]);
  press("History");
  await answer(true);
  assert.deepEqual([opened, dialog()], [["d1"], undefined]);
});
