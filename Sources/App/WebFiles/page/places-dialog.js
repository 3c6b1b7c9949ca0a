import { make, patch, remove } from "./api.js";
import { ask } from "./ask.js";
import { changedFields, DialogFault, follow, keepEntered, lineForm, openDialog } from "./dialog.js";
import { arrange, Button, element } from "./dom.js";
import { keepFocus } from "./kept-focus.js";
import { byName } from "./places.js";
import { t } from "./text.js";

/**
 * Opens the dialog of a structure.
 * @param {import("./home.js").Home} home
 * @param {string} structureID
 * @param {import("./rights.js").Rights} rights
 */
export function openPlaces(home, structureID, rights) { return new PlacesDialog(home, structureID, rights); }

/** The rooms of a structure, and the structures: they are made, renamed and removed here. What others change appears, too. */
class PlacesDialog {
  /**
   * @param {import("./home.js").Home} home
   * @param {string} structureID
   * @param {import("./rights.js").Rights} rights
   */
  constructor(home, structureID, rights) {
    this.home = home;
    this.id = structureID;
    this.rights = rights;
    const { node, heading, body } = openDialog(t("placesDialog.rooms"), "places-dialog", () => this.unfollow());
    this.node = node;
    this.heading = heading;
    this.body = body;
    this.fault = new DialogFault();
    this.list = element("ul", "rooms");
    /** @type {Map<string, RoomRow>} */
    this.rows = new Map();
    /** @type {Button | null} */
    this.bin = null;
    /**
     * The fields for the properties of the structure that the gateway keeps.
     * @type {Partial<Record<keyof Written, HTMLInputElement | null>>}
     */
    this.fields = {};
    this.unfollow = home.followPlaces(() => this.refresh());
    this.draw();
    this.refresh();
    keepEntered(node, () => changedFields(body));
  }

  draw() {
    const structure = this.home.structures.get(this.id);
    if (!structure) return;
    const path = `/v1/structures/${encodeURIComponent(this.id)}`;
    const nameForm = lineForm({ label: t("placesDialog.nameOfThisHome"), value: structure.name, button: t("placesDialog.save"),
      run: (name) => this.change(() => patch(path, { name }), () => this.learn({ name })) });
    this.fields.name = nameForm.querySelector("input");
    this.body.replaceChildren(
      element("h3", "", t("placesDialog.nameOfThisHome")), nameForm,
      element("h3", "", t("placesDialog.whereItIs")), this.whereForm(structure, path),
      element("h3", "", t("placesDialog.rooms")), this.list,
      lineForm({ label: t("placesDialog.newRoom"), button: t("placesDialog.add"), isEmptied: true,
        run: (name) => this.change(() => make(`${path}/rooms`, { name }),
          ({ id }) => this.home.place(this.home.rooms, id, { id, name, structureID: this.id })) }),
      this.fault.node);
    if (!this.rights.may("admin", {})) return;
    const words = t("placesDialog.removeName", { name: structure.name });
    this.bin = new Button("bin", words, () => this.removeStructure(path), "button danger");
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "Etc/UTC";
    this.body.append(
      element("h3", "", t("placesDialog.anotherHome")),
      lineForm({ label: t("placesDialog.nameOfTheNewHome"), button: t("placesDialog.add"), isEmptied: true,
        run: (name) => this.change(() => make("/v1/structures", { name, timeZone: zone }),
          ({ id }) => this.home.place(this.home.structures, id, { id, name })) }),
      this.bin.node);
  }

  /** Shows what has changed, and leaves the fields alone in which somebody may be entering something. */
  refresh() {
    const structure = this.home.structures.get(this.id);
    if (!structure) {
      this.node.close();
      return;
    }
    this.heading.textContent = structure.name;
    if (this.bin) this.bin.label = t("placesDialog.removeName", { name: structure.name });
    const known = written(structure);
    for (const [name, field] of Object.entries(this.fields)) if (field) follow(field, known[/** @type {keyof Written} */ (name)]);
    const rooms = [...this.home.rooms.values()].filter((room) => room.structureID === this.id).sort(byName);
    this.rows = new Map(rooms.map((room) => [room.id, this.rows.get(room.id) ?? new RoomRow(room, this)]));
    for (const room of rooms) this.rows.get(room.id)?.show(room);
    const focused = document.activeElement;
    const held = [...this.rows.values()].find(({ node }) => node.contains(focused))?.node;
    keepFocus(this.list, () => {
      arrange(this.list, [...this.rows.values()].map(({ node }) => node));
      // A room with another name may have another place, and a row that moves loses the focus.
      if (held && !held.contains(document.activeElement) && focused instanceof HTMLElement) focused.focus();
    });
  }

  /**
   * The gateway has taken a change of the structure.
   * @param {Partial<import("./types").Structure>} change
   */
  learn(change) {
    const structure = this.home.structures.get(this.id);
    if (structure) this.home.place(this.home.structures, this.id, { ...structure, ...change });
  }

