import { byID, element } from "./dom.js";
import { deviceOf } from "./events.js";
import { kindName } from "./kinds.js";
import { matches, places } from "./places.js";
import { t } from "./text.js";
import { Tile } from "./tile.js";

/**
 * @typedef {import("./places.js").Place} Place
 * @typedef {import("./types").Camera} Camera
 * @typedef {import("./types").Device} Device
 * @typedef {import("./types").Room} Room
 * @typedef {import("./types").Structure} Structure
 */

const emptyHome = t("home.noDevices");
const nothingGranted = t("home.yourTokenShowsNoDevice");

// With so many devices, a field to find one helps.
const many = 12;

/**
 * A place on the page: its heading, and its devices. Cameras come first, since their pictures are larger.
 * @typedef {{ node: HTMLElement, heading: HTMLElement, buttons: HTMLElement, cameras: HTMLElement, devices: HTMLElement }} Section
 */

/** The devices of the home in their structures and rooms, each with its tile. */
export class Home {
  /**
   * @param {import("./tile.js").TileParts} parts
   * @param {import("./notice.js").Notice} notice
   * @param {(structureID: string) => Node[]} buttonsOf what is beside the name of a structure
   */
  constructor(parts, notice, buttonsOf) {
    this.parts = parts;
    this.notice = notice;
    this.buttonsOf = buttonsOf;
    this.node = byID("home", HTMLElement);
    this.search = byID("find", HTMLInputElement);
    this.search.addEventListener("input", () => this.arrange());
    /** @type {Map<string, Tile>} */
    this.tiles = new Map();
    /** @type {Map<string, Structure>} */
    this.structures = new Map();
    /** @type {Map<string, Room>} */
    this.rooms = new Map();
    /** @type {Map<string, Section>} */
    this.sections = new Map();
    /**
     * Devices that were watched when they or the page went away, or when the token was refused, and how.
     * @type {Map<string, import("./panels.js").Kept>}
     */
    this.resumed = new Map();
    // Something else is shown than the list of devices, or nothing: what is going on waits for resume().
    this.isSuspended = false;
    /**
     * Devices, rooms and structures that events have described since a load began: what it brings about them is older.
     * @type {Set<Set<string>>}
     */
    this.loads = new Set();
    /** @type {Set<() => void>} */
    this.followers = new Set();
    this.isArranging = false;
    // Tiles near the part of the page that is seen have panels. Those of cameras always do.
    /** @type {WeakMap<Element, Tile>} */
    this.observed = new WeakMap();
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting, boundingClientRect } of entries) {
        const tile = this.observed.get(target);
        if (isIntersecting) tile?.mount();
        else tile?.unmount(boundingClientRect.height);
      }
    }, { rootMargin: "600px" });
  }

  /** What to say about a home without devices; "" for one that has some. */
  get emptyWords() {
    if (this.tiles.size > 0) return "";
    return this.parts.rights.may("admin", {}) ? emptyHome : nothingGranted;
  }

  get identifiers() { return new Set(this.tiles.keys()); }

  /** @param {string} id */
  touch(id) { for (const touched of this.loads) touched.add(id); }

  /**
   * An event describes a device.
   * @param {Device} device
   */
  show(device) {
    this.touch(device.id);
    if (this.put(device)) this.followed();
  }

  /**
   * @param {Device} device
   * @returns {boolean} whether its name or its place is new
   */
  put(device) {
    const tile = this.tiles.get(device.id);
    // A camera that becomes another device gets another tile.
    if (tile && tile.isCamera === (device.source !== undefined)) {
      const { name, roomID, structureID } = tile.reported;
      const moves = name !== device.name || roomID !== device.roomID || structureID !== device.structureID;
      tile.update(device);
      if (moves) this.arrangeSoon();
      return moves;
    }
    if (tile) this.take(device.id);
    const made = new Tile(device, this.parts);
    this.tiles.set(device.id, made);
    if (made.isCamera) made.mount();
    else {
      this.observed.set(made.node, made);
      this.observer.observe(made.node);
    }
    this.notice.hide();
    this.arrangeSoon();
    if (!this.isSuspended) this.goOn(device.id, made);
    return true;
  }

  /** @param {string} id */
  remove(id) {
    this.touch(id);
    this.take(id);
    this.followed();
  }

  /** @param {string} id */
  take(id) {
    const tile = this.tiles.get(id);
    if (!tile) return;
    this.tiles.delete(id);
    this.parts.expectations.forget(id);
    // A camera that comes back is watched again, unless it was taken away right here.
    if (tile.isUnwanted) this.resumed.delete(id);
    else this.pause(id, tile);
    this.observer.unobserve(tile.node);
    tile.remove();
    if (this.tiles.size === 0) this.notice.show(this.emptyWords);
    this.arrangeSoon();
  }

  /**
   * Nobody is signed in: nothing of what this person could see stays in the page. Which devices were watched is known until
   * somebody else signs in.
   */
  forget() {
    this.suspend();
    for (const id of this.identifiers) this.take(id);
    this.structures.clear();
    this.rooms.clear();
    this.search.value = "";
    this.arrange();
  }

  /**
   * An event describes a structure or a room, or says that one is gone.
   * @param {Map<string, any>} known `structures` or `rooms`
   * @param {string} id
   * @param {Structure | Room | null} place
   */
  place(known, id, place) {
    this.touch(id);
    if (place) known.set(id, place);
    else known.delete(id);
    this.arrangeSoon();
    this.followed();
  }

  /**
   * Calls the follower after each change of structures and rooms, and of what is in them under which name, until the function
   * that it returns is called.
   * @param {() => void} follower
   * @returns {() => void}
   */
  followPlaces(follower) {
    this.followers.add(follower);
    return () => { this.followers.delete(follower); };
  }

  followed() { for (const follower of this.followers) follower(); }

  /**
   * Reads the home, and shows exactly what was read. An event that came meanwhile is newer.
   * @param {() => Promise<{ structures: Structure[], rooms: Room[], devices: Device[] } | null>} read null: what was read is old
   */
  async load(read) {
    /** @type {Set<string>} */
    const touched = new Set();
    this.loads.add(touched);
    try {
      const answer = await read();
      if (!answer) return;
      const { structures, rooms, devices } = answer;
      for (const [known, list] of /** @type {[Map<string, any>, any[]][]} */ ([[this.structures, structures],
        [this.rooms, rooms]])) {
        const listed = new Map(list.map((one) => [one.id, one]));
        for (const id of known.keys()) if (!listed.has(id) && !touched.has(id)) known.delete(id);
        for (const [id, one] of listed) if (!touched.has(id)) known.set(id, one);
      }
      const listed = new Set(devices.map(({ id }) => id));
      for (const id of this.identifiers) if (!listed.has(id) && !touched.has(id)) this.take(id);
      for (const device of devices) if (!touched.has(device.id)) this.put(device);
    } finally {
      this.loads.delete(touched);
    }
    this.arrange();
    this.followed();
  }

  /** Puts everything in its place, once for many events. */
  arrangeSoon() {
    if (this.isArranging) return;
    this.isArranging = true;
    queueMicrotask(() => {
      if (this.isArranging) this.arrange();
    });
  }

  arrange() {
    this.isArranging = false;
    byID("find-field", HTMLElement).hidden = this.tiles.size <= many && this.search.value === "";
    const wanted = places(this.structures.values(), this.rooms.values(),
      [...this.tiles.values()].map(({ reported }) => reported));
    const looked = this.search.value.trim();
    const keys = new Set(wanted.map(({ key }) => key));
    /** @type {Node | null} */
    let next = this.node.firstChild;
    for (const place of wanted) {
      const section = this.section(place);
      if (section.node === next) next = next.nextSibling;
      else this.node.insertBefore(section.node, next);
      let isFound = false;
      /** @type {[Tile[], Tile[]]} */
      const rows = [[], []];
      for (const { id } of place.devices) {
        const tile = this.tiles.get(id);
        if (!tile) continue;
        const fits = looked === "" || matches(looked, tile.device.name, place.name, kindName(tile.device.type));
        tile.node.hidden = !fits;
        isFound ||= fits;
        // Below a room's heading, or directly below that of its structure.
        tile.title.setAttribute("aria-level", place.kind === "room" ? "4" : "3");
        rows[tile.isCamera ? 0 : 1].push(tile);
      }
      this.line(section.cameras, rows[0], keys);
      this.line(section.devices, rows[1], keys);
      section.node.hidden = !isFound && (looked !== "" || (place.kind === "elsewhere"));
    }
    for (const [key, { node }] of this.sections) {
      if (keys.has(key)) continue;
      node.remove();
      this.sections.delete(key);
    }
  }

  /**
   * Puts tiles in order. One that is active stays where it is while it can: moving a video stops it.
   * @param {HTMLElement} row
   * @param {Tile[]} tiles
   * @param {Set<string>} keys of the places that stay
   */
  line(row, tiles, keys) {
    /** @type {Node | null} */
    let next = row.firstChild;
    for (const tile of tiles) {
      if (tile.node === next) {
        next = next.nextSibling;
        continue;
      }
      const there = tile.node.parentElement?.parentElement;
      if (tile.isActive && there && keys.has(there.dataset["key"] ?? "")) continue;
      row.insertBefore(tile.node, next);
    }
  }

  /**
   * @param {Place} place
   * @returns {Section}
   */
  section(place) {
    let section = this.sections.get(place.key);
    if (!section) {
      const heading = element(place.kind === "room" ? "h3" : "h2");
      const buttons = element("div", "place-buttons");
      const head = element("div", "place-head", heading, buttons);
      section = { node: element("section", `place ${place.kind}`, head), heading, buttons,
        cameras: element("div", "cameras"), devices: element("div", "devices") };
      section.node.append(section.cameras, section.devices);
      section.node.dataset["key"] = place.key;
      this.sections.set(place.key, section);
    }
    if (section.heading.textContent !== place.name) section.heading.textContent = place.name;
    section.node.setAttribute("aria-label", place.name);
    if (place.kind === "structure" && place.structureID) {
      const wanted = this.buttonsOf(place.structureID);
      const { buttons } = section;
      if (wanted.length !== buttons.childNodes.length) buttons.replaceChildren(...wanted);
      // Their names have that of the structure. A button that is replaced would lose the focus.
      else for (const [index, button] of [...buttons.children].entries()) button.setAttribute("aria-label", labelOf(wanted[index]));
    }
    return section;
  }

  /**
   * Shows the settings of these cameras, and of no others.
   * @param {Camera[]} cameras
   */
  describe(cameras) {
    const listed = new Map(cameras.map((camera) => [camera.deviceID ?? camera.id, camera]));
    for (const [id, tile] of this.tiles) tile.describe(listed.get(id));
  }

  /**
   * Hands an event to the device that it is about.
   * @param {string} name
   * @param {any} data
   */
  event(name, data) { this.tiles.get(deviceOf(data) ?? "")?.event(name, data); }

  /** @param {boolean} isWholeSecond */
  tick(isWholeSecond) {
    if (isWholeSecond) for (const id of this.parts.expectations.expire(performance.now())) this.tiles.get(id)?.refresh();
    for (const tile of this.tiles.values()) if (tile.panels) tile.tick(isWholeSecond);
  }

  /** What the token permits has changed: other panels fit. */
  refresh() {
    for (const { buttons } of this.sections.values()) buttons.replaceChildren();
    for (const tile of this.tiles.values()) tile.refresh();
    this.arrange();
  }

  /** The gateway was reached again, and it may be another one. */
  check() { for (const tile of this.tiles.values()) tile.check(); }

  /** Ends what is going on at the devices until resume(). */
  suspend() {
    this.isSuspended = true;
    for (const [id, tile] of this.tiles) this.pause(id, tile);
  }

  resume() {
    this.isSuspended = false;
    for (const [id, tile] of this.tiles) this.goOn(id, tile);
  }

  /**
   * @param {string} id
   * @param {Tile} tile
   */
  pause(id, tile) { if (tile.isActive) this.resumed.set(id, tile.suspend()); }

  /**
   * @param {string} id
   * @param {Tile} tile
   */
  goOn(id, tile) {
    const kept = this.resumed.get(id);
    this.resumed.delete(id);
    if (kept) tile.resume(kept);
  }
}

/** @param {Node | undefined} node */
function labelOf(node) { return node instanceof HTMLElement ? node.getAttribute("aria-label") ?? "" : ""; }
