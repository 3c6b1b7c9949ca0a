import { learnTime } from "./gateway-clock.js";
import { t } from "./text.js";
import { authorization } from "./token.js";

/**
 * @typedef {import("./types").Camera} Camera
 * @typedef {import("./types").Configuration} Configuration
 * @typedef {import("./types").Device} Device
 * @typedef {import("./types").DeviceEvent} DeviceEvent
 * @typedef {import("./types").Gateway} Gateway
 * @typedef {import("./types").Session} Session
 */

/** An error of the gateway, with its status and its message. */
export class APIError extends Error {
  /**
   * @param {string} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
    /**
     * The error as the gateway sent it, with what only some errors have.
     * @type {any}
     */
    this.told = null;
  }
}

/** An error that the page itself found: its message is a sentence for a person. */
export class PageError extends APIError {
  /**
   * @param {string} status
   * @param {string} message
   * @param {string | null} details
   */
  constructor(status, message, details = null) {
    super(status, message);
    this.details = details;
  }
}

/**
 * The status of an error of the gateway or of the page, and "" for any other.
 * @param {unknown} error
 */
export function statusOf(error) { return error instanceof APIError ? error.status : ""; }

/** @type {() => void} */
let refused = () => {};

/**
 * Calls the handler when the gateway no longer accepts the token.
 * @param {() => void} handler
 */
export function whenRefused(handler) { refused = handler; }

/** Reports that the gateway has refused the token. */
export function tokenRefused() { refused(); }

// Milliseconds that an answer may take: a camera gets ten seconds of the gateway, twice for its speaker.
const patience = 25000;

/** @type {(answer: Response) => Promise<any>} */
const readJSON = (answer) => answer.json();

/**
 * Sends a request and reads its answer. Errors of the browser and of the gateway become one kind. A gateway that
 * takes the request and never answers is given up after a while.
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {{ patience?: number, signal?: AbortSignal, keepalive?: boolean, isFirst?: boolean,
 *   headers?: Record<string, string>, text?: string, read?: (answer: Response) => unknown }} options isFirst: the caller
 *   itself reports a token that the gateway does not know; text: a body that is not JSON
 * @returns {Promise<any>}
 */
export async function send(method, path, body, options = {}) {
  // A signal that was aborted before does not say so again.
  if (options.signal?.aborted) throw new PageError("ABORTED", t("api.thisWasCancelled"));
  const token = authorization();
  const abort = new AbortController();
  const limit = setTimeout(() => abort.abort(), options.patience ?? patience);
  const cancel = () => abort.abort();
  options.signal?.addEventListener("abort", cancel);
  try {
    /** @type {RequestInit} */
    const request = {
      method, headers: { authorization: token, ...options.headers }, cache: "no-store", keepalive: options.keepalive ?? false,
      signal: abort.signal,
    };
    if (body !== undefined) {
      request.headers = { ...request.headers, "content-type": "application/json" };
      request.body = JSON.stringify(body);
    } else if (options.text !== undefined) {
      request.headers = { "content-type": "text/plain", ...request.headers };
      request.body = options.text;
    }
    const response = await fetch(path, request);
    learnTime(response.headers);
    if (response.ok) return await (options.read ?? readJSON)(response);
    const told = (await response.json().catch(() => null))?.error;
    const error = new APIError(told?.status ?? String(response.status),
      told?.message || t("api.answeredWithStatus", { status: response.status }));
    error.told = told;
    // Somebody else may have signed in meanwhile.
    if (error.status === "UNAUTHENTICATED" && !options.isFirst && token === authorization()) refused();
    throw error;
  } catch (error) {
    if (error instanceof APIError) throw error;
    if (options.signal?.aborted) throw new PageError("ABORTED", t("api.thisWasCancelled"));
    throw new PageError("UNREACHABLE",
      t("api.noAnswer"));
  } finally {
    clearTimeout(limit);
    options.signal?.removeEventListener("abort", cancel);
  }
}

