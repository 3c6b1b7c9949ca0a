import { changeToken, getDevices, getStructures, getTokens, makeToken, PageError, remove, statusOf } from "./api.js";
import { ask } from "./ask.js";
import { Button, byID, element } from "./dom.js";
import { grantWords } from "./grant-fields.js";
import { GrantRows } from "./grant-rows.js";
import { keepFocus } from "./kept-focus.js";
import { Newest } from "./newest.js";
import { oneAtATime } from "./one-at-a-time.js";
import { byName } from "./places.js";
import { locale, t } from "./text.js";

/** @typedef {import("./types").Token} Token */

/**
 * Until when a token works, who made it, and when it was used.
 * @param {Token} token
 */
export function tokenWords({ expiresAt, lastUsedAt, createdBy, clientID, hasPassword }) {
  return [
    expiresAt ? t("access.ends", { time: new Date(expiresAt).toLocaleString(locale) }) : t("access.doesNotEndByItself"),
    lastUsedAt ? t("access.lastUsed", { time: new Date(lastUsedAt).toLocaleString(locale) }) : t("access.neverUsed"),
    t("access.madeByCreatedBy", { createdBy }),
    ...(clientID ? [t("access.linkedAccount")] : []),
    ...(hasPassword ? [t("access.signsInWithAPassword")] : []),
  ].join(" · ");
}

