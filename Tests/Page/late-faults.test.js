import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { openAutomation } from "../../Sources/App/WebFiles/page/automation-details.js";
import { openEditor } from "../../Sources/App/WebFiles/page/automation-editor.js";
import { openCameraDialog } from "../../Sources/App/WebFiles/page/camera-dialog.js";
import { openCameraSettings } from "../../Sources/App/WebFiles/page/camera-edit.js";
import { openDevice } from "../../Sources/App/WebFiles/page/device-dialog.js";
import { closeDialogs, openDialog } from "../../Sources/App/WebFiles/page/dialog.js";
import { whenFaultIsLate } from "../../Sources/App/WebFiles/page/late-faults.js";
import { Notice } from "../../Sources/App/WebFiles/page/notice.js";
import { openRecordings } from "../../Sources/App/WebFiles/page/recordings.js";
import { openShare } from "../../Sources/App/WebFiles/page/share-dialog.js";
import { answerQuestion, replace, replaceDocument, restore } from "./elements.js";

// What goes wrong after somebody has closed a dialog is said where they are by then.

let body;
let notice;
/** The methods of the requests that wait for their answers. */
let held = [];
/** Lets the requests that wait fail. */
let fail = async () => {};
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };

beforeEach(() => {
  ({ body } = replaceDocument());
  notice = new Notice();
  whenFaultIsLate((fault) => notice.tell(fault));
  held = ["PATCH", "PUT", "POST", "DELETE"];
  const waiting = [];
  fail = async () => {
    for (const answer of waiting.splice(0)) answer(Response.json({ error: { status: "FAILED_PRECONDITION", message: "not now" } }, { status: 400 }));
    await settle();
  };
  replace("fetch", async (path, { method }) => {
    if (held.includes(method) && !path.endsWith("/discover")) return new Promise((resolve) => { waiting.push(resolve); });
    return Response.json({ candidates: [], runs: [], tokens: [], cameras: [], days: [], recordings: [] });
  });
});
afterEach(() => {
  mock.restoreAll();
  restore();
});

const dialogs = () => body.querySelectorAll("dialog");
const submit = () => dialogs().at(-1).querySelectorAll("form")[0].listeners.get("submit")({ preventDefault() {} });
const press = (words) => dialogs().at(-1).querySelectorAll("button").find((one) => one.textContent === words).listeners.get("click")({});
/** Closes the dialog, whatever it would lose. */
async function closeLast() {
  press("Close");
  if (body.querySelectorAll(".ask").length > 0) await answerQuestion(body, true);
}
const told = () => notice.node.textContent;

const camera = { id: "yard", deviceID: "yard", source: "rtsp://192.0.2.1/one", name: "Yard", origin: "api" };
const automation = { id: "a1", name: "Night light", isActive: true, validationIssues: [], etag: "1", automationGraph: { version: 1, nodes: [{ type: "manualStarter" }] } };
const context = {
  home: { structures: new Map(), tiles: new Map() }, structureID: "s1", isOfOthers: () => false, nameOf: () => "Lamp",
  known: () => automation, listen: () => () => {}, keep: () => {}, forget: () => {},
};
const lamp = { id: "d1", name: "Lamp", structureID: "s1", type: "OnOffLightDevice", endpoints: [] };

