import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { replace, replaceDocument, restore } from "./elements.js";

// The page chooses its language when its modules are loaded.
let automation;
let history;
before(async () => {
  replaceDocument();
  replace("navigator", { languages: ["de-DE"] });
  automation = await import("../../Sources/App/WebFiles/page/automation-words.js");
  history = await import("../../Sources/App/WebFiles/page/history-words.js");
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
