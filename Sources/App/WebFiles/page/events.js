/**
 * Runs an action. If it throws, the browser reports the error, and the caller goes on.
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

/** Dispatches the gateway's events to the modules that registered for them, in the order of registration. */
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