/**
 * @param {{ isFirst?: boolean, patience?: number }} [options]
 * @returns {Promise<Gateway>}
 */
export async function getGateway(options) { return send("GET", "/v1/gateway", undefined, options); }

/**
 * The traits of a device's main part.
 * @param {Device} device
 * @returns {import("./types").Traits}
 */
export function traitsOf(device) {
  return device.endpoints.find(({ types }) => types.includes(device.type))?.traits ?? {};
}

/**
 * Where a camera's media comes from. Other devices have no source.
 * @param {{ source?: import("./types").Source }} device
 * @returns {import("./types").Source}
 */
export function sourceOf(device) { return device.source ?? { state: "idle", tracks: [] }; }

/**
 * Whether a camera may have sound: what a token may not read is not known.
 * @param {import("./types").Source} source
 */
export function mayHaveSound({ state, tracks }) {
  return state === "unknown" || tracks.some(({ kind }) => kind === "audio");
}

/**
 * A camera that the token may watch and not read, as a device of which nothing but the name is known.
 * @param {import("./types").NamedDevice} named
 * @returns {Device}
 */
export function unreadCamera({ id, key, name, isOnBattery }) {
  const type = "GoogleCameraDeviceType";
  return {
    id, key, name, type, connectivityState: "unknown", source: { state: "unknown", tracks: [], ...(isOnBattery ? { isOnBattery } : {}) },
    endpoints: [{ id: 1, types: [type], traits: { WebRtcLiveView: {} } }],
  };
}

/**
 * @param {{ isFirst?: boolean }} [options]
 * @returns {Promise<Device[]>}
 */
export async function getDevices(options) { return (await send("GET", "/v1/devices", undefined, options)).devices; }

/** @returns {Promise<import("./types").Room[]>} */
export async function getRooms() { return (await send("GET", "/v1/rooms")).rooms; }

/**
 * What the token of this page permits.
 * @param {{ isFirst?: boolean }} [options]
 * @returns {Promise<import("./types").OwnAccess>}
 */
export async function getAccess(options) { return send("GET", "/v1/access", undefined, options); }

/**
 * A text as a QR code, an SVG image.
 * @param {string} text
 * @returns {Promise<Blob>}
 */
export async function makeQRCode(text) {
  return send("POST", "/v1/qr-codes", undefined, { text, read: (answer) => answer.blob() });
}

/** @returns {Promise<Camera[]>} */
export async function getCameras() { return (await getCameraList()).cameras; }

/** @returns {Promise<import("./types").CameraList>} */
export async function getCameraList() { return send("GET", "/v1/cameras"); }

/**
 * Restores a camera's entry in the config file.
 * @param {string} key
 */
export async function restoreFileCamera(key) { await remove(`/v1/cameras/${encodeURIComponent(key)}/override`); }

/**
 * The cameras in the gateway's networks that answer ONVIF's search.
 * @returns {Promise<import("./types").FoundCamera[]>}
 */
export async function discoverCameras() { return (await send("POST", "/v1/cameras/discover")).cameras; }

/**
 * Tries a camera without adding it.
 * @param {{ source: string, transport?: string, id?: string }} settings id: the camera whose stored password is meant
 * @returns {Promise<import("./types").ProbedCamera>}
 */
export async function probeCamera(settings) {
  // A camera that does not answer is given up after about a minute.
  return send("POST", "/v1/cameras/probe", settings, { patience: 90000 });
}

/**
 * Changes some settings of a camera.
 * @param {string} key
 * @param {object} settings null for the default
 */
export async function patchCamera(key, settings) { await send("PATCH", "/v1/cameras/" + encodeURIComponent(key), settings); }

/** @returns {Promise<Configuration>} */
export async function getConfiguration() { return send("GET", "/v1/configuration"); }

