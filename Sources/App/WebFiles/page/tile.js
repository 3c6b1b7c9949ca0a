import { PageError, commandPart, writePart } from "./api.js";
import { Button, element, faultElements, scrollBehavior, setText } from "./dom.js";
import { PanelSet } from "./panels.js";
import { deviceLine, levelOf } from "./readings.js";
import { dotClass, happens, statusLine } from "./status.js";
import { t } from "./text.js";
import { inWords } from "./words.js";

/**
 * @typedef {import("./panels.js").Host} Host
 * @typedef {import("./panels.js").Slot} Slot
 * @typedef {import("./types").Camera} Camera
 * @typedef {import("./types").Device} Device
 * @typedef {import("./types").Fault} Fault
 */

/**
 * What all tiles share.
 * @typedef {object} TileParts
 * @property {readonly import("./panels.js").PanelKind[]} kinds
 * @property {import("./optimism.js").Expectations} expectations
 * @property {import("./rights.js").Rights} rights
 * @property {(tile: Tile) => void} more opens what belongs to a device and does not fit in its tile
 */

// Milliseconds in which a message about a command is read.
const reading = 15000;

/**
 * One device on the page: its name and state, what is wrong, and the room for its panels. A tile that is far away from the
 * part of the page that is seen has no panels.
 */
export class Tile {
  /**
   * @param {Device} device
   * @param {TileParts} parts
   */
  constructor(device, parts) {
    this.parts = parts;
    this.reported = device;
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
    // When the message may go, in milliseconds since 1970.
    this.readUntil = 0;
    /**
     * What happened last, for panels that are made later.
     * @type {{ name: string, data: any } | null}
     */
    this.latest = null;
    /** @type {PanelSet | null} */
    this.panels = null;

    this.title = element("h4");
    this.subtitle = element("p");
    this.dot = element("span", "dot");
    this.fault = element("div", "fault");
    this.fault.setAttribute("role", "alert");
    this.faultKey = "";
    this.more = new Button("more", t("tile.more"), () => parts.more(this), "button plain");
    /** @type {Record<Slot, HTMLElement>} */
    this.slots = {
      screen: element("div", "slot"), about: element("div", "slot"), main: element("div", "slot"),
      controls: element("div", "controls"), below: element("div", "slot"),
    };
    /** @type {{ place: number, slot: Slot, node: Node }[]} */
    this.placed = [];
    this.node = element("article", device.source ? "card tile" : "card tile small", this.slots.screen,
      element("div", "about", this.dot, element("div", "", this.title, this.subtitle, this.slots.about), this.slots.main,
        this.more.node),
      this.slots.controls, this.fault, this.slots.below);
    this.node.id = (device.source ? "camera-" : "device-") + (device.key ?? device.id);
    this.refresh();
  }

  get isCamera() { return this.reported.source !== undefined; }

  /** Makes the panels. */
  mount() {
    if (this.panels) return;
    this.node.style.minHeight = "";
    this.panels = new PanelSet(this.parts.kinds, (place) => ({
      host: this.hostAt(place), clear: () => this.clear(place),
    }));
    this.refresh();
    const { latest } = this;
    if (latest) this.panels.each((panel) => panel.event?.(latest.name, latest.data));
  }

