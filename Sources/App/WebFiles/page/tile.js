import { element, faultElements } from "./dom.js";
import { PanelSet } from "./panels.js";
import { dotClass, statusLine } from "./status.js";
import { inWords } from "./words.js";

/**
 * @typedef {import("./panels.js").Host} Host
 * @typedef {import("./panels.js").Slot} Slot
 * @typedef {import("./types").Camera} Camera
 * @typedef {import("./types").Device} Device
 * @typedef {import("./types").Fault} Fault
 */

/** One device on the page: its name and state, what is wrong, and the room for its panels. */
export class Tile {
  /**
   * @param {Device} device
   * @param {readonly import("./panels.js").PanelKind[]} kinds
   */
  constructor(device, kinds) {
    this.device = device;
    /** @type {Camera | undefined} */
    this.camera = undefined;
    // The user took it away on this page.
    this.isUnwanted = false;
    /**
     * What went wrong with what the user did last.
     * @type {Fault | null}
     */
    this.message = null;

    this.title = element("h2");
    this.subtitle = element("p");
    this.dot = element("span", "dot");
    this.fault = element("div", "fault");
    this.fault.setAttribute("role", "alert");
    this.faultKey = "";
    /** @type {Record<Slot, HTMLElement>} */
    this.slots = {
      screen: element("div", "slot"), about: element("div", "slot"), controls: element("div", "controls"),
      below: element("div", "slot"),
    };
    /** @type {{ place: number, slot: Slot, node: Node }[]} */
    this.placed = [];
    this.node = element("article", "card tile", this.slots.screen,
      element("div", "about", this.dot, element("div", "", this.title, this.subtitle, this.slots.about)),
      this.slots.controls, this.fault, this.slots.below);
    this.node.id = "camera-" + (device.key ?? device.id);
    this.panels = new PanelSet(kinds, (place) => ({ host: this.hostAt(place), clear: () => this.clear(place) }));
    this.update(device);
  }

  /**
   * @param {number} place
   * @returns {Host}
   */
  hostAt(place) {
    const tile = this;
    return {
      node: this.node,
      get device() { return tile.device; },
      get camera() { return tile.camera; },
      place: (slot, ...nodes) => { for (const node of nodes) this.place(place, slot, node); },
      attempt: (action, run) => this.attempt(action, run),
      say: (fault) => this.say(fault),
      changed: () => this.renderShared(),
      dismiss: () => { this.isUnwanted = true; },
    };
  }

  /**
   * @param {number} place
   * @param {Slot} slot
   * @param {Node} node
   */
  place(place, slot, node) {
    const next = this.placed.findIndex((other) => other.place > place);
    const behind = this.placed.find((other) => other.place > place && other.slot === slot);
    this.slots[slot].insertBefore(node, behind?.node ?? null);
    this.placed.splice(next < 0 ? this.placed.length : next, 0, { place, slot, node });
  }

  /** @param {number} place */
  clear(place) {
    for (const { slot, node } of this.placed.filter((other) => other.place === place)) {
      if (node.parentNode === this.slots[slot]) this.slots[slot].removeChild(node);
    }
    this.placed = this.placed.filter((other) => other.place !== place);
  }

  /** @param {Device} device */
  update(device) {
    this.device = device;
    this.title.textContent = device.name;
    this.subtitle.textContent = statusLine(device, this.camera);
    this.dot.className = "dot " + dotClass(device.connectivityState);
    this.panels.update(device);
    this.renderShared();
  }

  /**
   * Takes the camera's settings from GET /v1/cameras.
   * @param {Camera} camera
   */
  describe(camera) {
    this.camera = camera;
    this.update(this.device);
  }

  /** @param {Fault | null} fault */
  say(fault) {
    this.message = fault;
    this.renderShared();
  }

  /**
   * @param {import("./words.js").Action} action
   * @param {() => Promise<unknown>} run
   */
  async attempt(action, run) {
    this.say(null);
    try {
      await run();
    } catch (error) {
      this.say({ ...inWords(error, action), mild: true });
    }
  }

  // What the panels share: the row of buttons, and the fault. The fault is made again only when it says something
  // else: its details may be open, and it is read out.
  renderShared() {
    const { controls } = this.slots;
    controls.hidden = [...controls.children].every((one) => one instanceof HTMLElement && one.hidden);
    const fault = this.message ?? this.panels.fault();
    const key = fault ? JSON.stringify([fault.heading, fault.message, fault.details]) : "";
    this.fault.hidden = !fault;
    this.fault.classList.toggle("mild", Boolean(fault?.mild));
    if (this.faultKey === key) return;
    this.faultKey = key;
    this.fault.replaceChildren();
    if (fault?.heading) this.fault.append(element("strong", "", fault.heading));
    if (fault) this.fault.append(...faultElements(fault));
  }

  /**
   * @param {string} name
   * @param {any} data
   */
  event(name, data) { this.panels.each((panel) => panel.event?.(name, data)); }

  /** @param {boolean} isWholeSecond */
  tick(isWholeSecond) { this.panels.each((panel) => panel.tick?.(isWholeSecond)); }

  /** Somebody answers the door. */
  answer() {
    this.node.scrollIntoView({ behavior: "smooth", block: "center" });
    this.panels.each((panel) => panel.answer?.());
  }

  /** Whether something is going on, such as a live view. */
  get isActive() { return this.panels.isActive; }

  suspend() { this.panels.each((panel) => panel.suspend?.()); }

  resume() { this.panels.each((panel) => panel.resume?.()); }

  check() { this.panels.each((panel) => panel.check?.()); }

  remove() {
    this.panels.remove();
    this.node.remove();
  }
}
