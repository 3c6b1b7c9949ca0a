import { informationKeys } from "./camera-model.js";
import { isAskedByONVIF, movedWith, takesLogin } from "./camera-source.js";
import { element } from "./dom.js";
import { t } from "./text.js";

/** @typedef {import("./camera-model.js").Fields} Fields */
/** @typedef {import("./text.js").TextKey} TextKey */

/** The fields for the address of a camera, and for who it lets in. */
export class AddressFields {
  constructor() {
    this.address = textField({ required: true, maxLength: 2048, placeholder: t("camera.address.example") });
    this.user = textField({ maxLength: 200 });
    this.password = textField({ maxLength: 200, type: "password" });
    this.password.autocomplete = "new-password";
    this.hint = element("p", "explained", t("camera.login.inQuery"));
    this.nodes = [
      labelled("camera.field.source", this.address),
      element("div", "pair", labelled("camera.field.user", this.user), labelled("camera.field.password", this.password)), this.hint,
    ];
    this.address.addEventListener("input", () => this.showLogin());
    this.showLogin();
  }

  /** Closes the fields of the login where the address has no place for one. */
  showLogin() {
    const address = this.address.value;
    this.user.disabled = this.password.disabled = !takesLogin(address);
    this.hint.hidden = !/^\s*rtmps?:/i.test(address);
  }

  /** @param {string} address */
  fill(address) {
    this.address.value = address;
    this.showLogin();
  }

  /** Brings a person to where the password is written. */
  focusPassword() { (this.password.disabled ? this.address : this.password).focus(); }

  get values() {
    return { address: this.address.value.trim(), user: this.user.value, password: this.password.value };
  }
}

/** Everything else that a camera's settings say. */
export class FurtherFields {
  constructor() {
    this.type = choice({ camera: "camera.type.camera", doorbell: "camera.type.doorbell" });
    this.battery = checkField();
    this.pull = choice({ always: "camera.pull.always", "on-demand": "camera.pull.onDemand" });
    this.pullWhileOff = checkField();
    this.substream = choice({ none: "camera.substream.none", onvif: "camera.substream.onvif", address: "camera.substream.address" });
    this.substreamAddress = textField({ maxLength: 2048, placeholder: "rtsp://192.0.2.20/stream2" });
    this.substreamUser = textField({ maxLength: 200 });
    this.substreamPassword = textField({ maxLength: 200, type: "password" });
    this.substreamPassword.autocomplete = "new-password";
    this.ofSubstream = element("div", "fields-inside", labelled("camera.field.substreamAddress", this.substreamAddress),
      element("div", "pair", labelled("camera.field.user", this.substreamUser), labelled("camera.field.password", this.substreamPassword)),
      element("p", "explained", t("camera.substream.login")));
    this.substream.addEventListener("change", () => this.showSubstream());
    this.transport = choice({ auto: "camera.auto", tcp: "camera.transport.tcp", udp: "camera.transport.udp",
      http: "camera.transport.http" });
    this.keepAlive = choice({ auto: "camera.auto", "get-parameter": "GET_PARAMETER", "set-parameter": "SET_PARAMETER",
      options: "OPTIONS", rtcp: "RTCP", none: "camera.keepAlive.none" });
    this.framesPerSecond = textField({ maxLength: 6 });
    this.framesPerSecond.type = "number";
    this.framesPerSecond.min = "0.1";
    this.framesPerSecond.max = "30";
    this.framesPerSecond.step = "any";
    this.talkback = choice({ auto: "camera.talkback.auto", off: "camera.talkback.off" });
    this.transcodeVideo = choice({ auto: "camera.transcode.auto", always: "camera.transcode.always",
      never: "camera.transcode.never" });
    this.eventURL = textField({ maxLength: 2048, placeholder: "http://192.0.2.20/onvif/device_service" });
    this.eventUser = textField({ maxLength: 200 });
    this.eventPassword = textField({ maxLength: 200, type: "password" });
    this.eventPassword.autocomplete = "new-password";
    this.webhook = checkField();
    this.information = Object.fromEntries(informationKeys.map((key) => [key, textField({ maxLength: 64 })]));
    this.nodes = [
      labelled("camera.field.type", this.type), check("camera.battery", this.battery), labelled("camera.field.pull", this.pull),
      labelled("camera.field.substream", this.substream), this.ofSubstream, labelled("camera.field.talkback", this.talkback),
      labelled("camera.field.transcodeVideo", this.transcodeVideo),
      folded("camera.more.connection", labelled("camera.field.transport", this.transport),
        labelled("camera.field.keepAlive", this.keepAlive), labelled("camera.field.framesPerSecond", this.framesPerSecond),
        check("camera.pullWhileOff", this.pullWhileOff)),
      folded("camera.more.events", labelled("camera.field.onvif", this.eventURL),
        element("div", "pair", labelled("camera.field.user", this.eventUser), labelled("camera.field.password", this.eventPassword)),
        check("camera.webhook", this.webhook)),
      folded("camera.more.information",
        ...informationKeys.map((key) => labelled(/** @type {TextKey} */ (`camera.information.${key}`), this.information[key]))),
    ];
  }

