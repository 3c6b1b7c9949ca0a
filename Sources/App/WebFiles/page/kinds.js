import { t } from "./text.js";


/**
 * What people call the types of devices.
 * @type {Record<string, string>}
 */
const names = {
  GoogleCameraDeviceType: t("kinds.camera"), GoogleDoorbellDeviceType: t("kinds.doorbell"), DoorbellDeviceType: t("kinds.doorbell"),
  OnOffLightDeviceType: t("kinds.light"), DimmableLightDeviceType: t("kinds.dimmableLight"),
  ColorTemperatureLightDeviceType: t("kinds.whiteLight"), ExtendedColorLightDeviceType: t("kinds.colourLight"),
  OnOffPluginUnitDeviceType: t("kinds.plug"), DimmablePlugInUnitDeviceType: t("kinds.dimmablePlug"),
  OnOffLightSwitchDeviceType: t("kinds.lightSwitch"), GenericSwitchDeviceType: t("kinds.button"), FanDeviceType: t("kinds.fan"), WindowCoveringDeviceType: t("kinds.blind"),
  GarageDoorDeviceType: t("kinds.garageDoorOrGate"),
  DoorLockDeviceType: t("kinds.lock"), ThermostatDeviceType: t("kinds.thermostat"), TemperatureSensorDeviceType: t("kinds.temperatureSensor"),
  HumiditySensorDeviceType: t("kinds.humiditySensor"), OccupancySensorDeviceType: t("kinds.occupancySensor"),
  ContactSensorDeviceType: t("kinds.contactSensor"), MotionSensorDeviceType: t("kinds.motionSensor"),
  SmokeCOAlarmDeviceType: t("kinds.smokeAndCOAlarm"), AirQualitySensorDeviceType: t("kinds.airQualitySensor"),
  ChimeDeviceType: t("kinds.chime"), SpeakerDeviceType: t("kinds.speaker"), GoogleTVDeviceType: t("kinds.television"),
  GoogleDisplayDeviceType: t("kinds.display"), UnknownDeviceType: t("kinds.device"),
};

/** The parts that describe a device, and do nothing. */
const utilities = new Set(["RootNodeDeviceType", "OtaRequestorDeviceType"]);

/**
 * What a person calls a type of device. A vendor's type is its own name with spaces.
 * @param {string} type
 */
export function kindName(type) {
  if (Object.hasOwn(names, type)) return names[type];
  const words = type.replace(/DeviceType$/, "").replace(/([a-z])([A-Z])/g, "$1 $2");
  return words.slice(0, 1) + words.slice(1).toLowerCase() || t("kinds.device");
}

/**
 * The parts of a device that do something.
 * @param {import("./types").Device} device
 */
export function partsOf(device) {
  return device.endpoints.filter(({ types }) => !types.every((type) => utilities.has(type)));
}
