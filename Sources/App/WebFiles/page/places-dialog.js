import { make, patch, remove } from "./api.js";
import { ask } from "./ask.js";
import { changedFields, DialogFault, keepEntered, lineForm, openDialog } from "./dialog.js";
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

/** The rooms of a structure, and the structures: they are made, renamed and removed here. */
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
    const { node, heading, body } = openDialog(t("placesDialog.rooms"), "places-dialog");
    this.node = node;
    this.heading = heading;
    this.body = body;
    this.fault = new DialogFault();
    this.list = element("ul", "rooms");
    /** @type {Map<string, { name: string, node: HTMLElement }>} */
    this.rows = new Map();
    /** @type {Button | null} */
    this.bin = null;
    this.draw();
    this.refresh();
    keepEntered(node, () => changedFields(body));
  }

  draw() {
    const structure = this.home.structures.get(this.id);
    if (!structure) return;
    const path = `/v1/structures/${encodeURIComponent(this.id)}`;
    this.body.replaceChildren(
      element("h3", "", t("placesDialog.nameOfThisHome")),
      lineForm({ label: t("placesDialog.nameOfThisHome"), value: structure.name, button: t("placesDialog.save"),
        run: (name) => this.change(() => patch(path, { name }), () => this.learn({ name })) }),
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
    const rooms = [...this.home.rooms.values()].filter((room) => room.structureID === this.id).sort(byName);
    const held = [...this.rows].find(([, { node }]) => node.contains(document.activeElement))?.[0];
    this.rows = new Map(rooms.map((room) => {
      const known = this.rows.get(room.id);
      return [room.id, known?.name === room.name ? known : { name: room.name, node: this.room(room) }];
    }));
    keepFocus(this.list, () => {
      arrange(this.list, [...this.rows.values()].map(({ node }) => node));
      // A room with another name has another row, perhaps elsewhere.
      const row = this.rows.get(held ?? "")?.node;
      if (row && !row.contains(document.activeElement)) row.querySelector("input")?.focus();
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
  whereForm({ address, latitude, longitude, timeZone }, path) {
    const fields = {
      address: input("text", address ?? "", { maxLength: 500, placeholder: "1 Main Street, Springfield" }),
      latitude: input("number", latitude === undefined ? "" : String(latitude), { min: "-90", max: "90", step: "any" }),
      longitude: input("number", longitude === undefined ? "" : String(longitude), { min: "-180", max: "180", step: "any" }),
      timeZone: input("text", timeZone ?? "", { required: true, placeholder: "Europe/Berlin" }),
    };
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

  /** @param {import("./types").Room} room */
  room(room) {
    const path = `/v1/rooms/${encodeURIComponent(room.id)}`;
    const form = lineForm({ label: t("placesDialog.nameOfName", { name: room.name }), value: room.name, button: t("placesDialog.rename"),
      run: (name) => this.change(() => patch(path, { name }), () => { this.home.place(this.home.rooms, room.id, { ...room, name }); }) });
    const bin = new Button("bin", t("placesDialog.remove"), async () => {
      const details = [t("placesDialog.removingRoomEffect")];
      if (await ask({ question: t("placesDialog.removeTheRoomName", { name: room.name }), details, yes: t("placesDialog.remove"), isDangerous: true }) === null) return;
      await this.change(() => remove(path), () => { this.home.place(this.home.rooms, room.id, null); });
    }, "button plain");
    bin.node.setAttribute("aria-label", t("placesDialog.removeName", { name: room.name }));
    form.append(bin.node);
    return element("li", "", form);
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
      if (!this.node.isConnected) return;
      done(answer);
      this.refresh();
    });
  }
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
