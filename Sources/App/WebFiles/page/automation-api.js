import { send } from "./api.js";

/**
 * @typedef {import("./types").Automation} Automation
 * @typedef {import("./types").AutomationDraft} AutomationDraft
 * @typedef {import("./types").Run} Run
 */

/** @param {string} structure */
function under(structure) { return `/v1/structures/${encodeURIComponent(structure)}`; }

/** @param {string} id */
function at(id) { return `/v1/automations/${encodeURIComponent(id)}`; }

/** @type {(answer: Response) => Promise<any>} */
const withTag = async (answer) => ({ ...await answer.json(), etag: answer.headers.get("etag") ?? "" });

/** @type {(answer: Response) => any} */
const nothing = () => null;

/**
 * @param {string} structure
 * @returns {Promise<Automation[]>}
 */
export async function getAutomations(structure) { return (await send("GET", `${under(structure)}/automations`)).automations; }

/**
 * The path of the events about the automations of a structure.
 * @param {string} structure
 */
export function eventsPath(structure) { return `${under(structure)}/automations/events`; }

/**
 * @param {string} id
 * @returns {Promise<Automation>}
 */
export async function getAutomation(id) { return send("GET", at(id), undefined, { read: withTag }); }

/**
 * @param {string} structure
 * @param {AutomationDraft} draft
 * @returns {Promise<Automation>}
 */
export async function createAutomation(structure, draft) {
  return send("POST", `${under(structure)}/automations`, draft, { read: withTag });
}

/**
 * Changes an automation unless somebody else has changed it since it was read.
 * @param {string} id
 * @param {Partial<AutomationDraft>} changes
 * @param {string} [etag]
 */
export async function changeAutomation(id, changes, etag) {
  await send("PATCH", at(id), changes, { read: nothing, ...(etag ? { headers: { "if-match": etag } } : {}) });
}

/** @param {string} id */
export async function deleteAutomation(id) { await send("DELETE", at(id), undefined, { read: nothing }); }

/**
 * @param {string} id
 * @param {"execute" | "stop" | "release"} what
 */
export async function tellAutomation(id, what) { await send("POST", `${at(id)}/${what}`, undefined, { read: nothing }); }

/**
 * @param {string} structure
 * @param {AutomationDraft} draft
 * @returns {Promise<{ validationIssues: import("./types").ValidationIssue[], text?: string }>}
 */
export async function validateDraft(structure, draft) { return send("POST", `${under(structure)}/automations/validate`, draft); }

/**
 * When a draft would have run.
 * @param {string} structure
 * @param {AutomationDraft} draft
 * @param {number} from milliseconds since 1970
 * @param {number} to
 * @returns {Promise<import("./types").SimulatedRun[]>}
 */
export async function simulateDraft(structure, draft, from, to) {
  const query = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
  return (await send("POST", `${under(structure)}/automations/simulate?${query}`, draft, { patience: 60000 })).runs;
}

/**
 * @param {string} structure
 * @returns {Promise<import("./types").Candidate[]>}
 */
export async function getCandidates(structure) { return (await send("GET", `${under(structure)}/candidates`)).candidates; }

/**
 * @param {string} structure
 * @returns {Promise<AutomationDraft[]>}
 */
export async function getSuggestions(structure) { return (await send("GET", `${under(structure)}/automations/suggestions`)).suggestions; }

/**
 * The runs of an automation, the newest first.
 * @param {string} id
 * @param {{ limit: number, before?: string | undefined }} part before: the `next` of an earlier answer
 * @returns {Promise<{ runs: Run[], next?: string }>}
 */
export async function getRuns(id, { limit, before }) {
  const query = new URLSearchParams({ limit: String(limit), ...(before ? { before } : {}) });
  return send("GET", `${at(id)}/runs?${query}`);
}

/**
 * @param {string} id
 * @param {string} run
 * @returns {Promise<Run>}
 */
export async function getRun(id, run) { return send("GET", `${at(id)}/runs/${encodeURIComponent(run)}`); }

/**
 * Why an automation ran or did not run at a moment.
 * @param {string} id
 * @param {number} time milliseconds since 1970
 * @returns {Promise<{ text: string, runs: Run[] }>}
 */
export async function explainAutomation(id, time) {
  return send("GET", `${at(id)}/explain?at=${encodeURIComponent(new Date(time).toISOString())}`);
}
