import { fragmentOf } from "./address.js";
import { makeToken } from "./api.js";
import { DialogFault, lineForm, openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
import { frameOf, reachOf, shareLink } from "./share-link.js";
import { t } from "./text.js";

/**
 * An address, or lines of HTML with one, or where there is neither, the reason.
 * @typedef {{ label: string, url?: string, html?: string, note: string }} Address
 */

/**
 * Where a camera is reached.
 * @typedef {object} Place
 * @property {string} origin of the gateway, such as "http://192.0.2.1:8480"
 * @property {number | undefined} [rtspPort] of its RTSP server, if it has one
 * @property {boolean | undefined} [rtspIsOpen] whether other machines reach that
 * @property {boolean} [hasRecordings]
 */

/**
 * The addresses of a camera for other programs.
 * @param {string} key of the camera, or its identifier
 * @param {Place & { token?: string, title?: string }} place token: one that permits nothing but watching this camera, as a part
 *   of the addresses that take it; title: what people call the camera
 * @returns {Address[]}
 */
export function addressesOf(key, { origin, rtspPort, rtspIsOpen, hasRecordings = false, token = "", title = key }) {
  const name = encodeURIComponent(key);
  const { hostname } = new URL(origin);
  const bearer = t("cameraAddresses.withBearerToken");
  const [query, note] = token ? [`?token=${encodeURIComponent(token)}`, t("cameraAddresses.opensAsItIs")] : ["", bearer];
  const media = `${origin}/v1/devices/${name}`;
  return [
    token ? { label: t("cameraAddresses.pageOfThisCamera"), url: shareLink(origin, key, token), note }
      : { label: t("cameraAddresses.liveViewOnThisPage"), url: `${origin}/${fragmentOf({ kind: "camera", id: key })}`,
        note: t("cameraAddresses.afterSigningIn") },
    ...(token ? [{ label: t("cameraAddresses.frame"), html: frameOf(shareLink(origin, key, token), title),
      note: t("shareDialog.frameNote") }] : []),
    { label: t("cameraAddresses.whepForWebRTCPlayers"), url: `${origin}/whep/${name}${query}`, note },
    { label: t("cameraAddresses.rtspForRecorders"),
      ...rtspOf({ hostname, port: rtspPort, isOpen: rtspIsOpen, path: `${name}${query}`,
        note: token ? note : t("cameraAddresses.withTokenAsPassword") }) },
    { label: t("cameraAddresses.hlsLive"), url: `${media}/live.m3u8${query}`, note },
    { label: t("cameraAddresses.mp4Live"), url: `${media}/live.mp4${query}`, note },
    { label: t("cameraAddresses.mjpegLive"), url: `${media}/live.mjpeg${query}`, note },
    { label: t("cameraAddresses.aPicture"), url: `${media}/snapshot.jpg${query}`, note },
    // A token in an address shows only what the camera shows now.
    ...(hasRecordings ? [{ label: t("cameraAddresses.hlsTheRecordings"), url: `${media}/recordings.m3u8`, note: bearer }] : []),
  ];
}

/**
 * @param {{ hostname: string, port: number | undefined, isOpen: boolean | undefined, path: string, note: string }} server
 * @returns {{ url?: string, note: string }}
 */
function rtspOf({ hostname, port, isOpen, path, note }) {
  if (port === undefined) return { note: t("cameraAddresses.rtspIsOff") };
  const host = isOpen === false ? "127.0.0.1" : hostname;
  // The port that the scheme stands for is left out.
  const url = `rtsp://${host}${port === 554 ? "" : `:${port}`}/${path}`;
  return { url, note: isOpen === false ? `${t("cameraAddresses.rtspOnlyHere")} ${note}` : note };
}

/**
 * Shows the addresses of a camera, each with a button that copies it.
 * @param {import("./types").Device} device
 * @param {Place} place
 */
export function openAddresses(device, place) { return new AddressDialog(device, place); }

class AddressDialog {
  /**
   * @param {import("./types").Device} device
   * @param {Place} place
   */
  constructor(device, place) {
    this.device = device;
    this.place = place;
    const { body } = openDialog(t("cameraSettings.addressesOfName", { name: device.name }), "addresses");
    this.list = element("div");
    this.copied = element("p", "nobody");
    this.copied.setAttribute("role", "status");
    this.fault = new DialogFault();
    this.said = element("p", "nobody");
    this.said.setAttribute("role", "status");
    const reach = reachOf(place.origin);
    if (reach === "machine") body.append(element("p", "nobody", t("cameraAddresses.onlyThisMachine", { address: place.origin })));
    body.append(this.list, this.copied, element("h3", "", t("cameraAddresses.toPaste")),
      element("p", "nobody", t("cameraAddresses.tokenInAddress")),
      lineForm({ label: t("cameraAddresses.whichProgram"), button: t("cameraAddresses.makeToken"),
        run: (name) => this.fault.attempt(() => this.make(name)) }), this.said, this.fault.node);
    this.show();
  }

  /**
   * Makes a token for a program. The page's own token is never a part of an address: it permits more.
   * @param {string} name
   */
  async make(name) {
    const { token } = await makeToken({ name, grants: [{ scopes: ["view"], deviceID: this.device.id }] });
    this.show(token);
    this.said.textContent = t("cameraAddresses.tokenShownOnce", { name });
    this.list.querySelector("input")?.focus();
  }

  /** @param {string} [token] */
  show(token) {
    this.copied.textContent = "";
    const { device, place } = this;
    this.list.replaceChildren(...addressesOf(device.key ?? device.id, { ...place, title: device.name, ...(token ? { token } : {}) })
      .flatMap((address) => this.row(address)));
  }

  /** @param {Address} address */
  row({ label, url, html, note }) {
    const heading = element("h3", "", label);
    const words = element("p", "nobody", note);
    const text = url ?? html;
    if (text === undefined) return [heading, words];
    const field = element("input");
    field.readOnly = true;
    field.value = text;
    field.setAttribute("aria-label", label);
    field.addEventListener("focus", () => field.select());
    const button = new Button("copy", t("cameraAddresses.copy"), async () => {
      this.copied.textContent = await copy(field) ? t("cameraAddresses.copiedLabel", { label }) : t("cameraAddresses.pressCtrlCToCopy");
    });
    button.node.setAttribute("aria-label", t("cameraAddresses.copyLabel", { label }));
    return [heading, element("div", "line", field, button.node), words];
  }
}

/**
 * Browsers give the clipboard only to pages that came encrypted; elsewhere the text is selected.
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 */
export async function copy(field) {
  field.focus();
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}
