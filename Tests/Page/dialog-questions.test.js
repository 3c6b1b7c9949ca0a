import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { openCameraDialog } from "../../Sources/App/WebFiles/page/camera-dialog.js";
import { openCameraSettings } from "../../Sources/App/WebFiles/page/camera-edit.js";
import { openDevice } from "../../Sources/App/WebFiles/page/device-dialog.js";
import { replace, replaceDocument, restore } from "./elements.js";

// A dialog with something that is not saved asks before it closes.

let body;
let questions = 0;
let agrees = false;
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
const camera = { id: "yard", deviceID: "yard", source: "rtsp://192.0.2.1/one", name: "Yard", origin: "api" };
const device = { id: "d1", name: "Lamp", structureID: "s1", roomID: "r1", type: "OnOffLightDevice", endpoints: [] };

beforeEach(() => {
  ({ body } = replaceDocument());
  [questions, agrees] = [0, false];
  replace("confirm", () => {
    questions += 1;
    return agrees;
  });
  replace("fetch", async () => Response.json({ cameras: [] }));
});
afterEach(restore);

const dialog = () => body.querySelectorAll("dialog")[0];
/** Presses Escape. Returns whether the browser closes the dialog. */
function escape() {
  const node = dialog();
  let isPrevented = false;
  node.listeners.get("cancel")({ target: node, preventDefault: () => { isPrevented = true; } });
  return !isPrevented;
}
const press = (words) => dialog().querySelectorAll("button").find((one) => one.textContent === words).listeners.get("click")({});

/** Checks an open dialog, of which one field is changed. */
async function check(field) {
  const { value } = field;
  assert.deepEqual([escape(), questions], [true, 0]);
  field.value = "something else";
  assert.deepEqual([escape(), questions], [false, 1]);
  press("Close");
  assert.deepEqual([questions, dialog()?.isConnected], [2, true]);
  field.value = value;
  assert.deepEqual([escape(), questions], [true, 2]);
  field.value = "something else";
  agrees = true;
  press("Close");
  assert.deepEqual([questions, dialog()], [3, undefined]);
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
  assert.deepEqual([questions, dialog()], [0, undefined]);
});

test("a camera that is not added yet is not lost without a question", async () => {
  openCameraDialog(() => new Set());
  await settle();
  await check(dialog().querySelectorAll("input")[0]);
});

test("the key Escape asks each time, because a browser asks the page only once whether a dialog may close", () => {
  openCameraSettings("Yard", camera);
  const node = dialog();
  const key = (more) => {
    let isPrevented = false;
    node.listeners.get("keydown")({ key: "Escape", isComposing: false, defaultPrevented: false, preventDefault: () => { isPrevented = true; }, ...more });
    return isPrevented;
  };
  // Without anything to lose, the browser closes the dialog.
  assert.deepEqual([key(), questions], [false, 0]);
  node.querySelectorAll("input")[0].value = "something else";
  assert.deepEqual([key({ isComposing: true }), key({ key: "a" }), questions], [false, false, 0]);
  assert.deepEqual([key(), key(), questions, node.isConnected], [true, true, 2, true]);
  agrees = true;
  assert.deepEqual([key(), questions, node.isConnected], [true, 3, false]);
});

/** Opens the dialog of a device. */
function openLamp(openHistory = () => {}) {
  const home = { structures: new Map([["s1", { id: "s1", name: "Home" }]]), rooms: new Map([["r1", { id: "r1", name: "Hall", structureID: "s1" }]]) };
  openDevice(home, { reported: device }, { may: () => true }, {}, openHistory);
}

test("the name and the room of a device are not lost without a question", async () => {
  openLamp();
  await check(dialog().querySelectorAll("input")[0]);
});

test("the history of a device waits until somebody agrees to lose what they have entered", () => {
  const opened = [];
  openLamp((id) => opened.push(id));
  dialog().querySelectorAll("input")[0].value = "Big lamp";
  press("History");
  assert.deepEqual([questions, opened, dialog()?.isConnected], [1, [], true]);
  agrees = true;
  press("History");
  assert.deepEqual([questions, opened, dialog()], [2, ["d1"], undefined]);
});
