import assert from "node:assert/strict";
import { test } from "node:test";

import { accepts } from "../../Sources/App/WebFiles/page/accepted.js";
import { tokenWords } from "../../Sources/App/WebFiles/page/access.js";
import { fanModes, thermostatModes } from "../../Sources/App/WebFiles/page/climate-controls.js";
import { answersCommands, controlsPanel } from "../../Sources/App/WebFiles/page/controls.js";
import { deviceChange, planWords, sizeText } from "../../Sources/App/WebFiles/page/device-dialog.js";
import { placeOfValue, placeValue } from "../../Sources/App/WebFiles/page/grant-rows.js";
import { historyQuery, historyWords, isAbove } from "../../Sources/App/WebFiles/page/history-words.js";
import { capabilities, colorOf, hueName } from "../../Sources/App/WebFiles/page/light-controls.js";
import { mediaControls } from "../../Sources/App/WebFiles/page/media-controls.js";
import { octets, openingControls } from "../../Sources/App/WebFiles/page/opening-controls.js";

test("a command is offered if the device lists it, or lists none", () => {
  assert.ok(accepts({ acceptedCommandList: [0, 1] }, 1));
  assert.ok(!accepts({ acceptedCommandList: [0] }, 1));
  assert.ok(accepts({}, 1));
  assert.ok(!accepts(undefined, 1));
});

test("a part that is cut off takes no commands, its neighbour does", () => {
  const device = { connectivityState: "partiallyOnline", dataSourceLocality: "localPeer" };
  assert.ok(answersCommands(device, { connectivityState: "online" }));
  assert.ok(!answersCommands(device, { connectivityState: "offline" }));
  assert.ok(!answersCommands({ connectivityState: "offline" }, {}));
  assert.ok(!answersCommands({ connectivityState: "online", dataSourceLocality: "unspecified" }, {}));
});

test("a device has controls if one of its parts can be controlled", () => {
  const device = (traits) => ({ endpoints: [{ id: 1, types: ["X"], traits }] });
  assert.ok(controlsPanel.fits(device({ OnOff: { onOff: true } })));
  assert.ok(!controlsPanel.fits(device({ TemperatureMeasurement: {} })));
  assert.ok(!controlsPanel.fits(device({ OnOff: { acceptedCommandList: [] } })));
  assert.ok(controlsPanel.fits(device({ Chime: {} })));
  // A camera's speaker is not a chime with a button of its own.
  assert.ok(!controlsPanel.fits(device({ Chime: {}, WebRtcLiveView: {}, CameraSnapshot: {} })));
  assert.deepEqual(mediaControls.filter(({ fits }) => fits({ Chime: { enabled: true }, WebRtcLiveView: {} }, [])), []);
});

test("a light offers the colours that it has", () => {
  const both = { hasTones: true, hasHues: true };
  assert.deepEqual(capabilities({ colorCapabilities: 17 }, []), both);
  assert.deepEqual(capabilities({ colorCapabilities: 16 }, []), { hasTones: true, hasHues: false });
  assert.deepEqual(capabilities({ colorTemperatureMireds: 370, currentHue: 0 }, ["ExtendedColorLightDeviceType"]), both);
  assert.deepEqual(capabilities({ colorTemperatureMireds: 370, currentHue: 0 }, ["ColorTemperatureLightDeviceType"]),
    { hasTones: true, hasHues: false });
  assert.deepEqual(capabilities({ currentX: 1, acceptedCommandList: [7] }, []), { hasTones: false, hasHues: true });
  assert.deepEqual(capabilities(undefined, []), { hasTones: false, hasHues: false });
  assert.deepEqual(colorOf({ currentHue: 127, currentSaturation: 254 }), { hue: 180, saturation: 1 });
  assert.equal(hueName(238), "Blue");
  assert.equal(hueName(359), "Red");
});

test("a thermostat offers the modes that its system has", () => {
  const modes = (sequence) => thermostatModes(sequence).map(([mode]) => mode);
  assert.deepEqual(modes("heatingOnly"), ["off", "heat"]);
  assert.deepEqual(modes("coolingWithReheat"), ["off", "cool"]);
  assert.deepEqual(modes("coolingAndHeatingWithReheat"), ["off", "heat", "cool", "auto"]);
  assert.deepEqual(modes(undefined), ["off", "heat", "cool", "auto"]);
});

test("a fan offers the modes that its sequence has", () => {
  const modes = (sequence) => fanModes(sequence).map(([mode]) => mode);
  assert.deepEqual(modes("offLowMedHighAuto"), ["off", "low", "medium", "high", "auto"]);
  assert.deepEqual(modes("offLowHighAuto"), ["off", "low", "high", "auto"]);
  assert.deepEqual(modes("offHighAuto"), ["off", "high", "auto"]);
});

