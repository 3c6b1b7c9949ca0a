import { getTokens, makeQRCode, makeToken, PageError, remove } from "./api.js";
import { tokenWords } from "./access.js";
import { DialogFault, openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
import { keepFocus } from "./kept-focus.js";
import { Newest } from "./newest.js";
import { oneAtATime } from "./one-at-a-time.js";
import { baseOf, fieldValue, frameOf, isShareOf, reachOf, secondsUntil, shareLink } from "./share-link.js";
import { t } from "./text.js";
import { inWords } from "./words.js";

/** @typedef {import("./types").Device} Device */

const week = 7 * 86400 * 1000;

/**
 * Opens the dialog that shares a camera: a link for somebody who may watch it until a date.
 * @param {Device} device
 * @param {import("./types").KnownGateway} gateway
 */
export function openShare(device, gateway) { return new ShareDialog(device, gateway); }

class ShareDialog {
  /**
   * @param {Device} device
   * @param {import("./types").KnownGateway} gateway
   */
  constructor(device, gateway) {
    this.device = device;
    this.gateway = gateway;
    this.link = "";
    this.address = "";
    this.isClosed = false;
    this.requests = new Newest();
    const { body } = openDialog(t("shareDialog.shareName", { name: device.name }), "share-dialog", () => {
      this.isClosed = true;
      this.forget();
    });
    this.fault = new DialogFault();
    this.made = element("div", "share-made");
    this.made.setAttribute("role", "status");
    this.list = element("div");
    this.holder = element("input");
    this.holder.required = true;
    this.holder.maxLength = 60;
    this.holder.autocomplete = "off";
    this.until = element("input");
    this.until.type = "datetime-local";
    this.until.required = true;
    this.until.value = fieldValue(new Date(Date.now() + week));
    const button = element("button", "button primary", t("shareDialog.makeALink"));
    button.type = "submit";
    const form = element("form", "fields",
      element("p", "", t("shareDialog.permits")),
      element("label", "", t("shareDialog.whoIsItFor"), this.holder), element("label", "", t("shareDialog.itWorksUntil"), this.until), button);
    const make = oneAtATime(() => this.attempt(() => this.make()));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      make();
    });
    body.append(form, this.fault.node, this.made, this.list);
    this.fault.attempt(() => this.load(), { isRead: true });
  }

  /** The secret and its picture are not kept. */
  forget() {
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = "";
    this.link = "";
    this.made.replaceChildren();
  }

  async make() {
    const seconds = secondsUntil(this.until.value, Date.now());
    if (seconds === 0) throw new PageError("INVALID_ARGUMENT", t("shareDialog.timeIsOver"));
    const { token } = await makeToken({
      name: this.holder.value.trim(), grants: [{ scopes: ["view"], deviceID: this.device.id }], expiresInSeconds: seconds,
    });
    // The list has it, where it can be taken back.
    if (this.isClosed) return;
    this.holder.value = "";
    // The gateway tells the secret once, so nothing is waited for.
    const code = this.show(baseOf(location.origin, this.gateway.publicURL), token ?? "");
    await Promise.all([this.draw(this.link, code), this.load()]);
  }

  /**
   * Shows a link.
   * @param {string} base
   * @param {string} token
   * @returns {HTMLElement} where its code is to be
   */
  show(base, token) {
    this.forget();
    const link = shareLink(base, this.device.key ?? this.device.id, token);
    this.link = link;
    const reach = reachOf(base);
    const warning = reach === "machine" ? t("shareDialog.onlyThisMachine", { address: base })
      : reach === "network" ? t("shareDialog.onlyThisNetwork", { address: base }) : "";
    const code = element("div");
    const frame = element("details", "fold", element("summary", "", t("shareDialog.frame")),
      this.line(t("shareDialog.frameHTML"), frameOf(link, this.device.name)), element("p", "nobody", t("shareDialog.frameNote")));
    this.made.replaceChildren(element("p", "notice", t("shareDialog.linkShownOnce")), code,
      this.line(t("shareDialog.theLink"), link), ...(warning ? [element("p", "nobody", warning)] : []), frame);
    return code;
  }

  /**
   * A text with a button that copies it.
   * @param {string} label
   * @param {string} text
   */
  line(label, text) {
    const field = element("input");
    field.readOnly = true;
    field.value = text;
    field.setAttribute("aria-label", label);
    const copy = new Button("save", t("shareDialog.copy"), () => this.fault.attempt(async () => {
      field.select();
      await navigator.clipboard.writeText(text);
    }, { isRead: true }));
    // Browsers give pages without TLS no clipboard.
    copy.node.hidden = !window.isSecureContext;
    return element("div", "line", field, copy.node);
  }

  /**
   * Draws the code of a link. Without it, the link is still there to copy.
   * @param {string} link
   * @param {HTMLElement} place
   */
  async draw(link, place) {
    try {
      const picture = element("img", "qr-code");
      picture.alt = t("shareDialog.theLinkAsAQR");
      const blob = await makeQRCode(link);
      if (link !== this.link) return;
      this.address = URL.createObjectURL(blob);
      picture.src = this.address;
      place.replaceChildren(picture);
    } catch (error) {
      place.replaceChildren(element("p", "nobody", t("shareDialog.noCode", { reason: inWords(error, "change").message })));
    }
  }

  async load() {
    const request = this.requests.begin();
    const shares = (await getTokens()).filter((token) => isShareOf(token, this.device.id));
    if (!request.takes()) return;
    const heading = shares.length > 0 ? [element("h3", "", t("shareDialog.linksThatWork"))] : [];
    keepFocus(this.list, () => this.list.replaceChildren(...heading, ...shares.map((token) => this.row(token))), this.holder);
  }

  /** @param {import("./types").Token} token */
  row(token) {
    const revoke = new Button("bin", t("shareDialog.takeBack"), oneAtATime(() => this.attempt(async () => {
      await remove("/v1/tokens/" + encodeURIComponent(token.id));
      if (this.isClosed) return;
      await this.load();
    })), "button danger");
    revoke.node.setAttribute("aria-label", t("shareDialog.takeBackLink", { name: token.name }));
    return element("div", "token", element("strong", "", token.name), element("p", "", tokenWords(token)),
      element("div", "buttons", revoke.node));
  }

  /** @param {() => Promise<unknown>} run */
  attempt(run) { return this.fault.attempt(run); }
}
