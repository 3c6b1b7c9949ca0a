import { cameraControls } from "./camera-controls.js";
import { arrange, element } from "./dom.js";
import { climateControls } from "./climate-controls.js";
import { kindName, partsOf } from "./kinds.js";
import { lightControls } from "./light-controls.js";
import { mediaControls } from "./media-controls.js";
import { openingControls } from "./opening-controls.js";
import { PartControls } from "./part-controls.js";

/**
 * @typedef {import("./types").Device} Device
 * @typedef {import("./types").Endpoint} Endpoint
 * @typedef {import("./types").Traits} Traits
 */

/**
 * Values that attributes are expected to get, by trait.
 * @typedef {Record<string, Record<string, unknown>>} Values
 */

/**
 * A part of a device, as its controls see it.
 * @typedef {object} Part
 * @property {string} name of the device, and of the part if there are several: what controls are called when they are read
 *   aloud
 * @property {string[]} types
 * @property {() => Traits} traits as the page shows them now
 * @property {(trait: string, command: string, parameters: object, expected: Values) => void} send
 * @property {(trait: string, values: Record<string, unknown>, expected?: Values, action?: import("./words.js").Action) => void}
 *   write writes attributes; the action says how a failure is worded
 */

/**
 * @typedef {object} Control
 * @property {HTMLElement} node
 * @property {(traits: Traits, isEnabled: boolean) => void} update
 */

/**
 * A kind of control: for which parts it is, and how it is made. A control outlives changes of attributes, so its limits are
 * read in `update`. `isMain` puts it beside the name; the others of a `fold` are shown when that is opened.
 * @typedef {object} ControlKind
 * @property {string} name
 * @property {boolean} [isMain]
 * @property {string} [fold]
 * @property {(traits: Traits, types: string[]) => boolean} fits
 * @property {(part: Part) => Control} make
 */

/** @type {ControlKind[]} */
const kinds = [...lightControls, ...openingControls, ...climateControls, ...mediaControls, ...cameraControls];

/**
 * The controls of a device, by the traits of its parts.
 * @type {import("./panels.js").PanelKind}
 */
export const controlsPanel = {
  name: "controls",
  fits: (device) => partsOf(device).some(({ traits, types }) => kinds.some((kind) => kind.fits(traits, types))),
  make: (host) => new Controls(host),
};

/**
 * Whether a part of a device answers: it may be cut off while others are not.
 * @param {Device} device
 * @param {Endpoint} part
 */
export function answersCommands(device, part) {
  const states = [device.connectivityState, part.connectivityState ?? "online"];
  return !states.includes("offline") && (part.dataSourceLocality ?? device.dataSourceLocality) !== "unspecified";
}

class Controls {
  /** @param {import("./panels.js").Host} host */
  constructor(host) {
    this.host = host;
    // What the parts are now: when that changes, controls are made or removed.
    this.key = "";
    /** @type {Map<number, PartControls>} */
    this.parts = new Map();
    this.main = element("div", "main-controls");
    this.node = element("div", "parts");
    host.place("main", this.main);
    host.place("below", this.node);
  }

  update() {
    const parts = partsOf(this.host.device).map((part) => ({
      part, kinds: kinds.filter((kind) => kind.fits(part.traits, part.types)),
    })).filter((one) => one.kinds.length > 0);
    const key = JSON.stringify([this.host.device.name,
      ...parts.map((one) => [one.part.id, one.part.types, one.kinds.map(({ name }) => name)])]);
    if (key !== this.key) {
      this.key = key;
      this.build(parts);
    }
    for (const { part } of parts) {
      const isEnabled = answersCommands(this.host.device, part);
      for (const control of this.parts.get(part.id)?.controls ?? []) control.update(part.traits, isEnabled);
    }
  }

  /** @param {{ part: Endpoint, kinds: ControlKind[] }[]} parts */
  build(parts) {
    const hasSeveral = parts.length > 1;
    const former = this.parts;
    this.parts = new Map(parts.map(({ part }) => [part.id, former.get(part.id) ?? new PartControls()]));
    /** @type {Node[]} */
    const main = [];
    const groups = parts.map(({ part, kinds: fitting }) => {
      const title = hasSeveral ? kindName(part.types[0] ?? "") : "";
      const name = hasSeveral ? `${this.host.device.name}, ${title}` : this.host.device.name;
      const controls = /** @type {PartControls} */ (this.parts.get(part.id));
      main.push(...controls.show(this.part(part, name), fitting, title));
      return controls.node;
    }).filter((node) => node.childNodes.length > 0);
    arrange(this.main, main);
    arrange(this.node, groups);
    this.node.hidden = groups.length === 0;
  }

  /**
   * @param {Endpoint} part
   * @param {string} name
   * @returns {Part}
   */
  part({ id, types }, name) {
    const { host } = this;
    return {
      name, types,
      traits: () => host.device.endpoints.find((one) => one.id === id)?.traits ?? {},
      send: (trait, command, parameters, expected) => host.command({ endpoint: id, trait, command, parameters }, expected),
      write: (trait, values, expected, action = "control") => host.command({ endpoint: id, trait, values, action },
        expected ?? { [trait]: values }),
    };
  }
}