test("a blind has a slider for its slats if they can be tilted", () => {
  const names = (covering) => openingControls.filter(({ fits }) => fits({ WindowCovering: covering }, [])).map(({ name }) => name);
  assert.deepEqual(names({ currentPositionLiftPercent100ths: 0 }), ["cover"]);
  assert.deepEqual(names({ currentPositionTiltPercent100ths: null, acceptedCommandList: [0, 1, 8] }), ["cover", "tilt"]);
  assert.deepEqual(names({ currentPositionTiltPercent100ths: 0, acceptedCommandList: [0, 1, 5] }), ["cover"]);
});

test("a PIN is sent as octets", () => assert.equal(octets("1234"), "MTIzNA=="));

test("only what changes about a device is sent", () => {
  const device = { name: "Lamp", structureID: "s1", roomID: "r1" };
  assert.deepEqual(deviceChange(device, "Lamp", { structureID: "s1", roomID: "r1" }), {});
  assert.deepEqual(deviceChange(device, "Lamp", { structureID: "s1", roomID: "" }), { roomID: null });
  assert.deepEqual(deviceChange(device, "Light", { structureID: "s2", roomID: "" }),
    { name: "Light", structureID: "s2", roomID: null });
});

test("the plan of a removal says what stays", () => {
  const plan = { recordings: { count: 2, byteCount: 1.26e9 }, webhook: true, history: "kept for a week",
    automations: ["Night"] };
  assert.deepEqual(planWords(plan, "Yard"), ["Yard is removed from the home, and its viewers are disconnected.",
    `It has 2 recordings (${(1.3).toLocaleString()} GB). They stay unless you delete them too.`,
    "Its history is kept for a week.", "The token that it reports events with is revoked.",
    "These automations use it: Night."]);
  assert.equal(planWords({ ...plan, recordings: { count: 0, byteCount: 0 } }, "Yard")[1], "It has no recordings.");
  assert.equal(sizeText(512), `${(0.5).toLocaleString()} kB`);
});

test("the place of a grant survives its form", () => {
  for (const place of [{}, { structureID: "s1" }, { deviceID: "d1" }]) {
    assert.deepEqual(placeOfValue(placeValue(place)), place);
  }
});

test("a token says until when it works, and when it was used", () => {
  const token = { createdBy: "owner", lastUsedAt: "2026-01-02T03:04:05Z", expiresAt: "2026-02-02T03:04:05Z" };
  assert.match(tokenWords(token), /^Expires on .*2026.* · last used .*2026.* · made by owner$/);
  assert.equal(tokenWords({ createdBy: "owner", clientID: "cloud" }),
    "Does not expire · not used since the gateway started · made by owner · linked account");
});

test("history reads as sentences", () => {
  const change = (trait, attribute, from, to) => historyWords({ kind: "stateChange", trait, attribute, from, to });
  assert.equal(change("OnOff", "onOff", false, true), "On (was off)");
  assert.equal(change("TemperatureMeasurement", "measuredValue", undefined, 2150), "Measured value: 21.5 °C");
  assert.equal(change("DoorLock", "lockState", "locked", "notFullyLocked"), "Not fully locked (was locked)");
  assert.equal(change("BooleanState", "stateValue", null, true), "Closed");
  assert.equal(change("Vendor", "thing", undefined, { a: 1 }), "Thing: changed");
  assert.equal(change(undefined, "connectivityState", "online", "offline"), "Offline (was online)");
  assert.equal(historyWords({ kind: "press", event: "DoorbellPressed" }), "Rang");
  assert.equal(historyWords({ kind: "cameraEvent", event: "FishSeen" }), "Fish seen");
  assert.equal(historyWords({ kind: "recording" }), "Recorded");
});

test("a page of the history is asked for by device, kind and day", () => {
  assert.equal(historyQuery({ device: "", kind: "", day: "" }).toString(), "pageSize=50");
  const query = historyQuery({ device: "d1", kind: "press", day: "2026-03-01" }, "c 1");
  assert.equal(query.get("device"), "d1");
  assert.equal(query.get("cursor"), "c 1");
  assert.equal(Date.parse(query.get("until")) - Date.parse(query.get("since")), 86400000);
  assert.equal(new Date(query.get("since")).getHours(), 0);
});

test("the later of two items is above, also of those of the same second", () => {
  const item = (second, number) => ({ id: `h7c-${number}`, timestamp: `2026-03-01T10:00:0${second}Z` });
  assert.ok(isAbove(item(2, 8), item(1, 9)));
  assert.ok(!isAbove(item(1, 9), item(2, 8)));
  assert.ok(isAbove(item(1, 10), item(1, 9)));
  assert.ok(!isAbove(item(1, 9), item(1, 10)));
  assert.ok(!isAbove(item(1, 9), item(1, 9)));
});
