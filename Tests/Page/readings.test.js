import assert from "node:assert/strict";
import { test } from "node:test";

import { hueOf, pointOf, reciprocal } from "../../Sources/App/WebFiles/page/colors.js";
import { kindName, partsOf } from "../../Sources/App/WebFiles/page/kinds.js";
import { deviceLine, levelOf, readingsOf } from "../../Sources/App/WebFiles/page/readings.js";

const values = (types, traits) => readingsOf({ id: 1, types, traits }).map(({ value }) => value);
const device = (traits, type = "OnOffLightDeviceType", rest = {}) => ({
  type, connectivityState: "online",
  endpoints: [{ id: 0, types: ["RootNodeDeviceType"], traits: { BasicInformation: {} } }, { id: 1, types: [type], traits }],
  ...rest,
});

test("values have their units", () => {
  const cases = [
    [{ TemperatureMeasurement: { measuredValue: -512 } }, ["-5.1 °C"]],
    [{ RelativeHumidityMeasurement: { measuredValue: 4550 } }, ["46 %"]],
    [{ LevelControl: { currentLevel: 127, maxLevel: 254 }, OnOff: { onOff: true } }, ["50 %"]],
    [{ LevelControl: { currentLevel: 127 }, OnOff: { onOff: false } }, ["Off"]],
    [{ WindowCovering: { currentPositionLiftPercent100ths: 2500 } }, ["75 % open"]],
    [{ WindowCovering: { currentPositionLiftPercentage: 100 } }, ["Closed"]],
    [{ FanControl: { fanMode: "low", percentSetting: 33 } }, ["33 %"]],
    [{ FanControl: { fanMode: "auto", percentSetting: null } }, ["Automatic"]],
    [{ CarbonDioxideConcentrationMeasurement: { measuredValue: 812.5, measurementUnit: "ppm" } }, ["812.5 ppm"]],
    [{ ExtendedPowerSource: { batPercentRemaining: 75 } }, ["Battery 38 %"]],
    [{ DoorLock: { lockState: "locked", doorState: "doorOpen" } }, ["Locked", "Door open"]],
  ];
  for (const [traits, expected] of cases) {
    assert.deepEqual(values(["X"], traits).map((text) => text.replace(/^[−‐]/, "-")), expected);
  }
});

test("a sensor without a value says so, and one of another kind reads otherwise", () => {
  assert.deepEqual(values(["TemperatureSensorDeviceType"], { TemperatureMeasurement: {} }), ["No value yet"]);
  assert.deepEqual(values(["TemperatureSensorDeviceType"], { TemperatureMeasurement: null }), ["No value yet"]);
  assert.deepEqual(values(["ContactSensorDeviceType"], { BooleanState: { stateValue: true } }), ["Closed"]);
  assert.deepEqual(values(["ContactSensorDeviceType"], { BooleanState: { stateValue: false } }), ["Open"]);
  assert.deepEqual(values(["MotionSensorDeviceType"], { OccupancySensing: { occupancy: 1 } }), ["Motion"]);
  assert.deepEqual(values(["OccupancySensorDeviceType"], { OccupancySensing: { occupancy: 0 } }), ["Nobody is there"]);
  assert.deepEqual(values(["SpeakerDeviceType"], { OnOff: { onOff: false } }), ["Muted"]);
});

test("an alarm stands out, the worst one first", () => {
  assert.equal(levelOf(device({ SmokeCoAlarm: { smokeState: "normal", coState: "normal" } })), "");
  assert.equal(levelOf(device({ SmokeCoAlarm: { smokeState: "warning", coState: "normal" } })), "warning");
  assert.equal(levelOf(device({ SmokeCoAlarm: { smokeState: "warning", coState: "critical" } })), "alarm");
  assert.equal(levelOf(device({ ExtendedPowerSource: { batChargeLevel: "critical" } })), "warning");
});

test("the line says what a device is, how it is, and why it does not answer", () => {
  const on = { OnOff: { onOff: true } };
  assert.equal(deviceLine(device(on)), "Light · On");
  assert.equal(deviceLine(device(on, "OnOffLightDeviceType", { connectivityState: "offline" })),
    "Light · Offline: it does not answer · On");
  assert.equal(deviceLine(device(on, "OnOffLightDeviceType", { dataSourceLocality: "unspecified" })),
    "Light · Not available at the moment · On");
  const party = device(on, "SpeakerDeviceType");
  party.endpoints.push({ id: 2, types: ["DimmableLightDeviceType"], traits: { OnOff: { onOff: false } } });
  assert.equal(deviceLine(party), "Speaker · Dimmable light: Off");
  party.connectivityState = "partiallyOnline";
  party.endpoints[2].connectivityState = "offline";
  assert.equal(deviceLine(party), "Speaker · Partly offline · Dimmable light: offline");
  assert.equal(deviceLine(device({ TemperatureMeasurement: { measuredValue: 2100 } })).split("\u00A0").length, 2);
});

test("a vendor's type is readable, and descriptions of a device are not parts", () => {
  assert.equal(kindName("FishTankDeviceType"), "Fish tank");
  assert.equal(kindName("DeviceType"), "Device");
  assert.deepEqual(partsOf(device({})).map(({ id }) => id), [1]);
});

test("whatever a gateway sends is shown without an exception", () => {
  for (const wrong of [null, {}, "x", 7, [], { measuredValue: "hot", currentLevel: "x", lockState: 3, occupancy: {} }]) {
    for (const name of ["OnOff", "LevelControl", "FanControl", "WindowCovering", "DoorLock", "Thermostat",
      "TemperatureMeasurement", "OccupancySensing", "BooleanState", "SmokeCoAlarm", "AirQuality", "MediaPlayback",
      "Volume", "Chime", "ExtendedPowerSource", "RadonConcentrationMeasurement", "constructor"]) {
      assert.equal(typeof deviceLine(device({ [name]: wrong })), "string");
    }
  }
});

test("a hue survives the way to a CIE point and back", () => {
  for (let hue = 0; hue < 360; hue += 15) {
    for (const saturation of [0.3, 0.7, 1]) {
      const { x, y } = pointOf(hue, saturation);
      const back = hueOf(x, y);
      assert.ok(Math.abs(((back.hue - hue + 540) % 360) - 180) < 2, `${hue} ${saturation} is ${back.hue}`);
      assert.ok(Math.abs(back.saturation - saturation) < 0.02, `${hue} ${saturation} is ${back.saturation}`);
    }
  }
  const red = pointOf(0, 1);
  assert.ok(Math.abs(red.x - 0.64) < 0.001 && Math.abs(red.y - 0.33) < 0.001);
  assert.ok(pointOf(200, 0).x - 0.3127 < 0.001);
  assert.deepEqual(hueOf(0.3127, 0.329).saturation < 0.02, true);
  assert.ok(Number.isFinite(hueOf(0, 0).hue));
  assert.equal(reciprocal(250), 4000);
  assert.equal(reciprocal(0), 0);
});
