import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { Slider } from "../../Sources/App/WebFiles/page/control-fields.js";
import { replaceDocument, restore } from "./elements.js";

let slider;
let sent = [];
beforeEach(() => {
  replaceDocument();
  mock.timers.enable({ apis: ["setTimeout"] });
  sent = [];
  slider = new Slider({
    title: "Brightness", label: "Lamp: brightness", minimum: 0, maximum: 100, words: (value) => `${value} %`,
    changed: (value) => sent.push(value),
  });
  slider.show(40, true);
});
afterEach(() => {
  mock.timers.reset();
  restore();
});

/** What a browser reports. */
function happen(name, value = slider.input.value) {
  slider.input.value = String(value);
  slider.input.listeners.get(name)({});
}

test("a slider that is let go sends its value once, and shows nothing else until then", () => {
  happen("pointerdown");
  happen("input", 60);
  slider.show(10, true);
  assert.equal(slider.output.textContent, "60 %");
  happen("pointerup");
  happen("change");
  mock.timers.tick(1000);
  assert.deepEqual(sent, [60]);
});

test("a press that moves nothing does not take the value of a key before", () => {
  happen("input", 41);
  for (const name of ["pointerdown", "pointerup"]) happen(name);
  mock.timers.tick(1000);
  assert.deepEqual([sent, slider.output.textContent], [[41], "41 %"]);
});

test("a slider that comes back to where it was sends nothing, and shows what the device reports", () => {
  happen("pointerdown");
  happen("input", 60);
  slider.show(10, true);
  happen("input", 40);
  // A browser does not report a change.
  happen("pointerup");
  mock.timers.tick(1000);
  assert.deepEqual([sent, slider.output.textContent], [[], "10 %"]);
  slider.show(20, true);
  assert.equal(slider.output.textContent, "20 %");
});

test("what a device reports for a slider is not read out, and the slider says it to whoever is there", () => {
  assert.deepEqual([slider.output.getAttribute("aria-live"), slider.input.getAttribute("aria-valuetext")], ["off", "40 %"]);
});
