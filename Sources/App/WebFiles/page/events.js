/**
 * Runs an action whose faults are its own: what it throws keeps nobody else from running, and the browser reports it.
 * @param {() => void} action
 */
export function isolated(action) {
  try {
    action();
  } catch (error) {
    reportError(error);
  }
}

/**
 * The id of the device that an event is about, or null.
 * @param {any} data
 * @returns {string | null}
 */
export function deviceOf(data) { return data?.deviceID ?? data?.session?.deviceID ?? null; }

/** Hands the events of the gateway to the modules that asked for them, in the order in which they asked. */
export class Events {
  constructor() {
    /** @type {{ names: string[] | null, handler: (name: string, data: any) => void }[]} */
    this.handlers = [];
  }

  /**
   * @param {string[]} names
   * @param {(data: any, name: string) => void} handler
   */
  on(names, handler) { this.handlers.push({ names, handler: (name, data) => handler(data, name) }); }

  /** @param {(name: string, data: any) => void} handler */
  onAny(handler) { this.handlers.push({ names: null, handler }); }

  /**
   * @param {string} name
   * @param {any} data
   */
  dispatch(name, data) {
    for (const { names, handler } of this.handlers) {
      if (names === null || names.includes(name)) isolated(() => handler(name, data));
    }
  }
}