/** The card with the tokens of apps and people: who may do what, and until when. */
export class AccessCard {
  constructor() {
    this.card = byID("access", HTMLDetailsElement);
    this.list = byID("access-list", HTMLElement);
    this.form = byID("access-add", HTMLFormElement);
    this.title = byID("access-title", HTMLElement);
    this.name = byID("access-name", HTMLInputElement);
    this.days = byID("access-days", HTMLInputElement);
    this.until = byID("access-until", HTMLElement);
    this.password = byID("access-password", HTMLInputElement);
    this.passwordLabel = byID("access-password-label", HTMLElement);
    this.cancel = byID("access-cancel", HTMLButtonElement);
    this.made = byID("access-made", HTMLElement);
    this.fault = byID("access-error", HTMLElement);
    this.rows = new GrantRows(byID("access-grants", HTMLElement));
    /** @type {{ structures: { id: string, name: string }[], devices: { id: string, name: string }[] }} */
    this.places = { structures: [], devices: [] };
    // Counts how often the card was hidden, so that an answer that comes later does not show it.
    this.hidings = 0;
    this.requests = new Newest();
    /** The newest look has failed, so the card may be missing. */
    this.isBehind = false;
    /** @type {Token | null} the token whose grants the form changes */
    this.changed = null;
    this.card.addEventListener("toggle", () => {
      if (!this.card.open) return;
      // What somebody enters before the places are known would be lost.
      this.form.hidden = true;
      this.attempt(async () => {
        await this.load();
        this.edit(null);
        this.form.hidden = false;
      });
    });
    this.cancel.addEventListener("click", () => this.edit(null));
    this.saveOnce = this.savingOnce();
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.saveOnce();
    });
  }

  savingOnce() { return oneAtATime(() => this.attempt(() => this.save())); }

  /** Hides the card from those who may not use it. */
  async look() {
    const { hidings } = this;
    this.isBehind = false;
    try {
      await getTokens();
      if (hidings === this.hidings) this.card.hidden = false;
    } catch (error) {
      if (statusOf(error) !== "PERMISSION_DENIED") {
        if (hidings === this.hidings) this.isBehind = true;
        throw error;
      }
      if (hidings === this.hidings) this.card.hidden = true;
    }
  }

  /**
   * The answer may be for somebody who has signed out since.
   * @param {number} hidings as it was when the request was made
   */
  requireSame(hidings) {
    if (hidings !== this.hidings) throw new PageError("ABORTED", t("api.thisWasCancelled"));
  }

  /** Hides the card, and forgets what it showed. */
  hide() {
    this.hidings += 1;
    // The next person does not wait for a request of this one.
    this.saveOnce = this.savingOnce();
    this.isBehind = false;
    this.card.hidden = true;
    this.card.open = false;
    this.made.hidden = true;
    this.made.textContent = "";
    this.list.replaceChildren();
    this.places = { structures: [], devices: [] };
    this.edit(null);
  }

  async load() {
    const { hidings } = this;
    const request = this.requests.begin();
    const [tokens, structures, devices] = await Promise.all([getTokens(), getStructures(), getDevices()]);
    this.requireSame(hidings);
    if (!request.takes()) return;
    this.places = { structures, devices: devices.sort(byName) };
    this.showTokens(tokens);
  }

  /** @param {Token[]} tokens */
  showTokens(tokens) {
    const names = new Map([...this.places.structures, ...this.places.devices].map(({ id, name }) => [id, name]));
    keepFocus(this.list, () => this.list.replaceChildren(...tokens.map((token) => this.row(token, names))), this.name);
    if (tokens.length === 0) this.list.append(element("p", "nobody", t("access.noTokens")));
  }

  /**
   * @param {Token} token
   * @param {Map<string, string>} names
   */
  row(token, names) {
    const words = grantWords(token.grants, (id) => names.get(id) ?? t("access.somethingThatIsGone"));
    const change = new Button("edit", t("access.change"), () => this.edit(token));
    change.node.setAttribute("aria-label", t("access.changeWhatNameMayDo", { name: token.name }));
    const revoke = new Button("bin", t("access.revoke"), () => this.attempt(() => this.revoke(token)), "button danger");
    revoke.node.setAttribute("aria-label", t("access.revokeTheTokenOfName", { name: token.name }));
    return element("div", "token", element("strong", "", token.name), element("p", "", words),
      element("p", "", tokenWords(token)), element("div", "buttons", change.node, revoke.node));
  }

  /**
   * Fills the form with a token, or with what a new one may do at first.
   * @param {Token | null} token
   */
  edit(token) {
    this.changed = token;
    this.fault.hidden = true;
    this.title.textContent = token ? t("access.whatNameMayDo", { name: token.name }) : t("access.aNewToken");
    this.name.value = token?.name ?? "";
    this.name.disabled = token !== null;
    this.days.value = "";
    this.password.value = "";
    this.password.hidden = token !== null && !token.hasPassword;
    this.passwordLabel.hidden = this.password.hidden;
    this.passwordLabel.textContent = token ? t("access.newPassword")
      : t("access.optionalPassword");
    this.until.textContent = token ? t("access.newDaysUntilEnd")
      : t("access.daysUntilEnd");
    this.cancel.hidden = token === null;
    this.rows.show(this.places.structures, this.places.devices, token?.grants ?? [{ scopes: ["read", "media"] }]);
    if (!token) return;
    this.made.hidden = true;
    this.form.scrollIntoView({ block: "start" });
    this.days.focus({ preventScroll: true });
  }

  /** @param {Token} token */
  async revoke(token) {
    const { hidings } = this;
    const question = t("access.revokeTheTokenOfName2", { name: token.name });
    const details = [t("access.revokingEffect")];
    if (await ask({ question, details, yes: t("access.revoke"), isDangerous: true }) === null) return;
    await remove("/v1/tokens/" + encodeURIComponent(token.id));
    this.requireSame(hidings);
    if (this.changed?.id === token.id) this.edit(null);
    await this.load();
  }

  async save() {
    const { hidings, changed } = this;
    const days = Number(this.days.value);
    const { grants } = this.rows;
    if (grants.length === 0) throw new Error(t("access.chooseAScope"));
    const settings = {
      grants, expiresInSeconds: days > 0 ? Math.round(days * 86400) : undefined, password: this.password.value || undefined,
    };
    this.made.hidden = true;
    let words = "";
    if (changed) await changeToken(changed.id, settings);
    else {
      const { name, token } = await makeToken({ name: this.name.value.trim(), ...settings });
      words = token ? t("access.tokenShownOnce", { token }) : t("access.signsInByName", { name });
    }
    this.requireSame(hidings);
    // By now, the form may be for another token.
    if (this.changed === changed) this.edit(null);
    // The gateway tells the secret once, so nothing is waited for.
    this.made.textContent = words;
    this.made.hidden = words === "";
    await this.load();
  }

  /**
   * Runs what the user asked for, and says what went wrong.
   * @param {() => Promise<unknown>} run
   */
  async attempt(run) {
    const { hidings } = this;
    this.fault.hidden = true;
    try {
      await run();
    } catch (error) {
      // It is the answer to somebody who has signed out since.
      if (hidings !== this.hidings) return;
      this.fault.textContent = error instanceof Error ? error.message : String(error);
      this.fault.hidden = false;
    }
  }
}
