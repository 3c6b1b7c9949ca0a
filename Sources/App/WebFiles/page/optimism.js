/** @typedef {import("./types").Device} Device */

/**
 * What an attribute is expected to become.
 * @typedef {object} Expected
 * @property {number} ticket of the command that changes it
 * @property {number} endpoint
 * @property {string} trait
 * @property {string} attribute
 * @property {unknown} value
 * @property {string} before the value that the gateway had reported, as JSON
 * @property {number} until when it is given up, by performance.now(); infinite while the command runs
 */

/** Milliseconds after a command's answer in which the device may report what it has become. */
export const lingering = 5000;

/**
 * What the user has asked for and the gateway has not reported yet. A control shows it at once, and follows the event
 * stream again as soon as that says something, or the command is refused.
 */
export class Expectations {
  constructor() {
    /** @type {Map<string, Map<string, Expected>>} by device, then by attribute */
    this.devices = new Map();
    this.tickets = 0;
  }

  /**
   * Expects that attributes get these values.
   * @param {Device} device as the gateway reported it
   * @param {number} endpoint
   * @param {Record<string, Record<string, unknown>>} values by trait and attribute
   * @returns {number} a ticket for `settle` or `drop`
   */
  expect(device, endpoint, values) {
    this.tickets += 1;
    const known = this.devices.get(device.id) ?? new Map();
    const reported = device.endpoints.find(({ id }) => id === endpoint)?.traits ?? {};
    for (const [trait, attributes] of Object.entries(values)) {
      for (const [attribute, value] of Object.entries(attributes)) {
        known.set(`${endpoint} ${trait} ${attribute}`, {
          ticket: this.tickets, endpoint, trait, attribute, value, before: written(reported[trait]?.[attribute]),
          until: Infinity,
        });
      }
    }
    if (known.size > 0) this.devices.set(device.id, known);
    return this.tickets;
  }

  /**
   * The gateway has accepted the command: its report follows, or nothing does.
   * @param {string} device
   * @param {number} ticket
   * @param {number} now by performance.now(), because somebody may set this device's clock
   */
  settle(device, ticket, now) {
    for (const expected of this.devices.get(device)?.values() ?? []) {
      if (expected.ticket === ticket) expected.until = now + lingering;
    }
  }

  /**
   * The gateway has refused the command.
   * @param {string} device
   * @param {number} ticket
   */
  drop(device, ticket) { this.removeWhere(device, (expected) => expected.ticket === ticket); }

  /**
   * The gateway has reported the device. What it says is true, and what it has not said yet is still expected.
   * @param {Device} device
   */
  report(device) {
    this.removeWhere(device.id, ({ endpoint, trait, attribute, value, before, until }) => {
      const part = device.endpoints.find(({ id }) => id === endpoint);
      if (!part) return true;
      const now = written(part.traits[trait]?.[attribute]);
      return now === written(value) || (until !== Infinity && now !== before);
    });
  }

  /**
   * Gives up what has not been reported.
   * @param {number} now by performance.now()
   * @returns {string[]} the devices that look different now
   */
  expire(now) {
    const changed = [...this.devices.keys()].filter((device) => this.removeWhere(device, ({ until }) => until <= now));
    return changed;
  }

  /**
   * The device as the page shows it.
   * @param {Device} device
   * @returns {Device}
   */
  shown(device) {
    const known = this.devices.get(device.id);
    if (!known) return device;
    const endpoints = device.endpoints.map((part) => {
      /** @type {import("./types").Traits} */
      const traits = { ...part.traits };
      for (const { endpoint, trait, attribute, value } of known.values()) {
        if (endpoint === part.id && traits[trait]) traits[trait] = { ...traits[trait], [attribute]: value };
      }
      return { ...part, traits };
    });
    return { ...device, endpoints };
  }

  /** @param {string} device */
  forget(device) { this.devices.delete(device); }

  /**
   * @param {string} device
   * @param {(expected: Expected) => boolean} isOver
   */
  removeWhere(device, isOver) {
    const known = this.devices.get(device);
    if (!known) return false;
    const before = known.size;
    for (const [key, expected] of known) if (isOver(expected)) known.delete(key);
    if (known.size === 0) this.devices.delete(device);
    return known.size < before;
  }
}

/** @param {unknown} value */
function written(value) { return JSON.stringify(value ?? null); }
