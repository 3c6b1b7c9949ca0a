import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { replace, replaceDocument, restore } from "./elements.js";

// The page chooses its language when its modules are loaded.
let automation;
let history;
let [CameraTools, StartReport, openRecordings, outcomeOf, t] = [];
before(async () => {
  replaceDocument();
  replace("navigator", { languages: ["de-DE"] });
  automation = await import("../../Sources/App/WebFiles/page/automation-words.js");
  history = await import("../../Sources/App/WebFiles/page/history-words.js");
  ({ CameraTools } = await import("../../Sources/App/WebFiles/page/camera-tools.js"));
  ({ StartReport } = await import("../../Sources/App/WebFiles/page/start-report.js"));
  ({ openRecordings } = await import("../../Sources/App/WebFiles/page/recordings.js"));
  ({ outcomeOf } = await import("../../Sources/App/WebFiles/page/camera-probe.js"));
  ({ t } = await import("../../Sources/App/WebFiles/page/text.js"));
});
after(restore);

test("numbers of the history and of automations have a decimal comma in German", () => {
  assert.equal(history.valueWords("TemperatureMeasurement", "measuredValue", 2150), "21,5 °C");
  assert.equal(history.valueWords("Thermostat", "occupiedHeatingSetpoint", 1900), "19,0 °C");
  assert.equal(automation.valueText("TemperatureMeasurement", "measuredValue", 2150), "21,5 °C");
});

test("times of the sun are said in German as Germans say them", () => {
  assert.equal(automation.scheduleWords({ solarTime: { type: "sunrise" }, daysOfWeek: ["monday"] }), "Sonnenaufgang, am Montag");
  assert.equal(automation.scheduleWords({ solarTime: { type: "sunset", offset: -1800 } }), "30 Minuten vor Sonnenuntergang");
  assert.equal(automation.scheduleWords({ clockTime: { hours: 8, minutes: 5 } }), "Um 08:05");
});

test("numbers beside pictures, recordings and steps have a decimal comma in German", () => {
  assert.equal(history.valueWords("FanControl", "percentCurrent", 37.5), "37,5 %");
  const tools = new CameraTools(() => {}, { setVolume: () => {}, setQuality: () => {}, openRecordings: () => {} });
  tools.renderZoom(1.5);
  assert.equal(tools.zoomed.value, "1,5×");
  const report = new StartReport();
  report.render({ isActive: true, steps: [{ name: "offer made", milliseconds: 4.25 }, { name: "first picture", milliseconds: 312.4 }],
    gatewaySteps: [], notes: [], path: null, told: null }, null);
  assert.match(report.steps.textContent, /4,3 ms.*312 ms/);
  replace("fetch", async () => Response.json({ days: [], recordings: [] }));
  const { speed } = openRecordings("yard", "Hof", () => {});
  // The text of an option is the name of its element here.
  assert.deepEqual(speed.children.map(({ name }) => name), ["0,5×", "1×", "2×", "4×", "8×"]);
});

test("a number in a text is written by the page's language, and that of a line is not grouped", () => {
  assert.equal(t("readings.batteryPercent", { percent: 12.5 }), "Batterie 12,5 %");
  assert.equal(t("settings.inLine", { line: 1200, reason: "falsch" }), "Zeile 1200: falsch");
});

test("one picture per second is one picture in German, and less than one is many", () => {
  const told = (framesPerSecond) => outcomeOf({ reached: true, viewers: [], notes: [], speaker: [],
    tracks: [{ kind: "video", codec: "JPEG", framesPerSecond, bitsPerSecond: 4210000 }] }).lines[0];
  assert.equal(told(1.02), "Bild: JPEG, 1 Bild pro Sekunde, 4,2 Mbit/s");
  assert.equal(told(0.5), "Bild: JPEG, 0,5 Bilder pro Sekunde, 4,2 Mbit/s");
  assert.equal(told(24.97), "Bild: JPEG, 25 Bilder pro Sekunde, 4,2 Mbit/s");
});
