import { getDecommissionPlan, patch, remove, traitsOf } from "./api.js";
import { DialogFault, follow, keepEntered, leaveDialog, openDialog } from "./dialog.js";
import { Button, element, setText } from "./dom.js";
import { kindName, partsOf } from "./kinds.js";
import { oneAtATime } from "./one-at-a-time.js";
import { byName } from "./places.js";
import { readingsOf } from "./readings.js";
import { openShare } from "./share-dialog.js";
import { counted, locale, t } from "./text.js";

/**
 * @typedef {import("./types").DecommissionPlan} DecommissionPlan
 * @typedef {import("./types").Device} Device
 */

/**
 * What would happen to a device that is removed, as sentences.
 * @param {DecommissionPlan} plan
 * @param {string} name
 * @returns {string[]}
 */
export function planWords({ recordings, webhook, history, automations }, name) {
  const { count, byteCount } = recordings;
  return [
    t("deviceDialog.removingEffect", { name }),
    count === 0 ? t("deviceDialog.itHasNoRecordings") : counted("device.recordings", count, { size: sizeText(byteCount) }),
    t("deviceDialog.itsHistoryIsHistory", { history }),
    ...(webhook ? [t("deviceDialog.webhookTokenEnds")] : []),
    ...(automations.length > 0 ? [t("device.automations", { names: automations.join(", ") })] : []),
  ];
}

/** @param {number} bytes */
export function sizeText(bytes) {
  const [size, unit] = bytes >= 1e9 ? [bytes / 1e9, "GB"] : bytes >= 1e6 ? [bytes / 1e6, "MB"] : [bytes / 1e3, "kB"];
  return `${size.toLocaleString(locale, { maximumFractionDigits: 1 })} ${unit}`;
}

/**
 * The change of a device that moves to a place.
 * @param {Device} device
 * @param {string} name
 * @param {{ structureID: string, roomID: string }} place an empty roomID for none
 * @returns {{ name?: string, roomID?: string | null, structureID?: string }} empty if nothing changes
 */
export function deviceChange(device, name, { structureID, roomID }) {
  return {
    ...(name !== device.name ? { name } : {}),
    ...(structureID && structureID !== device.structureID ? { structureID } : {}),
    ...(roomID !== (device.roomID ?? "") ? { roomID: roomID || null } : {}),
  };
}

/**
 * The place that a line of the list stands for.
 * @param {string} value the identifiers of a structure and, if there is one, of a room
 */
function placeOf(value) {
  const [structureID = "", roomID = ""] = value.split(" ");
  return { structureID, roomID };
}

/**
 * Opens the dialog of a device.
 * @param {import("./home.js").Home} home
 * @param {import("./tile.js").Tile} tile
 * @param {import("./rights.js").Rights} rights
 * @param {import("./types").KnownGateway} gateway
 * @param {(device: string) => void} openHistory
 */
export function openDevice(home, tile, rights, gateway, openHistory) {
  return new DeviceDialog(home, tile, rights, gateway, openHistory);
}

/**
 * What belongs to a device and does not fit in its tile: its name and place, what it is, and its removal. What others change of its
 * name, its place and the rooms appears, too.
 */
class DeviceDialog {
  /**
   * @param {import("./home.js").Home} home
   * @param {import("./tile.js").Tile} tile
   * @param {import("./rights.js").Rights} rights
   * @param {import("./types").KnownGateway} gateway
   * @param {(device: string) => void} openHistory
   */
  constructor(home, tile, rights, gateway, openHistory) {
    this.home = home;
    this.tile = tile;
    this.rights = rights;
    const device = tile.reported;
    this.id = device.id;
    const { node, heading, body } = openDialog(device.name, "device-dialog", () => this.unfollow());
    this.node = node;
    this.heading = heading;
    this.fault = new DialogFault();
    this.name = element("input");
    this.places = element("select");
    // The place of the device that the list shows unless somebody chooses another one.
    this.place = "";
    this.listed = "";
    if (rights.may("admin", device)) body.append(this.form(device));
    body.append(this.fault.node, this.facts(device));
    const buttons = element("div", "controls");
    if (rights.may("read", device)) {
      buttons.append(new Button("history", t("deviceDialog.history"), async () => {
        if (await leaveDialog(node)) openHistory(device.id);
      }).node);
    }
    // Making a token needs the whole home.
    if (rights.may("admin", {}) && traitsOf(device).WebRtcLiveView) {
      buttons.append(new Button("forward", t("deviceDialog.share"), async () => {
        if (await leaveDialog(node)) openShare(device, gateway);
      }).node);
    }
    if (rights.may("admin", device)) {
      buttons.append(new Button("bin", t("deviceDialog.remove"), () => this.fault.attempt(() => this.askRemoval(), { isRead: true }), "button danger").node);
    }
    this.removal = element("div", "removal");
    body.append(buttons, this.removal);
    this.unfollow = home.followPlaces(() => this.refresh());
  }