  /** @param {Fields} fields */
  fill(fields) {
    for (const key of /** @type {const} */ (["type", "pull", "substream", "substreamAddress", "substreamUser", "substreamPassword",
      "transport", "keepAlive", "framesPerSecond", "talkback", "transcodeVideo", "eventURL", "eventUser", "eventPassword"])) {
      this[key].value = fields[key];
    }
    for (const key of /** @type {const} */ (["battery", "pullWhileOff", "webhook"])) this[key].checked = fields[key];
    for (const key of informationKeys) this.information[key].value = fields.information[key];
    this.allowONVIF(isAskedByONVIF(fields.address));
    this.showSubstream();
  }

  /** Shows the fields of the smaller stream's address where it has one. */
  showSubstream() {
    this.ofSubstream.hidden = this.substream.value !== "address";
    this.substreamAddress.required = !this.ofSubstream.hidden;
  }

  /**
   * The camera's address has changed, and the smaller stream goes with it.
   * @param {string} before
   * @param {string} now
   */
  follow(before, now) {
    const isONVIF = isAskedByONVIF(now);
    this.allowONVIF(isONVIF);
    if (this.substream.value === "onvif" && !isONVIF) this.substream.value = "none";
    if (this.substream.value === "none" && isONVIF && !isAskedByONVIF(before)) this.substream.value = "onvif";
    this.substreamAddress.value = movedWith(this.substreamAddress.value, before, now);
    this.showSubstream();
  }

  /** @param {boolean} isAllowed */
  allowONVIF(isAllowed) {
    for (const option of this.substream.options) if (option.value === "onvif") option.disabled = !isAllowed;
  }

  get values() {
    return {
      type: this.type.value, battery: this.battery.checked, pull: this.pull.value, pullWhileOff: this.pullWhileOff.checked,
      substream: this.substream.value, substreamAddress: this.substreamAddress.value, substreamUser: this.substreamUser.value,
      substreamPassword: this.substreamPassword.value, transport: this.transport.value, keepAlive: this.keepAlive.value,
      framesPerSecond: this.framesPerSecond.value, talkback: this.talkback.value, transcodeVideo: this.transcodeVideo.value,
      eventURL: this.eventURL.value, eventUser: this.eventUser.value, eventPassword: this.eventPassword.value,
      webhook: this.webhook.checked,
      information: Object.fromEntries(informationKeys.map((key) => [key, this.information[key].value])),
    };
  }
}

/**
 * @param {{ required?: boolean, maxLength: number, placeholder?: string, type?: string }} options
 */
export function textField({ required = false, maxLength, placeholder = "", type = "text" }) {
  const field = element("input");
  field.type = type;
  field.required = required;
  field.maxLength = maxLength;
  field.placeholder = placeholder;
  field.autocomplete = "off";
  field.autocapitalize = "off";
  field.spellcheck = false;
  return field;
}

function checkField() {
  const field = element("input");
  field.type = "checkbox";
  return field;
}

/** @param {Record<string, string>} options the key of a text for each value; anything else is a word of its own */
export function choice(options) {
  const field = element("select");
  for (const [value, key] of Object.entries(options)) field.append(new Option(/[a-z]\./.test(key) ? t(/** @type {TextKey} */ (key)) : key, value));
  return field;
}

/**
 * @param {TextKey} key
 * @param {HTMLElement} field
 */
export function labelled(key, field) { return element("label", "", t(key), field); }

/**
 * @param {TextKey} key
 * @param {HTMLElement} field
 */
export function check(key, field) { return element("label", "check", field, element("span", "", t(key))); }

/**
 * @param {TextKey} key
 * @param {...HTMLElement} fields
 */
function folded(key, ...fields) {
  return element("details", "fold", element("summary", "", t(key)), element("div", "fields-inside", ...fields));
}
