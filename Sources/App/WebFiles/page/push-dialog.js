import { DialogFault, keepEntered, openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
import { oneAtATime } from "./one-at-a-time.js";
import { changeWishes, currentSubscription, facts, obstacle, renew, subscribe, tryOut, unsubscribe } from "./push.js";
import { t } from "./text.js";

/** @typedef {import("./push.js").Wishes} Wishes */
/** @typedef {import("./types").Device} Device */

const kinds = /** @type {const} */ (["person", "vehicle", "package", "animal", "motion", "sound"]);

/**
 * Opens the dialog in which somebody chooses what this browser is notified of.
 * @param {Device[]} cameras
 * @param {string} principal who is signed in
 */
export function openNotifications(cameras, principal) { return new PushDialog(cameras, principal); }

class PushDialog {
  /**
   * @param {Device[]} cameras
   * @param {string} principal
   */
  constructor(cameras, principal) {
    this.cameras = cameras;
    this.principal = principal;
    const { node, body } = openDialog(t("push.title"), "push-dialog");
    this.fault = new DialogFault();
    this.said = element("p", "nobody");
    this.said.setAttribute("role", "status");
    this.form = element("form", "fields");
    const save = oneAtATime(() => this.attempt(() => this.save()));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      save();
    });
    body.append(element("p", "nobody", t("push.what")), this.form, this.said, this.fault.node);
    /** @type {string | null} the identifier of this browser at the gateway */
    this.id = null;
    /** @type {Wishes | undefined} what the gateway knows, or a browser that is not notified has at first */
    this.known = undefined;
    keepEntered(node, () => this.differs(this.known));
    const reason = obstacle(facts());
    if (reason) this.said.textContent = reason;
    else this.fault.attempt(() => this.look(), { isRead: true });
  }

  async look() {
    this.show(await currentSubscription());
    if (this.id !== null) return;
    // What was lost since the page was opened comes back without a press.
    const renewed = await renew(this.principal);
    if (renewed && this.id === null) this.show(renewed);
  }

  /**
   * Draws the form again. What somebody has entered since it was drawn, or since it was sent, stays.
   * @param {import("./push.js").Subscription | null} subscription
   * @param {Wishes} [sent]
   */
  show(subscription, sent = this.known) {
    this.id = subscription?.id ?? null;
    const own = this.differs(sent) ? this.wishes : null;
    this.draw(subscription?.wishes ?? { doorbell: true, detections: [], picture: true });
    this.known = this.wishes;
    if (own) this.draw(own);
  }

  /**
   * Whether the form says something else.
   * @param {Wishes | undefined} wishes
   */
  differs(wishes) { return wishes !== undefined && JSON.stringify(this.wishes) !== JSON.stringify(wishes); }

  /** @param {Wishes} wishes */
  draw(wishes) {
    this.doorbell = box("push.doorbell", wishes.doorbell);
    this.picture = box("push.picture", wishes.picture);
    this.detections = kinds.map((kind) => {
      const { field, node } = box(`push.${kind}`, wishes.detections.includes(kind));
      return { kind, field, node };
    });
    this.devices = this.cameras.map(({ id, name }) => {
      const field = checkbox(wishes.devices === undefined || wishes.devices.includes(id));
      return { id, field, node: element("label", "check", field, element("span", "", name)) };
    });
    const save = element("button", "button primary", t(this.id ? "save" : "push.begin"));
    save.type = "submit";
    const test = new Button("bell", t("push.try"), () => this.attempt(() => this.test()));
    const end = new Button("bin", t("push.end"), () => this.attempt(() => this.end()), "button danger");
    test.node.hidden = end.node.hidden = this.id === null;
    const place = this.controls.findIndex((one) => one === document.activeElement);
    this.form.replaceChildren(this.doorbell.node, this.picture.node,
      element("fieldset", "", element("legend", "", t("push.detections")), ...this.detections.map(({ node }) => node)),
      ...(this.devices.length > 1
        ? [element("details", "fold", element("summary", "", t("push.cameras")),
          element("div", "fields-inside", ...this.devices.map(({ node }) => node)))] : []),
      element("div", "answers", end.node, test.node, save));
    const held = this.controls[place];
    if (held) (held.hidden ? save : held).focus();
  }

  /** What can have the focus, in an order that stays the same. */
  get controls() {
    /** @type {NodeListOf<HTMLElement>} */
    const all = this.form.querySelectorAll("input, button");
    return [...all];
  }

  /** @returns {Wishes} */
  get wishes() {
    const chosen = this.devices?.filter(({ field }) => field.checked).map(({ id }) => id) ?? [];
    return {
      doorbell: this.doorbell?.field.checked ?? true, picture: this.picture?.field.checked ?? true,
      detections: this.detections?.filter(({ field }) => field.checked).map(({ kind }) => kind) ?? [],
      ...(chosen.length < this.cameras.length ? { devices: chosen } : {}),
    };
  }

  async save() {
    const { id, wishes } = this;
    if (id) {
      await changeWishes(id, wishes);
      this.known = wishes;
    } else this.show(await subscribe(wishes, this.principal), wishes);
    this.said.textContent = t("push.saved");
  }

  async test() {
    const { isAccepted, reason } = await tryOut(this.id ?? "");
    this.said.textContent = isAccepted ? t("push.sent") : `${t("push.notSent")} ${reason ?? ""}`.trim();
  }

  async end() {
    await unsubscribe();
    this.show(null);
    this.said.textContent = t("push.ended");
  }

  /** @param {() => Promise<void>} run */
  attempt(run) {
    this.said.textContent = "";
    return this.fault.attempt(run);
  }
}

/** @param {boolean} isChecked */
function checkbox(isChecked) {
  const field = element("input");
  field.type = "checkbox";
  field.checked = isChecked;
  return field;
}

/**
 * @param {import("./text.js").TextKey} key
 * @param {boolean} isChecked
 */
function box(key, isChecked) {
  const field = checkbox(isChecked);
  return { field, node: element("label", "check", field, element("span", "", t(key))) };
}