  /** @param {Device} device */
  form(device) {
    const { name, places } = this;
    name.defaultValue = name.value = device.name;
    name.required = true;
    name.maxLength = 60;
    name.autocomplete = "off";
    this.showPlaces(device);
    // What somebody has entered, and not what others change.
    keepEntered(this.node, () => [name.value.trim() !== name.defaultValue, places.value !== this.place]);
    const save = element("button", "button primary", t("deviceDialog.save"));
    save.type = "submit";
    const form = element("form", "fields", element("label", "", t("deviceDialog.name"), name), element("label", "", t("deviceDialog.room"), places), save);
    const keep = oneAtATime(() => this.attempt(async () => {
      const known = this.tile.reported;
      const place = places.value === this.place ? { structureID: known.structureID ?? "", roomID: known.roomID ?? "" } : placeOf(places.value);
      const entered = name.value.trim();
      // What somebody else has changed meanwhile stays.
      const change = deviceChange(known, entered === name.defaultValue ? known.name : entered, place);
      if (Object.keys(change).length > 0) await patch(`/v1/devices/${encodeURIComponent(this.id)}`, change);
      this.node.close();
    }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      keep();
    });
    return form;
  }

  /** Shows what has changed, and leaves alone what somebody has entered. */
  refresh() {
    const tile = this.home.tiles.get(this.id);
    if (!tile) {
      this.node.close();
      return;
    }
    this.tile = tile;
    const device = tile.reported;
    setText(this.heading, device.name);
    this.node.setAttribute("aria-label", device.name);
    follow(this.name, device.name);
    this.showPlaces(device);
  }

  /**
   * Lists the rooms that there are. The chosen one stays chosen while it exists.
   * @param {Device} device
   */
  showPlaces(device) {
    const { places } = this;
    const chosen = places.value === this.place ? "" : places.value;
    const groups = this.groups(device);
    const listed = JSON.stringify(groups);
    // An open list of a phone closes when its lines change.
    if (listed !== this.listed) {
      this.listed = listed;
      places.replaceChildren(...groups.map(({ name, options }) => {
        const group = element("optgroup");
        group.label = name;
        group.append(...options.map(({ text, value }) => new Option(text, value)));
        return group;
      }));
    }
    const values = new Set(groups.flatMap(({ options }) => options.map(({ value }) => value)));
    // A room that is gone, or that this token does not show, is none.
    this.place = [`${device.structureID} ${device.roomID ?? ""}`, `${device.structureID} `].find((value) => values.has(value)) ?? "";
    places.value = values.has(chosen) ? chosen : this.place;
  }

  /**
   * The structures to which the device may move, with their rooms.
   * @param {Device} device
   */
  groups(device) {
    const rooms = [...this.home.rooms.values()].sort(byName);
    return [...this.home.structures.values()]
      .filter(({ id }) => id === device.structureID || this.rights.may("admin", { structureID: id }))
      .map(({ id, name }) => ({
        name, options: [{ text: t("deviceDialog.inNoRoom"), value: `${id} ` },
          ...rooms.filter(({ structureID }) => structureID === id).map((room) => ({ text: room.name, value: `${id} ${room.id}` }))],
      }));
  }

  /** @param {Device} device */
  facts(device) {
    const list = element("dl", "facts");
    /** @param {string} term @param {unknown} text */
    const add = (term, text) => {
      if (text === undefined || text === null || text === "") return;
      list.append(element("dt", "", term), element("dd", "", String(text)));
    };
    add(t("deviceDialog.kind"), kindName(device.type));
    const parts = partsOf(device);
    for (const part of parts) {
      const where = parts.length > 1 ? `${kindName(part.types[0] ?? "")}: ` : "";
      for (const { name, value } of readingsOf(part)) add(where + name, value);
    }
    const basics = device.endpoints.find(({ traits }) => traits.BasicInformation)?.traits.BasicInformation ?? {};
    add(t("deviceDialog.maker"), basics.vendorName);
    add(t("deviceDialog.model"), basics.productName ?? basics.partNumber);
    add(t("deviceDialog.serialNumber"), basics.serialNumber);
    add(t("deviceDialog.software"), basics.softwareVersionString);
    add(t("deviceDialog.nameInTheConfig"), device.key);
    add(t("deviceDialog.identifier"), device.id);
    return list;
  }

  async askRemoval() {
    const { id, name } = this.tile.reported;
    const plan = await getDecommissionPlan(id);
    if (!plan.isEligible) {
      this.removal.replaceChildren(element("p", "", t("deviceDialog.nameCannotBeRemovedHere", { name })),
        element("p", "", plan.reason ?? ""));
      return;
    }
    const deletes = element("input");
    deletes.type = "checkbox";
    const button = new Button("bin", t("deviceDialog.removeNameForGood", { name }), oneAtATime(() => this.attempt(async () => {
      await this.tile.dismiss(() =>
        remove(`/v1/devices/${encodeURIComponent(id)}?recordings=${deletes.checked ? "delete" : "keep"}`));
      this.node.close();
    })), "button danger");
    this.removal.replaceChildren(...planWords(plan, name).map((text) => element("p", "", text)),
      ...(plan.recordings.count > 0 ? [element("label", "check", deletes, ` ${t("deviceDialog.deleteItsRecordingsToo")}`)] : []),
      button.node);
    button.node.focus();
  }

  /** @param {() => Promise<unknown>} run */
  attempt(run) { return this.fault.attempt(run); }
}
