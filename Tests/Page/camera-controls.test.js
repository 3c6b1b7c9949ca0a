import assert from "node:assert/strict";
import { test } from "node:test";

import { APIError } from "../../Sources/App/WebFiles/page/api.js";
import { cameraControls, choices, speakerLevels } from "../../Sources/App/WebFiles/page/camera-controls.js";
import { controlsPanel } from "../../Sources/App/WebFiles/page/controls.js";
import { en } from "../../Sources/App/WebFiles/page/text-en.js";
import { inWords } from "../../Sources/App/WebFiles/page/words.js";

/** As much of an element as the controls use. */
class Node {
  constructor(tag) {
    Object.assign(this, { tag, content: [], attributes: {}, handlers: {}, className: "", disabled: false });
  }

  append(...content) { this.content.push(...content); }
  replaceChildren(...content) { this.content = content; }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener(name, handler) { this.handlers[name] = handler; }
}

globalThis.document = { createElement: (tag) => new Node(tag) };
globalThis.Option = function (words, value) { return Object.assign(new Node("option"), { words, value }); };

const all = {
  WebRtcLiveView: {}, PushAvStreamTransport: { currentConnections: [{ connectionID: 1, transportStatus: "active" }] },
  Chime: { selectedChime: 0, installedChimeSounds: [{ chimeID: 0, name: "Doorbell" }, { chimeID: 3, name: "Gong" }], enabled: true },
  CameraAvStreamManagement: {
    nightVision: "auto", supportedNightVisionModes: ["off", "auto"], hdrModeEnabled: true, imageRotation: 180,
    supportedImageRotations: [0, 90, 180], speakerVolumeLevel: 5, speakerMinLevel: 1, speakerMaxLevel: 10, microphoneMuted: false,
    recordingMicrophoneMuted: true, softLivestreamPrivacyModeEnabled: false, softRecordingPrivacyModeEnabled: true,
  },
};

const fitting = (traits) => cameraControls.filter((kind) => kind.fits(traits, [])).map(({ name }) => name);
const settings = (attributes) => ({ WebRtcLiveView: {}, CameraAvStreamManagement: attributes });

/** A control as it is on the page, and what it has written and sent. */
function made(name, traits = all) {
  const written = [];
  const control = cameraControls.find((kind) => kind.name === name).make({
    name: "Yard", traits: () => traits, write: (trait, values, expected, action) => written.push([trait, values, action ?? "control"]),
    send: (...request) => written.push(request),
  });
  control.update(traits, true);
  const find = (node, tag) => (node.tag === tag ? node
    : node.content.filter((one) => one instanceof Node).map((one) => find(one, tag)).find(Boolean));
  return { control, written, find: (tag) => find(control.node, tag) };
}

test("a camera has a control for each setting that it has, and for no other", () => {
  assert.deepEqual(fitting(all), cameraControls.map(({ name }) => name));
  assert.deepEqual(fitting({}), []);
  assert.deepEqual(fitting(settings({})), []);
  assert.deepEqual(fitting(settings({ softLivestreamPrivacyModeEnabled: false, hdrModeEnabled: false })),
    ["hdrModeEnabled", "softLivestreamPrivacyModeEnabled"]);
  const camera = { endpoints: [{ id: 1, types: ["GoogleCameraDeviceType"], traits: settings({ microphoneMuted: false }) }] };
  assert.ok(controlsPanel.fits(camera));
});

test("a setting with one value offers no choice", () => {
  const vision = { nightVision: "auto", supportedNightVisionModes: ["auto"], imageRotation: 0 };
  assert.deepEqual(fitting(settings(vision)), []);
  assert.deepEqual(fitting(settings({ ...vision, supportedNightVisionModes: ["auto", "on"] })), ["nightVision"]);
  assert.deepEqual(fitting({ WebRtcLiveView: {}, Chime: { selectedChime: 0, installedChimeSounds: [{ chimeID: 0 }] } }), []);
  // A chime that is not a camera's has a panel of its own.
  assert.deepEqual(fitting({ Chime: all.Chime }), []);
});

test("a level needs a range", () => {
  assert.deepEqual(speakerLevels({ speakerVolumeLevel: 5, speakerMinLevel: 1, speakerMaxLevel: 10 }), [1, 10]);
  assert.deepEqual(speakerLevels({ speakerVolumeLevel: 5 }), [0, 254]);
  assert.equal(speakerLevels({ speakerVolumeLevel: 5, speakerMinLevel: 5, speakerMaxLevel: 5 }), null);
  assert.equal(speakerLevels({ speakerMinLevel: 1, speakerMaxLevel: 10 }), null);
  assert.equal(speakerLevels(undefined), null);
});

test("only what the camera offers can be chosen, with what it is set to", () => {
  const words = (value) => `<${value}>`;
  assert.deepEqual(choices(["off", "auto"], "auto", words), [["off", "<off>"], ["auto", "<auto>"]]);
  assert.deepEqual(choices([0, 180], 45, words), [["0", "<0>"], ["180", "<180>"], ["45", "<45>"]]);
  assert.deepEqual(choices(undefined, undefined, words), []);
});

