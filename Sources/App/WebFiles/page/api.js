const storageKey = "gatehouse.token";
let token = "";

// The token comes in the address's fragment, which browsers send to nobody, and leaves the address at once.
export function takeToken() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get("token");
  if (given) {
    history.replaceState(null, "", location.pathname + location.search);
    setToken(given);
  } else {
    token = sessionStorage.getItem(storageKey) ?? "";
  }
  return token !== "";
}

export function setToken(value) {
  token = value.trim();
  if (token) sessionStorage.setItem(storageKey, token);
  else sessionStorage.removeItem(storageKey);
}

// An error of the gateway, with its status and its message.
export class APIError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// An error that the page itself found: its message is a sentence for a person.
export class PageError extends APIError {
  constructor(status, message, details = null) {
    super(status, message);
    this.isOwn = true;
    this.details = details;
  }
}

let refused = () => {};

// Calls the handler when the gateway does not know the token any more.
export function whenRefused(handler) { refused = handler; }

// Milliseconds that an answer may take: a camera gets ten seconds of the gateway, twice for its speaker.
const patience = 25000;

// Sends a request and reads its answer. Errors of the browser and of the gateway become one kind. A gateway that
// takes the request and never answers is given up after a while.
async function send(method, path, body, options = {}) {
  const abort = new AbortController();
  const limit = setTimeout(() => abort.abort(), options.patience ?? patience);
  const cancel = () => abort.abort();
  options.signal?.addEventListener("abort", cancel);
  try {
    const response = await fetch(path, {
      method,
      headers: {
        authorization: "Bearer " + token,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      keepalive: options.keepalive ?? false,
      signal: abort.signal,
    });
    if (response.ok) return await (options.read ?? ((answer) => answer.json()))(response);
    const told = (await response.json().catch(() => null))?.error;
    const error = new APIError(told?.status ?? String(response.status),
      told?.message || "The gateway answered with status " + response.status + ".");
    if (error.status === "UNAUTHENTICATED" && !options.isFirst) refused();
    throw error;
  } catch (error) {
    if (error instanceof APIError) throw error;
    if (options.signal?.aborted) throw new PageError("ABORTED", "This was cancelled.");
    throw new PageError("UNREACHABLE",
      "The gateway does not answer. Is it running, and is this device in its network?");
  } finally {
    clearTimeout(limit);
    options.signal?.removeEventListener("abort", cancel);
  }
}

// isFirst: a token that is not known is the caller's to tell.
export async function get(path, isFirst = false) {
  return send("GET", path, undefined, { isFirst });
}

export async function put(path, body) {
  return send("PUT", path, body);
}

export async function post(path) {
  await send("POST", path, undefined, { read: () => null });
}

export async function remove(path) {
  await send("DELETE", path, undefined, { read: () => null });
}

// Whether the gateway answers at all.
export async function answers() {
  try {
    return await send("GET", "/healthz", undefined, { patience: 2000, read: (answer) => answer.ok });
  } catch {
    return false;
  }
}

// A picture and how old it is, in milliseconds.
export async function getPicture(path, signal) {
  return send("GET", path, undefined, {
    signal,
    read: async (response) => {
      const age = Number(response.headers.get("age-milliseconds") ?? response.headers.get("age") * 1000) || 0;
      return { blob: await response.blob(), age };
    },
  });
}

export async function command(device, trait, name, parameters, options) {
  const path = `/v1/devices/${encodeURIComponent(device)}/traits/${trait}/commands/${name}`;
  return send("POST", path, parameters ?? {}, options);
}

// The event stream, read by fetch because EventSource cannot send the token. Comes back by itself until stop()
// or until the token is refused.
export class Watcher {
  constructor(onEvent, onState) {
    this.onEvent = onEvent;
    this.onState = onState;
    this.isStopped = false;
    this.lastID = "";
    this.run();
  }

  stop() {
    this.isStopped = true;
    this.wake?.();
    this.abort?.abort();
  }

  // The network has changed, or the device has slept: the connection is made again, and at once.
  renew() {
    this.pause = 500;
    this.wake?.();
    this.abort?.abort();
  }

  async run() {
    this.pause = 500;
    while (!this.isStopped) {
      const isRefused = await this.read();
      if (this.isStopped) return;
      this.onState("disconnected");
      if (isRefused) return;
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, this.pause * (0.75 + Math.random() / 2));
        this.wake = () => { clearTimeout(timer); resolve(); };
      });
      this.wake = null;
      // Somebody who looks wants to see soon that the gateway is back.
      this.pause = Math.min(this.pause * 2, document.visibilityState === "visible" ? 2000 : 15000);
    }
  }

  // One connection; answers whether the token was refused.
  async read() {
    const abort = new AbortController();
    this.abort = abort;
    // A heartbeat comes every 15 seconds; without one the connection is dead.
    let alive = setTimeout(() => abort.abort(), 10000);
    try {
      const response = await fetch("/v1/events", {
        headers: {
          authorization: "Bearer " + token, accept: "text/event-stream",
          ...(this.lastID ? { "last-event-id": this.lastID } : {}),
        },
        cache: "no-store", signal: abort.signal,
      });
      if (response.status === 401) {
        refused();
        return true;
      }
      if (!response.ok) return false;
      this.onState("connected");
      this.pause = 500;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return false;
        clearTimeout(alive);
        alive = setTimeout(() => abort.abort(), 35000);
        const parts = (rest + value).split("\n\n");
        rest = parts.pop();
        for (const part of parts) this.take(part);
      }
    } catch {
      return false;
    } finally {
      clearTimeout(alive);
      // Lets go of a connection that was left because of an error in what it brought.
      abort.abort();
    }
  }

  take(part) {
    const fields = {};
    for (const line of part.split("\n")) {
      const colon = line.indexOf(": ");
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
    }
    if (fields.id) this.lastID = fields.id;
    if (fields.event) this.onEvent(fields.event, JSON.parse(fields.data));
  }
}