  /**
   * The address, the coordinates and the time zone, by which automations know the clock and the sun.
   * @param {import("./types").Structure} structure
   * @param {string} path
   */
  whereForm(structure, path) {
    const { address, latitude, longitude, timeZone } = written(structure);
    const fields = {
      address: input("text", address, { maxLength: 500, placeholder: "1 Main Street, Springfield" }),
      latitude: input("number", latitude, { min: "-90", max: "90", step: "any" }),
      longitude: input("number", longitude, { min: "-180", max: "180", step: "any" }),
      timeZone: input("text", timeZone, { required: true, placeholder: "Europe/Berlin" }),
    };
    Object.assign(this.fields, fields);
    const zones = element("datalist");
    zones.id = "time-zones";
    // Browsers of 2021 and before do not list them.
    const known = /** @type {any} */ (Intl).supportedValuesOf?.("timeZone") ?? [];
    zones.append(...known.map((/** @type {string} */ zone) => new Option(zone, zone)));
    fields.timeZone.setAttribute("list", zones.id);
    const save = element("button", "button", t("placesDialog.saveWhereItIs"));
    save.type = "submit";
    const form = element("form", "fields", label(t("placesDialog.address"), fields.address), label(t("placesDialog.degreesNorth"), fields.latitude),
      label(t("placesDialog.degreesEast"), fields.longitude), label(t("placesDialog.timeZone"), fields.timeZone), zones, save);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const settings = {
        address: fields.address.value.trim() || null, timeZone: fields.timeZone.value.trim(),
        latitude: numberOf(fields.latitude), longitude: numberOf(fields.longitude),
      };
      const entered = Object.values(fields).map((field) => ({ field, value: field.value }));
      this.change(() => patch(path, settings), () => {
        for (const { field, value } of entered) field.defaultValue = value;
        this.learn(present(settings));
      });
    });
    return form;
  }

  /** @param {string} path */
  async removeStructure(path) {
    const name = this.home.structures.get(this.id)?.name ?? "";
    if (await ask({ question: t("placesDialog.removeName2", { name }), details: [t("placesDialog.removingStructureEffect")], yes: t("placesDialog.remove"),
      isDangerous: true }) === null) return;
    await this.change(() => remove(path), () => { this.home.place(this.home.structures, this.id, null); });
  }

  /**
   * @param {() => Promise<any>} run
   * @param {(answer: any) => void} [done] puts it into the home
   * @returns {Promise<boolean>} whether it worked
   */
  change(run, done = () => {}) {
    return this.fault.attempt(async () => {
      const answer = await run();
      // Events report it to the home. It may be that of the next person.
      if (this.node.isConnected) done(answer);
    });
  }
}

/** A room: its name, and its removal. */
class RoomRow {
  /**
   * @param {import("./types").Room} room
   * @param {PlacesDialog} dialog
   */
  constructor(room, dialog) {
    this.room = room;
    const { home } = dialog;
    const path = `/v1/rooms/${encodeURIComponent(room.id)}`;
    const form = lineForm({ label: "", value: room.name, button: t("placesDialog.rename"),
      run: (name) => dialog.change(() => patch(path, { name }), () => { home.place(home.rooms, room.id, { ...this.room, name }); }) });
    this.field = form.querySelector("input");
    this.bin = new Button("bin", t("placesDialog.remove"), async () => {
      const question = t("placesDialog.removeTheRoomName", { name: this.room.name });
      if (await ask({ question, details: [t("placesDialog.removingRoomEffect")], yes: t("placesDialog.remove"), isDangerous: true }) === null) return;
      await dialog.change(() => remove(path), () => { home.place(home.rooms, room.id, null); });
    }, "button plain");
    form.append(this.bin.node);
    this.node = element("li", "", form);
  }

  /** @param {import("./types").Room} room */
  show(room) {
    this.room = room;
    const { name } = room;
    const words = t("placesDialog.nameOfName", { name });
    if (this.field) {
      this.field.placeholder = words;
      this.field.setAttribute("aria-label", words);
      follow(this.field, name);
    }
    this.bin.node.setAttribute("aria-label", t("placesDialog.removeName", { name }));
  }
}

/**
 * The contents of the fields of a structure.
 * @typedef {{ name: string, address: string, latitude: string, longitude: string, timeZone: string }} Written
 */

/**
 * @param {import("./types").Structure} structure
 * @returns {Written}
 */
function written({ name, address, latitude, longitude, timeZone }) {
  return { name, address: address ?? "", latitude: String(latitude ?? ""), longitude: String(longitude ?? ""), timeZone: timeZone ?? "" };
}

/**
 * @param {string} type
 * @param {string} value
 * @param {Partial<HTMLInputElement>} settings
 */
function input(type, value, settings) {
  const made = element("input");
  Object.assign(made, { type, autocomplete: "off", ...settings, defaultValue: value, value });
  return made;
}

/**
 * @param {string} text
 * @param {HTMLInputElement} field
 */
function label(text, field) { return element("label", "", text, field); }

/** @param {HTMLInputElement} field */
function numberOf(field) { return field.value === "" ? null : Number(field.value); }

/**
 * Settings as the gateway reports them: what was cleared is missing.
 * @param {Record<string, any>} settings
 */
function present(settings) {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, value ?? undefined]));
}
