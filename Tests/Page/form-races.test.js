import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { openCameraDialog } from "../../Sources/App/WebFiles/page/camera-dialog.js";
import { openCameraSettings } from "../../Sources/App/WebFiles/page/camera-edit.js";
import { openSettings } from "../../Sources/App/WebFiles/page/settings-dialog.js";
import { replace, replaceDocument, restore } from "./elements.js";

// What the gateway answers late must not be taken for an answer about what was entered since.

let body;
let requests = [];
/** The answers of the gateway by method and path. */
let answers = {};
/** The requests whose answers the tests hold back. */
let held = new Map();

const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };

beforeEach(() => {
  ({ body } = replaceDocument());
  replace("HTMLSelectElement", document.createElement("select").constructor);
  [requests, held] = [[], new Map()];
  answers = {
    "POST /v1/cameras/discover": { cameras: [] }, "GET /v1/cameras": { cameras: [], removed: [] },
    "GET /v1/configuration": { problems: [], needsRestart: [] },
    "GET /v1/configuration/settings": {
      file: "/etc/gatehouse.yaml", hasFile: true,
      settings: { rtsp: { host: "127.0.0.1", port: 8554 }, rtmp: false, recording: false, mqtt: false },
    },
    "POST /v1/configuration/check": { problems: [] },
    "POST /v1/cameras/probe": { reached: true, tracks: [], speaker: [], viewers: [], notes: [] },
  };
  replace("fetch", async (path, { method, body: text }) => {
    const request = `${method} ${path}`;
    requests.push([request, text && JSON.parse(text)]);
    await held.get(request);
    return Response.json(answers[request] ?? {});
  });
});
afterEach(restore);

/** Holds back the answers to a request. Returns what lets them go. */
function hold(request) {
  let resolve = () => {};
  held.set(request, new Promise((done) => { resolve = done; }));
  return async () => {
    resolve();
    await settle();
  };
}

const form = (words) => body.querySelectorAll("form").find((one) => one.textContent.includes(words));
const submit = (one) => one.listeners.get("submit")({ preventDefault() {} });
/** The addresses of cameras in the requests whose beginning this is. */
const sources = (begin) => requests.filter(([one]) => one.startsWith(begin)).map(([, { source }]) => source);
const camera = { id: "yard", deviceID: "yard", source: "rtsp://192.0.2.1/one", name: "Yard" };

test("lines for the config file are those of what the fields say, even if somebody types meanwhile", async () => {
  openSettings();
  await settle();
  const rtsp = form("RTSP");
  const port = rtsp.querySelectorAll("input").find(({ value }) => value === "8554");
  const lines = () => rtsp.querySelectorAll("textarea").map(({ hidden, value }) => (hidden ? "" : value)).join("");
  const type = (value) => {
    port.value = value;
    rtsp.listeners.get("input")({});
  };
  type("8555");
  const answer = hold("POST /v1/configuration/check");
  submit(rtsp);
  type("8556");
  await answer();
  assert.equal(lines(), "");
  submit(rtsp);
  await settle();
  assert.match(lines(), /8556/);
});

test("a camera is added with an address that was tried, even if somebody types meanwhile", async () => {
  openCameraDialog(() => new Set());
  await settle();
  const adding = form("Name");
  const [address] = adding.querySelectorAll("input");
  address.value = "rtsp://192.0.2.1/one";
  const answer = hold("POST /v1/cameras/probe");
  submit(adding);
  await settle();
  address.value = "rtsp://192.0.2.2/two";
  adding.listeners.get("input")({});
  await answer();
  assert.deepEqual(sources("PUT "), []);
  // A form in a browser does that for its fields when it is reset.
  adding.reset = () => {};
  submit(adding);
  await settle();
  assert.deepEqual(sources("PUT "), ["rtsp://192.0.2.2/two"]);
  assert.deepEqual(sources("POST /v1/cameras/probe"), ["rtsp://192.0.2.1/one", "rtsp://192.0.2.2/two"]);
});

test("the fields of a camera that was added are empty, and what somebody has entered since stays", async () => {
  openCameraDialog(() => new Set());
  await settle();
  const adding = form("Name");
  const [address] = adding.querySelectorAll("input");
  const resets = [];
  adding.reset = () => resets.push(address.value);
  address.value = "publisher";
  submit(adding);
  await settle();
  assert.deepEqual(resets, ["publisher"]);
  const answer = hold("PUT /v1/cameras/camera");
  submit(adding);
  await settle();
  address.value = "rtsp://192.0.2.2/two";
  adding.listeners.get("input")({});
  await answer();
  assert.deepEqual([resets, address.value], [["publisher"], "rtsp://192.0.2.2/two"]);
  assert.match(adding.textContent, /was added/);
});

test("what a trial of a camera's former settings finds is not shown for the new ones", async () => {
  openCameraSettings("Yard", { ...camera, origin: "api" });
  const settings = form("Try");
  const outcome = () => settings.querySelectorAll("div")
    .filter(({ className, hidden }) => className.startsWith("outcome") && !hidden).length;
  const answer = hold("POST /v1/cameras/probe");
  settings.querySelectorAll("button").find((one) => one.textContent.startsWith("Try")).listeners.get("click")();
  await settle();
  assert.equal(outcome(), 1);
  settings.listeners.get("input")({});
  await answer();
  assert.equal(outcome(), 0);
});

test("lines for a camera of the config file are those of what its fields say", async () => {
  openCameraSettings("Yard", { ...camera, origin: "file" });
  const settings = form("Try");
  settings.reportValidity = () => true;
  const [address] = settings.querySelectorAll("input");
  const type = (value) => {
    address.value = value;
    settings.listeners.get("input")({});
  };
  const check = async () => {
    settings.querySelectorAll("button").find((one) => one.textContent.includes("lines")).listeners.get("click")();
    await settle();
  };
  const lines = () => settings.querySelectorAll("textarea").map(({ hidden, value }) => (hidden ? "" : value)).join("");
  type("rtsp://192.0.2.1/two");
  const answer = hold("POST /v1/configuration/check");
  await check();
  type("rtsp://192.0.2.1/three");
  await answer();
  assert.equal(lines(), "");
  await check();
  assert.match(lines(), /three/);
});
