import { Newest } from "./newest.js";

/** @typedef {import("./types").Automation} Automation */

/** The automations of a structure, by what was read and what events have said since. */
export class AutomationStore {
  /** @param {(id: string) => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
    /** @type {Map<string, Automation>} */
    this.automations = new Map();
    /**
     * What events have described while the list is read: that is newer.
     * @type {Set<Set<string>>}
     */
    this.loads = new Set();
    this.requests = new Newest();
  }

  clear() {
    this.automations.clear();
    this.loads.clear();
    this.requests.forget();
  }

  /** @param {string} id */
  touch(id) { for (const touched of this.loads) touched.add(id); }

  /** @param {Automation} automation */
  put(automation) {
    this.touch(automation.id);
    this.automations.set(automation.id, automation);
    this.onChange(automation.id);
  }

  /** @param {string} id */
  remove(id) {
    this.touch(id);
    if (this.automations.delete(id)) this.onChange(id);
  }

  /**
   * @param {string} name
   * @param {any} data
   */
  event(name, data) {
    if (name === "automation" && data?.id) this.put(withRun(data, this.automations.get(data.id)));
    if (name === "automationRemoved" || name === "automationDeleted") this.remove(data?.automationID ?? data?.id ?? "");
    if (name === "run") this.ran(data);
  }

  /** @param {import("./types").Run} run */
  ran(run) {
    const automation = this.automations.get(run?.automationID);
    if (!automation) return;
    const last = automation.lastRun;
    const isOther = last !== undefined && last !== null && last.id !== run.id;
    // A trigger during a run makes a record of its own, which has ended at once. The run goes on.
    if (isOther && last.end === undefined && run.end !== undefined) return;
    if (isOther && last.startedAt > run.startedAt) return;
    this.put({ ...automation, lastRun: run, isRunning: run.end === undefined });
  }

  /**
   * Throws only if no later load has begun.
   * @param {() => Promise<Automation[]>} read
   * @returns {Promise<boolean>} whether what was read is in the store now
   */
  async load(read) {
    /** @type {Set<string>} */
    const touched = new Set();
    this.loads.add(touched);
    const request = this.requests.begin();
    try {
      const list = await read();
      if (!request.takes()) return false;
      const listed = new Map(list.map((one) => [one.id, one]));
      const changed = new Set([...this.automations.keys(), ...listed.keys()].filter((id) => !touched.has(id)));
      for (const id of changed) {
        const one = listed.get(id);
        if (one) this.automations.set(id, one);
        else this.automations.delete(id);
      }
      // An open dialog of one of them shows it, or closes.
      for (const id of changed) this.onChange(id);
      return true;
    } catch (error) {
      if (request.isLast()) throw error;
      return false;
    } finally {
      this.loads.delete(touched);
    }
  }
}

/**
 * @param {Automation} automation
 * @param {Automation | undefined} before
 */
function withRun(automation, before) {
  return automation.lastRun === undefined && before?.lastRun ? { ...automation, lastRun: before.lastRun } : automation;
}