  /**
   * Removes the panels, and keeps the room that they took.
   * @param {number} height
   */
  unmount(height) {
    if (!this.panels || this.isActive || this.node.contains(document.activeElement)) return;
    this.panels.remove();
    this.panels = null;
    if (height > 0) this.node.style.minHeight = `${height}px`;
    this.renderShared();
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
      command: (request, expected) => this.command(request, expected),
      say: (fault) => this.say(fault),
      changed: () => this.renderShared(),
      dismiss: (run) => this.dismiss(run),
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

  /** @param {Device} device as the gateway reports it */
  update(device) {
    this.reported = device;
    this.parts.expectations.report(device);
    // A device that goes on has outlived what was wrong with a command.
    if (performance.now() > this.readUntil) this.message = null;
    this.refresh();
  }

  /** Shows the device as it was reported, with what was asked for since. */
  refresh() {
    const device = this.parts.expectations.shown(this.reported);
    this.device = device;
    setText(this.title, device.name);
    setText(this.subtitle, this.isCamera ? statusLine(device) : deviceLine(device));
    this.dot.className = "dot " + dotClass(device.connectivityState);
    this.node.classList.toggle("is-offline", !this.isCamera && device.connectivityState === "offline");
    this.node.dataset["level"] = this.isCamera ? "" : levelOf(device);
    this.more.node.setAttribute("aria-label", t("tile.moreAboutName", { name: device.name }));
    this.panels?.update(device);
    this.renderShared();
  }

  /**
   * Takes the camera's settings from GET /v1/cameras, or that they are not known any more.
   * @param {Camera | undefined} camera
   */
  describe(camera) {
    if (!camera && !this.camera) return;
    this.camera = camera;
    this.refresh();
  }

  /** @param {Fault | null} fault */
  say(fault) {
    this.message = fault;
    this.readUntil = this.isCamera ? Infinity : performance.now() + reading;
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

  /**
   * Removes the device, because the user wants it: it is not watched again when it comes back.
   * @param {() => Promise<unknown>} run
   */
  async dismiss(run) {
    // The event about it may be earlier than the answer.
    this.isUnwanted = true;
    try {
      await run();
    } catch (error) {
      this.isUnwanted = false;
      throw error;
    }
  }

  /**
   * Asks the device for something. What is expected is shown at once, and put back if the gateway refuses.
   * @param {import("./panels.js").PartRequest} request
   * @param {import("./controls.js").Values} expected
   */
  async command(request, expected) {
    const { expectations } = this.parts;
    const { id } = this.reported;
    const ticket = expectations.expect(this.reported, request.endpoint, expected);
    this.refresh();
    await this.attempt("action" in request ? request.action : "control", async () => {
      try {
        if ("command" in request) {
          const { endpoint, trait, command, parameters } = request;
          const { status } = await commandPart(id, endpoint, trait, command, parameters);
          // A player says in its answer whether it did what it was told.
          if (status !== undefined && status !== "success") {
            throw new PageError("FAILED_PRECONDITION", t("tile.notNow"), String(status));
          }
        } else {
          await writePart(id, request.endpoint, request.trait, request.values);
        }
        expectations.settle(id, ticket, performance.now());
      } catch (error) {
        expectations.drop(id, ticket);
        this.refresh();
        throw error;
      }
    });
  }

  // What the panels share: the row of buttons, and the fault. The fault is made again only when it says something
  // else: its details may be open, and it is read out.
  renderShared() {
    const { controls } = this.slots;
    controls.hidden = [...controls.children].every((one) => one instanceof HTMLElement && one.hidden);
    const fault = this.message ?? this.panels?.fault() ?? null;
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
  event(name, data) {
    if (happens(name) && !(this.latest && this.latest.data.timestamp > data.timestamp)) this.latest = { name, data };
    this.panels?.each((panel) => panel.event?.(name, data));
  }

  /** @param {boolean} isWholeSecond */
  tick(isWholeSecond) { this.panels?.each((panel) => panel.tick?.(isWholeSecond)); }

  /** Somebody answers the door. */
  answer() {
    this.mount();
    this.node.scrollIntoView({ behavior: scrollBehavior(), block: "center" });
    this.panels?.each((panel) => panel.answer?.());
  }

  /** Whether something is going on, such as a live view. */
  get isActive() { return this.panels?.isActive ?? false; }

  /**
   * Ends what is going on.
   * @returns {import("./panels.js").Kept} what resume() needs, here or in another tile of this device
   */
  suspend() { return this.panels?.suspend() ?? new Map(); }

  /** @param {import("./panels.js").Kept} kept */
  resume(kept) {
    this.mount();
    this.panels?.resume(kept);
  }

  check() { this.panels?.each((panel) => panel.check?.()); }

  remove() {
    this.panels?.remove();
    this.node.remove();
  }
}
