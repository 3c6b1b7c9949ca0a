import { changeToken, getDevices, getStructures, getTokens, makeToken, remove, statusOf } from "./api.js";
import { Button, byID, element } from "./dom.js";
import { GrantFields, grantWords } from "./grant-fields.js";

/** The card with the tokens of apps and people: who may do what, and until when. */
export class AccessCard {
  constructor() {
    this.card = byID("access", HTMLDetailsElement);
    this.list = byID("access-list", HTMLElement);
    this.form = byID("access-add", HTMLFormElement);
    this.name = byID("access-name", HTMLInputElement);
    this.days = byID("access-days", HTMLInputElement);
    this.made = byID("access-made", HTMLElement);
    this.fault = byID("access-error", HTMLElement);
    this.fields = new GrantFields(byID("access-grants", HTMLElement), ["read", "media"]);
    /** @type {Map<string, string>} */
    this.names = new Map();
    /** @type {import("./types").Token | null} the token whose grants the form changes */
    this.changed = null;
    this.card.addEventListener("toggle", () => { if (this.card.open) this.attempt(() => this.load()); });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(() => this.save());
    });
  }

  /** Hides the card from those who may not use it. */
  async look() {
    try {
      await getTokens();
      this.card.hidden = false;
    } catch (error) {
      if (statusOf(error) !== "PERMISSION_DENIED") throw error;
      this.card.hidden = true;
    }
  }

  hide() { this.card.hidden = true; }

  async load() {
    const [tokens, structures, devices] = await Promise.all([getTokens(), getStructures(), getDevices()]);
    this.names = new Map([...structures, ...devices].map(({ id, name }) => [id, name]));
    this.fields.show(structures, devices);
    this.list.replaceChildren(...tokens.map((token) => this.row(token)));
    if (tokens.length === 0) this.list.append(element("p", "", "Nobody but the owner has a token."));
  }

  /** @param {import("./types").Token} token */
  row(token) {
    const until = token.expiresAt ? ` until ${new Date(token.expiresAt).toLocaleString()}` : "";
    const words = grantWords(token.grants, (id) => this.names.get(id) ?? "something that is gone");
    return element(
      "div", "settings", element("p", "", element("strong", "", token.name)), element("p", "", words + until),
      new Button("forward", "Change", () => this.change(token)).node,
      new Button("bin", "Revoke", () => this.attempt(() => this.revoke(token))).node);
  }

  /** @param {import("./types").Token} token */
  change(token) {
    this.changed = token;
    this.name.value = token.name;
    this.name.disabled = true;
    this.name.scrollIntoView({ block: "center" });
  }

  /** @param {import("./types").Token} token */
  async revoke(token) {
    if (!confirm(`Revoke the token of ${token.name}? What it watches ends.`)) return;
    await remove("/v1/tokens/" + encodeURIComponent(token.id));
    await this.load();
  }

  async save() {
    const days = Number(this.days.value);
    const settings = {
      grants: this.fields.grants, expiresInSeconds: days > 0 ? Math.round(days * 86400) : undefined,
    };
    if (settings.grants.length === 0) throw new Error("Choose at least one thing that the token permits.");
    this.made.hidden = true;
    if (this.changed) {
      await changeToken(this.changed.id, settings);
    } else {
      const { token } = await makeToken({ name: this.name.value.trim(), ...settings });
      this.made.textContent = `The token is shown only now: ${token}`;
      this.made.hidden = false;
    }
    this.changed = null;
    this.name.disabled = false;
    this.form.reset();
    await this.load();
  }

  /**
   * Runs what the user asked for, and says what went wrong.
   * @param {() => Promise<unknown>} run
   */
  async attempt(run) {
    this.fault.hidden = true;
    try {
      await run();
    } catch (error) {
      this.fault.textContent = error instanceof Error ? error.message : String(error);
      this.fault.hidden = false;
    }
  }
}
