import assert from "node:assert/strict";
import { test } from "node:test";

import { Expectations, lingering } from "../../Sources/App/WebFiles/page/optimism.js";

const lamp = (onOff, currentLevel = 254) => ({
  id: "lamp", endpoints: [{ id: 0, traits: {} }, { id: 1, traits: { OnOff: { onOff }, LevelControl: { currentLevel } } }],
});
const shown = (expectations, device) => {
  const { OnOff, LevelControl } = expectations.shown(device).endpoints[1].traits;
  return [OnOff.onOff, LevelControl.currentLevel];
};

test("what was asked for is shown at once, and what was reported stays as it was", () => {
  const expectations = new Expectations();
  const device = lamp(false);
  expectations.expect(device, 1, { OnOff: { onOff: true } });
  assert.deepEqual(shown(expectations, device), [true, 254]);
  assert.equal(device.endpoints[1].traits.OnOff.onOff, false);
  assert.equal(expectations.shown(lamp(false)).endpoints[0].id, 0);
});

test("a refusal puts it back, but not what was asked for since", () => {
  const expectations = new Expectations();
  const first = expectations.expect(lamp(false), 1, { LevelControl: { currentLevel: 10 } });
  const second = expectations.expect(lamp(false), 1, { LevelControl: { currentLevel: 20 } });
  expectations.drop("lamp", first);
  assert.deepEqual(shown(expectations, lamp(false)), [false, 20]);
  expectations.drop("lamp", second);
  assert.deepEqual(shown(expectations, lamp(false)), [false, 254]);
  assert.equal(expectations.devices.size, 0);
});

test("the report that was expected ends it, even before the answer", () => {
  const expectations = new Expectations();
  const ticket = expectations.expect(lamp(false), 1, { OnOff: { onOff: true } });
  expectations.report(lamp(true));
  assert.equal(expectations.devices.size, 0);
  expectations.settle("lamp", ticket, 0);
  assert.deepEqual(shown(expectations, lamp(false)), [false, 254]);
});

test("a report of something else leaves the control where it was moved", () => {
  const expectations = new Expectations();
  const ticket = expectations.expect(lamp(false), 1, { OnOff: { onOff: true } });
  expectations.settle("lamp", ticket, 0);
  expectations.report(lamp(false, 12));
  assert.deepEqual(shown(expectations, lamp(false, 12)), [true, 12]);
});

test("a device that has become something else is right, once the command is over", () => {
  const expectations = new Expectations();
  const ticket = expectations.expect(lamp(true, 100), 1, { LevelControl: { currentLevel: 200 } });
  // A step on the way, while the command runs.
  expectations.report(lamp(true, 150));
  assert.deepEqual(shown(expectations, lamp(true, 150)), [true, 200]);
  expectations.settle("lamp", ticket, 0);
  expectations.report(lamp(true, 180));
  assert.deepEqual(shown(expectations, lamp(true, 180)), [true, 180]);
});

test("a device that never reports is not believed for ever", () => {
  const expectations = new Expectations();
  const ticket = expectations.expect(lamp(false), 1, { OnOff: { onOff: true } });
  assert.deepEqual(expectations.expire(1e15), []);
  expectations.settle("lamp", ticket, 1000);
  assert.deepEqual(expectations.expire(1000 + lingering - 1), []);
  assert.deepEqual(expectations.expire(1000 + lingering), ["lamp"]);
  assert.deepEqual(shown(expectations, lamp(false)), [false, 254]);
});

test("the answer to one command says nothing about another", () => {
  const expectations = new Expectations();
  const first = expectations.expect(lamp(false), 1, { OnOff: { onOff: true } });
  expectations.expect(lamp(false), 1, { LevelControl: { currentLevel: 20 } });
  expectations.settle("lamp", first, 0);
  expectations.expire(lingering);
  assert.deepEqual(shown(expectations, lamp(false)), [false, 20]);
});

test("a part or a trait that is gone is not invented", () => {
  const expectations = new Expectations();
  expectations.expect(lamp(false), 1, { Volume: { currentVolume: 3 } });
  assert.equal(expectations.shown(lamp(false)).endpoints[1].traits.Volume, undefined);
  expectations.report({ id: "lamp", endpoints: [] });
  assert.equal(expectations.devices.size, 0);
  expectations.expect(lamp(false), 1, { OnOff: { onOff: true } });
  expectations.forget("lamp");
  assert.deepEqual(shown(expectations, lamp(false)), [false, 254]);
});