test("night vision and rotation are lists in words, and write what was chosen", () => {
  const vision = made("nightVision");
  const list = vision.find("select");
  assert.equal(list.attributes["aria-label"], "Yard: Night vision");
  assert.deepEqual(list.content.map(({ words, value }) => [value, words]), [["off", "Off"], ["auto", "Automatic"]]);
  assert.equal(list.value, "auto");
  list.value = "off";
  list.handlers.change();
  assert.deepEqual(vision.written, [["CameraAvStreamManagement", { nightVision: "off" }, "setting"]]);
  // The camera has changed it, or another person has.
  vision.control.update(settings({ nightVision: "on", supportedNightVisionModes: ["off", "auto", "on"] }), false);
  assert.equal(list.value, "on");
  assert.ok(list.disabled);

  const turned = made("imageRotation");
  assert.deepEqual(turned.find("select").content.map(({ words }) => words), ["0°", "90°", "180°"]);
  turned.find("select").value = "90";
  turned.find("select").handlers.change();
  assert.deepEqual(turned.written, [["CameraAvStreamManagement", { imageRotation: 90 }, "setting"]]);
});

test("switches write their setting; those of sound are on while nothing is muted", () => {
  for (const [name, isOn, next] of [
    ["hdrModeEnabled", true, false], ["softLivestreamPrivacyModeEnabled", false, true],
    ["softRecordingPrivacyModeEnabled", true, false], ["microphoneMuted", true, true], ["recordingMicrophoneMuted", false, false],
  ]) {
    const { find, written } = made(name);
    const toggle = find("button");
    assert.equal(toggle.attributes.role, "switch", name);
    assert.equal(toggle.attributes["aria-checked"], String(isOn), name);
    assert.match(toggle.attributes["aria-label"], /^Yard: \w/);
    toggle.handlers.click();
    assert.deepEqual(written, [["CameraAvStreamManagement", { [name]: next }, "setting"]], name);
  }
});

test("what the gateway keeps is changed while the camera is away, and what the camera keeps is not", () => {
  for (const kind of cameraControls) {
    const { control, find } = made(kind.name);
    control.update(all, false);
    const isOfGateway = /Muted$|^soft|^power$/.test(kind.name);
    assert.equal((find("button") ?? find("select") ?? find("input")).disabled, !isOfGateway, kind.name);
  }
});

test("the loudspeaker goes from its lowest to its highest level, and says its share", () => {
  const { control, find, written } = made("speakerVolumeLevel");
  const slider = find("input");
  assert.deepEqual([slider.min, slider.max, slider.value], ["1", "10", "5"]);
  assert.equal(slider.attributes["aria-valuetext"], "50 %");
  assert.equal(find("output").textContent, "50 %");
  slider.handlers.pointerdown();
  slider.value = "8";
  slider.handlers.input();
  slider.handlers.change();
  assert.deepEqual(written, [["CameraAvStreamManagement", { speakerVolumeLevel: 8 }, "setting"]]);
  control.update(settings({ speakerVolumeLevel: 20, speakerMinLevel: 0, speakerMaxLevel: 40 }), true);
  assert.deepEqual([slider.min, slider.max, slider.value, find("output").textContent], ["0", "40", "20", "50 %"]);
});

test("a camera rings with the sound that was chosen, or not at all", () => {
  const { find: part, written: said } = made("chimeEnabled");
  assert.equal(part("button").attributes["aria-checked"], "true");
  part("button").handlers.click();
  assert.deepEqual(said, [["Chime", { enabled: false }, "control"]]);
  const { find, written } = made("selectedChime");
  assert.deepEqual(find("select").content.map(({ words }) => words), ["Doorbell", "Gong"]);
  find("select").value = "3";
  find("select").handlers.change();
  assert.deepEqual(written, [["Chime", { selectedChime: 3 }, "control"]]);
});

test("a camera is on while one of its connections is active, and all are switched together", () => {
  const connections = (...states) => ({ WebRtcLiveView: {}, PushAvStreamTransport: {
    currentConnections: states.map((transportStatus, index) => ({ connectionID: index + 1, transportStatus })),
  } });
  assert.deepEqual(fitting(connections()), []);
  const traits = connections("inactive", "active");
  assert.deepEqual(fitting(traits), ["power"]);
  const { control, find, written } = made("power", traits);
  assert.equal(find("button").attributes["aria-checked"], "true");
  find("button").handlers.click();
  assert.deepEqual(written.pop(), ["PushAvStreamTransport", "setTransportStatus", { transportStatus: "inactive" },
    { PushAvStreamTransport: connections("inactive", "inactive").PushAvStreamTransport }]);
  control.update(connections("inactive", "inactive"), true);
  assert.equal(find("button").attributes["aria-checked"], "false");
  find("button").handlers.click();
  assert.equal(written.pop()[2].transportStatus, "active");
});

test("a refused setting is worded for people, whatever the camera said", () => {
  const told = "the camera's setting was not changed: it refused: ter:SettingsInvalid";
  for (const status of ["DEADLINE_EXCEEDED", "FAILED_PRECONDITION", "INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "UNAVAILABLE",
    "UNIMPLEMENTED", "UNKNOWN"]) {
    const { message, details } = inWords(new APIError(status, told), "setting");
    assert.equal(message, en[`fault.setting.${status}`]);
    assert.equal(details, told);
  }
});
