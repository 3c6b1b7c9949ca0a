import { byID } from "./dom.js";
import { deviceOf } from "./events.js";
import { Tile } from "./tile.js";

/**
 * @typedef {import("./types").Camera} Camera
 * @typedef {import("./types").Device} Device
 */

export const emptyHome = "No camera yet. Add one below, or under cameras: in the gateway's config.";

/** The devices of the home, each with its tile. */
export class Home {
  /**
   * @param {readonly import("./panels.js").PanelKind[]} kinds
   * @param {import("./notice.js").Notice} notice
   */
  constructor(kinds, notice) {
    this.kinds = kinds;
    this.notice = notice;
    this.node = byID("cameras", HTMLElement);
    /** @type {Map<string, Tile>} */
    this.tiles = new Map();
    /**
     * Devices that were watched when they or the page went away, or when the token was refused.
     * @type {Set<string>}
     */
    this.resumed = new Set();
  }

  get isEmpty() { return this.tiles.size === 0; }

  get identifiers() { return new Set(this.tiles.keys()); }

  /** @param {Device} device */
  show(device) {
    const tile = this.tiles.get(device.id);
    if (tile) {
      tile.update(device);
      return;
    }
    const made = new Tile(device, this.kinds);
    this.tiles.set(device.id, made);
    this.node.append(made.node);
    this.notice.hide();
    if (this.resumed.delete(device.id)) made.resume();
  }

  /** @param {string} id */
  remove(id) {
    const tile = this.tiles.get(id);
    if (!tile) return;
    this.tiles.delete(id);
    // A camera that comes back is watched again, unless it was taken away right here.
    if (tile.isActive && !tile.isUnwanted) this.resumed.add(id);
    tile.suspend();
    tile.remove();
    if (this.isEmpty) this.notice.show(emptyHome);
  }

  /**
   * Shows exactly these devices, in this order.
   * @param {Device[]} devices
   */
  showAll(devices) {
    const known = new Set(devices.map((device) => device.id));
    for (const id of this.identifiers) if (!known.has(id)) this.remove(id);
    for (const device of devices) this.show(device);
    // A tile moves only if its place is wrong and it is not active: moving a video stops it.
    for (const [place, device] of devices.entries()) {
      const tile = this.tiles.get(device.id);
      const there = this.node.children[place];
      if (tile && there !== tile.node && !tile.isActive) this.node.insertBefore(tile.node, there ?? null);
    }
  }

  /** @param {Camera[]} cameras */
  describe(cameras) { for (const camera of cameras) this.tiles.get(camera.deviceID ?? camera.id)?.describe(camera); }

  /**
   * Hands an event to the device that it is about.
   * @param {string} name
   * @param {any} data
   */
  event(name, data) { this.tiles.get(deviceOf(data) ?? "")?.event(name, data); }

  /** @param {boolean} isWholeSecond */
  tick(isWholeSecond) { for (const tile of this.tiles.values()) tile.tick(isWholeSecond); }

  /** The gateway was reached again, and it may be another one. */
  check() { for (const tile of this.tiles.values()) tile.check(); }

  /** Ends what is going on at the devices until resume(). */
  suspend() {
    for (const [id, tile] of this.tiles) {
      if (!tile.isActive) continue;
      this.resumed.add(id);
      tile.suspend();
    }
  }

  resume() {
    for (const [id, tile] of this.tiles) if (this.resumed.delete(id)) tile.resume();
  }
}
