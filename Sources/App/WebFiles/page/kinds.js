/**
 * What people call the types of devices.
 * @type {Record<string, string>}
 */
const names = {
  GoogleCameraDeviceType: "Camera", GoogleDoorbellDeviceType: "Doorbell", DoorbellDeviceType: "Doorbell",
  OnOffLightDeviceType: "Light", DimmableLightDeviceType: "Dimmable light",
  ColorTemperatureLightDeviceType: "White light", ExtendedColorLightDeviceType: "Colour light",
  OnOffPluginUnitDeviceType: "Plug", DimmablePlugInUnitDeviceType: "Dimmable plug",
  OnOffLightSwitchDeviceType: "Light switch", GenericSwitchDeviceType: "Button", FanDeviceType: "Fan", WindowCoveringDeviceType: "Blind",
  GarageDoorDeviceType: "Garage door or gate",
  DoorLockDeviceType: "Lock", ThermostatDeviceType: "Thermostat", TemperatureSensorDeviceType: "Temperature sensor",
  HumiditySensorDeviceType: "Humidity sensor", OccupancySensorDeviceType: "Occupancy sensor",
  ContactSensorDeviceType: "Contact sensor", MotionSensorDeviceType: "Motion sensor",
  SmokeCOAlarmDeviceType: "Smoke and CO alarm", AirQualitySensorDeviceType: "Air quality sensor",
  ChimeDeviceType: "Chime", SpeakerDeviceType: "Speaker", GoogleTVDeviceType: "Television",
  GoogleDisplayDeviceType: "Display", UnknownDeviceType: "Device",
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
  return words.slice(0, 1) + words.slice(1).toLowerCase() || "Device";
}

/**
 * The parts of a device that do something.
 * @param {import("./types").Device} device
 */
export function partsOf(device) {
  return device.endpoints.filter(({ types }) => !types.every((type) => utilities.has(type)));
}
