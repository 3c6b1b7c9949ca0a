import { isolated } from "./events.js";

/**
 * @typedef {import("./types").Camera} Camera
 * @typedef {import("./types").Device} Device
 * @typedef {import("./types").Fault} Fault
 */

/**
 * Where panels put elements in a tile: at the top (the picture), below the name, beside it, in the row of buttons, at the
 * bottom.
 * @typedef {"screen" | "about" | "main" | "controls" | "below"} Slot
 */

/**
 * The tile of a device, as one of its panels sees it.
 * @typedef {object} Host
 * @property {Device} device as the page shows it: as the gateway described it last, with what was asked for since
 * @property {Camera | undefined} camera its settings, once they are known
 * @property {HTMLElement} node the whole tile
 * @property {(slot: Slot, ...nodes: Node[]) => void} place puts elements into the tile, behind those of earlier panels
 * @property {(action: import("./words.js").Action, run: () => Promise<unknown>) => Promise<void>} attempt runs what the
 *   user asked for, and says on the tile what went wrong
 * @property {(request: PartRequest, expected: import("./controls.js").Values) => Promise<void>} command asks the device
 *   for something. The tile shows what is expected at once, and puts it back if the gateway refuses
 * @property {(fault: Fault | null) => void} say shows what went wrong with a user's action, or clears it
 * @property {() => void} changed the panel reports that its fault or the visibility of its
 *   buttons has changed
 * @property {(run: () => Promise<unknown>) => Promise<void>} dismiss removes the device, because the user wants it
 */

/**
 * A command for a part of a device, or values for attributes of a trait. The action says how a failure is worded.
 * @typedef {{ endpoint: number, trait: string, command: string, parameters: object }
 *   | { endpoint: number, trait: string, values: object, action: import("./words.js").Action }} PartRequest
 */

/**
 * What a module adds to the tile of a device. Each member is optional.
 * @typedef {object} Panel
 * @property {() => void} [update] the device or its settings have changed; also called once at the beginning
 * @property {(name: string, data: any) => void} [event] an event about this device, from the stream or its history
 * @property {(isWholeSecond: boolean) => void} [tick] four times a second
 * @property {() => Fault | null} [fault] what is wrong now
 * @property {() => void} [answer] somebody answers the door
 * @property {boolean} [isActive] whether it has something going on, such as a live view
 * @property {() => any} [suspend] ends what is going on, and answers what resume() needs to know of it
 * @property {(kept: any) => void} [resume] goes on with what was ended, perhaps by another panel of its kind in another tile
 * @property {() => void} [check] the gateway was reached again, and it may be another one
 * @property {() => void} [remove] the tile is removed, or the panel no longer fits the device
 */

/**
 * A kind of panel: for which devices it is, and how it is made.
 * @typedef {object} PanelKind
 * @property {string} name
 * @property {(device: Device) => boolean} fits by the device's traits
 * @property {(host: Host) => Panel} make
 */

/**
 * What the panels of a tile need to go on, by the names of their kinds.
 * @typedef {Map<string, any>} Kept
 */

/** The kinds of panels on this page, in the order of their elements in a tile. */
export class PanelRegistry {
  constructor() {
    /** @type {PanelKind[]} */
    this.kinds = [];
  }

  /** @param {PanelKind} kind */
  register(kind) {
    if (this.kinds.some(({ name }) => name === kind.name)) throw new Error(`two panels have the name ${kind.name}`);
    this.kinds.push(kind);
  }
}

/** The panels of one tile. An exception in one panel does not affect the others. */
export class PanelSet {
  /**
   * @param {readonly PanelKind[]} kinds
   * @param {(place: number) => { host: Host, clear: () => void }} hostAt the tile for the panel with this place in the
   *   order, and what takes that panel's elements out of it
   */
  constructor(kinds, hostAt) {
    this.kinds = kinds;
    this.hostAt = hostAt;
    /** @type {Map<PanelKind, { panel: Panel, clear: () => void }>} */
    this.made = new Map();
  }

  /**
   * Makes the panels that fit the device, removes those that no longer do, and updates all.
   * @param {Device} device
   */
  update(device) {
    for (const [place, kind] of this.kinds.entries()) {
      isolated(() => {
        const fits = kind.fits(device);
        if (!fits) this.drop(kind);
        else if (!this.made.has(kind)) this.make(kind, place);
      });
    }
    this.each((panel) => panel.update?.());
  }

  /**
   * @param {PanelKind} kind
   * @param {number} place
   */
  make(kind, place) {
    const { host, clear } = this.hostAt(place);
    this.made.set(kind, { panel: kind.make(host), clear });
  }

  /** @param {PanelKind} kind */
  drop(kind) {
    const made = this.made.get(kind);
    if (!made) return;
    this.made.delete(kind);
    isolated(() => made.panel.remove?.());
    made.clear();
  }

  /** @param {(panel: Panel) => void} action */
  each(action) {
    for (const kind of this.kinds) {
      const made = this.made.get(kind);
      if (made) isolated(() => action(made.panel));
    }
  }

  /** The first fault that a panel has. */
  fault() {
    /** @type {Fault | null} */
    let first = null;
    this.each((panel) => { first ??= panel.fault?.() ?? null; });
    return /** @type {Fault | null} */ (first);
  }

  /** Whether a panel has something going on. */
  get isActive() {
    let isActive = false;
    this.each((panel) => { isActive ||= panel.isActive ?? false; });
    return isActive;
  }

  /**
   * Ends what is going on.
   * @returns {Kept}
   */
  suspend() {
    /** @type {Kept} */
    const kept = new Map();
    for (const [{ name }, { panel }] of this.made) isolated(() => kept.set(name, panel.suspend?.()));
    return kept;
  }

  /** @param {Kept} kept */
  resume(kept) {
    for (const [{ name }, { panel }] of this.made) isolated(() => panel.resume?.(kept.get(name)));
  }

  remove() { for (const kind of this.made.keys()) this.drop(kind); }
}
