import { t } from "./text.js";


/**
 * @typedef {import("./types").Device} Device
 * @typedef {import("./types").Room} Room
 * @typedef {import("./types").Structure} Structure
 */

/**
 * A heading of the page, with the devices below it.
 * @typedef {object} Place
 * @property {string} key
 * @property {"structure" | "room" | "elsewhere"} kind elsewhere: devices of structures that this token does not show
 * @property {string} name
 * @property {string} [structureID]
 * @property {Device[]} devices
 */

// "Lamp 2" comes before "Lamp 10".
const collator = new Intl.Collator([], { numeric: true, sensitivity: "base" });

/**
 * @param {{ id: string, name: string }} one
 * @param {{ id: string, name: string }} other
 */
export function byName(one, other) {
  return collator.compare(one.name, other.name) || (one.id < other.id ? -1 : Number(one.id > other.id));
}

/**
 * The places of the home in the order of the page: each structure with the devices that are in none of its rooms, then
 * its rooms. A structure is shown even when it is empty, a room too.
 * @param {Iterable<Structure>} structures
 * @param {Iterable<Room>} rooms
 * @param {Iterable<Device>} devices
 * @returns {Place[]}
 */
export function places(structures, rooms, devices) {
  /** @type {Place[]} */
  const result = [];
  /** @type {Map<string, Place>} */
  const byKey = new Map();
  /** @param {Place} place */
  const add = (place) => {
    result.push(place);
    byKey.set(place.key, place);
  };
  const sorted = [...rooms].sort(byName);
  for (const { id, name } of structures) {
    add({ key: id, kind: "structure", name, structureID: id, devices: [] });
    for (const room of sorted) {
      if (room.structureID === id) add({ key: room.id, kind: "room", name: room.name, structureID: id, devices: [] });
    }
  }
  const elsewhere = /** @type {Place} */ ({ key: "elsewhere", kind: "elsewhere", name: t("places.devices"), devices: [] });
  for (const device of [...devices].sort(byName)) {
    (byKey.get(device.roomID ?? "") ?? byKey.get(device.structureID ?? "") ?? elsewhere).devices.push(device);
  }
  if (elsewhere.devices.length > 0) add(elsewhere);
  return result;
}

/**
 * Whether a device fits what somebody looks for.
 * @param {string} wanted
 * @param {...(string | undefined)} texts its name, its room, what it is
 */
export function matches(wanted, ...texts) {
  const text = texts.join(" ").toLocaleLowerCase();
  return wanted.toLocaleLowerCase().split(/\s+/).every((word) => text.includes(word));
}