/** @returns {Promise<import("./types").ConfigurationSettings>} what the config file says */
export async function getConfigurationSettings() { return send("GET", "/v1/configuration/settings"); }

/**
 * Has sections of the config file checked. Nothing changes.
 * @param {Record<string, import("./types").SettingValue>} sections
 * @returns {Promise<{ problems: { key: string, reason: string }[] }>}
 */
export async function checkConfiguration(sections) { return send("POST", "/v1/configuration/check", sections); }

/**
 * What happened at a device, the latest first.
 * @param {string} device
 * @param {number} limit
 * @returns {Promise<DeviceEvent[]>}
 */
export async function getEvents(device, limit) {
  return (await send("GET", `/v1/devices/${encodeURIComponent(device)}/events?limit=${limit}`)).events;
}

/**
 * @param {string} id
 * @returns {Promise<Session>}
 */
export async function getSession(id) { return send("GET", "/v1/sessions/" + encodeURIComponent(id)); }

/**
 * @param {string} path
 * @param {object} body
 */
export async function put(path, body) { await send("PUT", path, body); }

/** @param {string} path */
export async function post(path) { await send("POST", path, undefined, { read: () => null }); }

/** @param {string} path */
export async function remove(path) { await send("DELETE", path, undefined, { read: () => null }); }

/** @returns {Promise<import("./types").Structure[]>} */
export async function getStructures() { return (await send("GET", "/v1/structures")).structures; }

/**
 * Changes a device, a room or a structure.
 * @param {string} path
 * @param {object} body what changes; null clears a field
 */
export async function patch(path, body) { await send("PATCH", path, body); }

/**
 * Makes a room or a structure.
 * @param {string} path
 * @param {object} body
 * @returns {Promise<{ id: string }>}
 */
export async function make(path, body) { return send("POST", path, body); }

/**
 * What removing a device would do.
 * @param {string} device
 * @returns {Promise<import("./types").DecommissionPlan>}
 */
export async function getDecommissionPlan(device) {
  return send("GET", `/v1/devices/${encodeURIComponent(device)}/decommission`);
}

/**
 * What happened in the home, the latest first.
 * @param {URLSearchParams} query
 * @returns {Promise<import("./types").HistoryPage>}
 */
export async function getHistory(query) { return send("GET", `/v1/history?${query}`); }

/** @returns {Promise<import("./types").HistoryFilters>} */
export async function getHistoryFilters() { return send("GET", "/v1/history/filters"); }

/**
 * A picture of the history.
 * @param {string} path
 * @returns {Promise<Blob>}
 */
export async function getHistoryPicture(path) {
  return send("GET", path, undefined, { read: (answer) => answer.blob() });
}

/**
 * Signs a person in. The answer's token is for this browser.
 * @param {string} name
 * @param {string} password
 * @returns {Promise<{ token: string }>}
 */
export async function signIn(name, password) {
  return send("POST", "/v1/sign-in", { name, password }, { isFirst: true });
}

/**
 * Ends a token if somebody got it by signing in. Other tokens stay valid: they may be in use elsewhere.
 * @param {{ authorization: string }} headers with the token, which the page has forgotten
 * @returns {Promise<void>}
 */
export async function endSignIn(headers) {
  await send("POST", "/v1/sign-out", undefined, { headers, isFirst: true, keepalive: true, read: () => null });
}

/** @returns {Promise<import("./types").Token[]>} */
export async function getTokens() { return (await send("GET", "/v1/tokens")).tokens; }

/**
 * @param {import("./types").TokenSettings} settings
 * @returns {Promise<import("./types").Token>}
 */
export async function makeToken(settings) { return send("POST", "/v1/tokens", settings); }

/**
 * @param {string} id
 * @param {import("./types").TokenSettings} settings
 */
export async function changeToken(id, settings) {
  await send("PATCH", "/v1/tokens/" + encodeURIComponent(id), settings);
}