/** Dialogs in which somebody asks for something and that they close before the answer. */
const asked = {
  "Settings of Yard": () => {
    openCameraSettings("Yard", camera);
    body.querySelectorAll("input")[0].value = "rtsp://192.0.2.1/two";
    submit();
  },
  "Add a camera": () => {
    openCameraDialog(() => new Set());
    body.querySelectorAll("input")[0].value = "builtin:doorbell";
    submit();
  },
  "Edit Night light": async () => {
    openEditor(context, automation);
    await settle();
    submit();
  },
  "Night light": () => {
    openAutomation(context, "a1");
    press("Run");
  },
  Lamp: () => {
    openDevice({ structures: new Map(), rooms: new Map(), followPlaces: () => () => {} }, { reported: lamp }, { may: () => true }, {}, () => {});
    body.querySelectorAll("input")[0].value = "Big lamp";
    submit();
  },
  "Share Yard": () => {
    openShare({ id: "yard", name: "Yard" }, {});
    submit();
  },
  "Recordings of Yard": async () => {
    const view = openRecordings("yard", "Yard", () => {});
    Object.assign(view.video, { pause: () => {}, load: () => {}, paused: true });
    await settle();
    view.recordings = [{ id: "r1", durationSeconds: 60, spans: [], start: "2026-06-01T09:00:00Z", end: "2026-06-01T09:01:00Z" }];
    view.time = Date.parse("2026-06-01T09:00:30Z");
    press("Delete");
    dialogs().at(-1).querySelectorAll("form")[0].listeners.get("submit")({ preventDefault() {} });
  },
};

for (const [title, ask] of Object.entries(asked)) {
  test(`what goes wrong after its dialog was closed is said on the page: ${title}`, async () => {
    await ask();
    await settle();
    await closeLast();
    assert.deepEqual([dialogs().length, told()], [0, ""]);
    await fail();
    assert.ok(told().startsWith(`${title}: `), told());
    assert.deepEqual([notice.node.hidden, notice.node.classList.contains("telling")], [false, true]);
  });
}

test("what goes wrong late is said in the dialog that is open by then", async () => {
  const below = openDialog("Automations", "automations-dialog");
  await asked["Edit Night light"]();
  await closeLast();
  await fail();
  assert.match(below.node.textContent, /Edit Night light: /);
  assert.equal(told(), "");
  await closeLast();
  await asked["Edit Night light"]();
  await closeLast();
  await fail();
  assert.match(told(), /^Edit Night light: /);
});

test("each of several faults that come late is said until it is closed", async () => {
  for (const title of ["Settings of Yard", "Lamp"]) {
    await asked[title]();
    await closeLast();
  }
  await fail();
  assert.match(told(), /Settings of Yard: .*Lamp: /);
  const [close, other] = notice.node.querySelectorAll("button");
  close.focus();
  close.listeners.get("click")();
  assert.deepEqual([/Settings of Yard/, /Lamp/].map((words) => words.test(told())), [false, true]);
  assert.equal(document.activeElement, other);
  for (const title of ["Settings of Yard", "Lamp"]) {
    await asked[title]();
    await closeLast();
  }
  const below = openDialog("History", "");
  await fail();
  assert.match(below.node.textContent, /Settings of Yard: .*Lamp: /);
  below.node.close();
});

test("what goes wrong for somebody who has signed out is not said to anybody", async () => {
  await asked["Settings of Yard"]();
  await settle();
  closeDialogs();
  await fail();
  assert.equal(told(), "");
});

test("what was said late goes at a sign-out", async () => {
  await asked["Settings of Yard"]();
  await closeLast();
  await fail();
  assert.notEqual(told(), "");
  closeDialogs();
  assert.deepEqual([told(), notice.node.hidden], ["", true]);
});

test("what could not be read for a dialog that was closed is nobody's news", async () => {
  held = ["GET"];
  openShare({ id: "yard", name: "Yard" }, {});
  await settle();
  await closeLast();
  await fail();
  assert.equal(told(), "");
});

test("a fault on the page stays until it is closed, whatever the state of the gateway is", () => {
  notice.tell({ message: "Settings of Yard: not now" });
  notice.show("The config file has a problem");
  assert.match(notice.node.textContent, /problem.*not now/);
  notice.hide();
  assert.deepEqual([/not now/.test(told()), notice.node.hidden], [true, false]);
  notice.node.querySelectorAll("button")[0].listeners.get("click")();
  assert.deepEqual([told(), notice.node.hidden], ["", true]);
});
