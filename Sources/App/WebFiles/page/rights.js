/**
 * @typedef {import("./types").Device} Device
 * @typedef {import("./types").Grant} Grant
 * @typedef {import("./types").Scope} Scope
 */

/** What the token of this page permits. The gateway decides; the page hides what it would refuse. */
export class Rights {
  constructor() {
    /** @type {Grant[]} */
    this.grants = [];
    // To whom the token belongs.
    this.principal = "";
  }

  /** @param {{ principal: string, grants: Grant[] }} own */
  learn({ principal, grants }) {
    this.principal = principal;
    this.grants = grants;
  }

  /**
   * Whether something belongs to somebody else.
   * @param {{ owner: string }} object
   */
  isOfOthers({ owner }) { return owner !== this.principal; }

  /**
   * @param {Scope} scope
   * @param {{ id?: string, structureID?: string }} object a device, a structure's `{ structureID }`, or `{}` for all
   */
  may(scope, { id, structureID }) {
    return this.grants.some((grant) => (grant.scopes.includes(scope) || (scope === "view" && grant.scopes.includes("media")))
      && (grant.deviceID === undefined ? grant.structureID === undefined || grant.structureID === structureID
        : grant.deviceID === id));
  }

  /**
   * A kind of panel that a device has only for those who have a scope there.
   * @param {Scope} scope
   * @param {import("./panels.js").PanelKind} kind
   * @returns {import("./panels.js").PanelKind}
   */
  needing(scope, kind) {
    return { ...kind, fits: (device) => this.may(scope, device) && kind.fits(device) };
  }
}