/**
 * A program that asks to be linked.
 * @param {string} id
 * @returns {Promise<{ id: string, name: string }>}
 */
export async function getLinkClient(id) {
  return send("GET", "/v1/oauth/clients/" + encodeURIComponent(id), undefined, { isFirst: true });
}

/**
 * What the person has decided about a program; the answer says where the browser goes.
 * @param {object} decision
 * @returns {Promise<{ location: string }>}
 */
export async function decideLink(decision) { return send("POST", "/v1/oauth/authorizations", decision); }

/**
 * Whether the gateway answers at all.
 * @returns {Promise<boolean>}
 */
export async function answers() {
  try {
    return await send("GET", "/healthz", undefined, { patience: 2000, read: (answer) => answer.ok });
  } catch {
    return false;
  }
}

/**
 * A picture and how old it is, in milliseconds.
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {Promise<{ blob: Blob, age: number }>}
 */
export async function getPicture(path, signal) {
  return send("GET", path, undefined, {
    signal,
    read: async (answer) => ({ blob: await answer.blob(), age: ageOf(answer.headers) }),
  });
}

/**
 * The age that an answer states, in milliseconds.
 * @param {{ get(name: string): string | null }} headers
 */
export function ageOf(headers) {
  return Number(headers.get("age-milliseconds") ?? Number(headers.get("age")) * 1000) || 0;
}

/**
 * @param {string} device
 * @param {string} trait
 * @param {string} name
 * @param {object} [parameters]
 * @param {{ keepalive?: boolean, patience?: number }} [options]
 * @returns {Promise<any>}
 */
export async function command(device, trait, name, parameters = {}, options = {}) {
  const path = `/v1/devices/${encodeURIComponent(device)}/traits/${trait}/commands/${name}`;
  return send("POST", path, parameters, options);
}

/**
 * Sends candidates of a live view (RFC 8840).
 * @param {string} device
 * @param {string} session
 * @param {string} fragment
 * @param {AbortSignal} signal
 */
export async function addCandidates(device, session, fragment, signal) {
  await patchView(device, session, fragment, signal);
}

/**
 * Restarts the ICE of a live view with the credentials in a fragment (RFC 9725, section 4.3.3).
 * @param {string} device
 * @param {string} session
 * @param {string} fragment
 * @param {AbortSignal} signal
 * @returns {Promise<string>} the gateway's own fragment: its credentials and its current addresses
 */
export async function restartICE(device, session, fragment, signal) { return patchView(device, session, fragment, signal); }

/**
 * @param {string} device
 * @param {string} session
 * @param {string} fragment
 * @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
async function patchView(device, session, fragment, signal) {
  // The fragment names the generation of ICE that it belongs to, so the request need not.
  const headers = { "content-type": "application/trickle-ice-sdpfrag", "if-match": "*" };
  return send("PATCH", `/whep/${encodeURIComponent(device)}/${encodeURIComponent(session)}`, undefined,
    { headers, text: fragment, patience: 5000, signal, read: (answer) => answer.text() });
}

/**
 * Sends a command to a part of a device.
 * @param {string} device
 * @param {number} endpoint
 * @param {string} trait
 * @param {string} name
 * @param {object} parameters
 * @returns {Promise<any>}
 */
export async function commandPart(device, endpoint, trait, name, parameters) {
  const path = `/v1/devices/${encodeURIComponent(device)}/traits/${encodeURIComponent(trait)}/commands/${name}`;
  return send("POST", `${path}?endpoint=${endpoint}`, parameters);
}

/**
 * Writes attributes of a part of a device.
 * @param {string} device
 * @param {number} endpoint
 * @param {string} trait
 * @param {object} values
 */
export async function writePart(device, endpoint, trait, values) {
  const path = `/v1/devices/${encodeURIComponent(device)}/traits/${encodeURIComponent(trait)}`;
  await send("PATCH", `${path}?endpoint=${endpoint}`, values);
}
