import { openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
import { fragmentOf } from "./address.js";
import { t } from "./text.js";

/** @typedef {{ label: string, url: string, note: string }} Address */

/**
 * The addresses of a camera for other programs.
 * @param {string} key of the camera, or its identifier
 * @param {{ origin: string, rtspPort?: number, hasRecordings?: boolean }} gateway origin: such as "http://192.0.2.1:8480";
 *   rtspPort: of its RTSP server, if it has one
 * @returns {Address[]}
 */
export function addressesOf(key, { origin, rtspPort, hasRecordings = false }) {
  const name = encodeURIComponent(key);
  const { hostname } = new URL(origin);
  const token = t("cameraAddresses.withBearerToken");
  // The port that the scheme stands for is left out.
  const rtspHost = hostname + (rtspPort === 554 ? "" : `:${rtspPort}`);
  return [
    { label: t("cameraAddresses.liveViewOnThisPage"), url: `${origin}/${fragmentOf({ kind: "camera", id: key })}`,
      note: t("cameraAddresses.afterSigningIn") },
    { label: t("cameraAddresses.whepForWebRTCPlayers"), url: `${origin}/whep/${name}`, note: token },
    ...(rtspPort === undefined ? [] : [{ label: t("cameraAddresses.rtspForRecorders"), url: `rtsp://${rtspHost}/${name}`,
      note: t("cameraAddresses.withTokenAsPassword") }]),
    { label: t("cameraAddresses.aPicture"), url: `${origin}/v1/devices/${name}/snapshot.jpg`, note: token },
    ...(hasRecordings
      ? [{ label: t("cameraAddresses.hlsTheRecordings"), url: `${origin}/v1/devices/${name}/recordings.m3u8`, note: token }] : []),
  ];
}

/**
 * Shows the addresses of a camera, each with a button that copies it.
 * @param {string} title
 * @param {Address[]} addresses
 */
export function openAddresses(title, addresses) {
  const { body } = openDialog(title, "addresses");
  const copied = element("p", "nobody");
  copied.setAttribute("role", "status");
  for (const { label, url, note } of addresses) {
    const field = element("input");
    field.readOnly = true;
    field.value = url;
    field.setAttribute("aria-label", label);
    field.addEventListener("focus", () => field.select());
    const button = new Button("copy", t("cameraAddresses.copy"), async () => {
      copied.textContent = await copy(field) ? t("cameraAddresses.copiedLabel", { label }) : t("cameraAddresses.pressCtrlCToCopy");
    });
    button.node.setAttribute("aria-label", t("cameraAddresses.copyLabel", { label }));
    body.append(element("h3", "", label), element("div", "line", field, button.node), element("p", "nobody", note));
  }
  body.append(copied);
}

/**
 * Browsers give the clipboard only to pages that came encrypted; elsewhere the text is selected.
 * @param {HTMLInputElement} field
 */
async function copy(field) {
  field.focus();
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}
