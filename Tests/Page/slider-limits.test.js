import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { lightControls } from "../../Sources/App/WebFiles/page/light-controls.js";
import { mediaControls } from "../../Sources/App/WebFiles/page/media-controls.js";

/** As much of an element as a slider uses. */
class Node {
  constructor(tag) { Object.assign(this, { tag, content: [], classList: { toggle() {} } }); }
  append(...content) { this.content.push(...content); }
  setAttribute() {}
  addEventListener() {}
}

const before = globalThis.document;
beforeEach(() => { globalThis.document = { createElement: (tag) => new Node(tag) }; });
afterEach(() => { globalThis.document = before; });

/** A control that was made before the device reported its limits. It returns the scale and the value once they are there. */
function reportedLater(kinds, name, early, late) {
  let traits = early;
  const kind = kinds.find((one) => one.name === name);
  const control = kind.make({ name: "Lamp", types: [], traits: () => traits, send() {}, write() {} });
  control.update(traits, true);
  traits = late;
  control.update(traits, true);
  const { min, max, value } = control.node.content.find(({ tag }) => tag === "input");
  return [min, max, value].map(Number);
}

test("a light's level is shown by the highest one, which may be reported later", () => {
  const [, , percent] = reportedLater(lightControls, "level", { LevelControl: { currentLevel: 50 } },
    { LevelControl: { currentLevel: 50, maxLevel: 100 } });
  assert.equal(percent, 50);
});

test("a light's tones have the ends that are reported later", () => {
  const color = { colorTemperatureMireds: 250 };
  assert.deepEqual(reportedLater(lightControls, "tone", { ColorControl: color },
    { ColorControl: { ...color, colorTempPhysicalMinMireds: 200, colorTempPhysicalMaxMireds: 400 } }), [2500, 5000, 4000]);
});

test("a volume has the highest one that is reported later", () => {
  assert.deepEqual(reportedLater(mediaControls, "volume", { Volume: { currentVolume: 20 } },
    { Volume: { currentVolume: 20, maxVolume: 30 } }), [0, 30, 20]);
});
