import { getDecommissionPlan, patch, remove, traitsOf } from "./api.js";
import { DialogFault, keepEntered, leaveDialog, openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
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

/** What belongs to a device and does not fit in its tile: its name and place, what it is, and its removal. */
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
    const device = tile.reported;
    const { node, heading, body } = openDialog(device.name, "device-dialog");
    this.node = node;
    this.heading = heading;
    this.fault = new DialogFault();
    if (rights.may("admin", device)) body.append(this.form(device, rights));
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
  }

  /**
   * @param {Device} device
   * @param {import("./rights.js").Rights} rights
   */
  form(device, rights) {
    const name = element("input");
    name.value = device.name;
    name.required = true;
    name.maxLength = 60;
    name.autocomplete = "off";
    const place = element("select");
    for (const structure of this.home.structures.values()) {
      if (structure.id !== device.structureID && !rights.may("admin", { structureID: structure.id })) continue;
      const group = element("optgroup");
      group.label = structure.name;
      group.append(new Option(t("deviceDialog.inNoRoom"), `${structure.id} `));
      for (const room of [...this.home.rooms.values()].sort(byName)) {
        if (room.structureID === structure.id) group.append(new Option(room.name, `${structure.id} ${room.id}`));
      }
      place.append(group);
    }
    place.value = `${device.structureID} ${device.roomID ?? ""}`;
    keepEntered(this.node, () => [name.value.trim(), place.value]);
    const save = element("button", "button primary", t("deviceDialog.save"));
    save.type = "submit";
    const form = element("form", "fields", element("label", "", t("deviceDialog.name"), name), element("label", "", t("deviceDialog.room"), place), save);
    const keep = oneAtATime(() => this.attempt(async () => {
      const [structureID, roomID] = place.value.split(" ");
      // What somebody else has changed meanwhile stays.
      const change = deviceChange(device, name.value.trim(), { structureID, roomID });
      if (Object.keys(change).length > 0) await patch(`/v1/devices/${encodeURIComponent(device.id)}`, change);
      this.node.close();
    }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      keep();
    });
    return form;
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
