extension WebPage {
    /// Talks to the gateway: token, requests, errors in words, and the event stream.
    static let apiScript = #"""
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

        export class APIError extends Error {
          constructor(code, status, message) {
            super(message);
            this.code = code;
            this.status = status;
          }
        }

        // Errors of the browser and of the gateway become one kind, with a message for a person.
        async function send(method, path, body, options = {}) {
          let response;
          try {
            response = await fetch(path, {
              method,
              headers: {
                authorization: "Bearer " + token,
                ...(body === undefined ? {} : { "content-type": "application/json" }),
                ...options.headers,
              },
              body: body === undefined ? undefined : JSON.stringify(body),
              cache: "no-store",
              keepalive: options.keepalive ?? false,
              signal: options.signal,
            });
          } catch (error) {
            if (error.name === "AbortError") throw error;
            throw new APIError(14, "UNREACHABLE",
              "The gateway does not answer. Is it running, and is this device in its network?");
          }
          if (response.ok) return response;
          const told = await response.json().catch(() => null);
          const error = told?.error;
          throw new APIError(error?.code ?? 2, error?.status ?? String(response.status),
            error?.message || "The gateway answered with status " + response.status + ".");
        }

        export async function get(path) {
          return (await send("GET", path)).json();
        }

        export async function put(path, body) {
          return (await send("PUT", path, body)).json();
        }

        export async function post(path) {
          await send("POST", path);
        }

        export async function remove(path) {
          await send("DELETE", path);
        }

        // A picture and how old it is, in milliseconds.
        export async function getPicture(path, signal) {
          const response = await send("GET", path, undefined, { signal });
          const age = Number(response.headers.get("age-milliseconds") ?? response.headers.get("age") * 1000) || 0;
          return { blob: await response.blob(), age };
        }

        export async function command(device, trait, name, parameters, options) {
          const path = `/v1/devices/${encodeURIComponent(device)}/traits/${trait}/commands/${name}`;
          return (await send("POST", path, parameters ?? {}, options)).json();
        }

        // The event stream, read by fetch because EventSource cannot send the token. Comes back by itself.
        export async function watch(onEvent, onState) {
          let lastID = "";
          let pause = 500;
          for (;;) {
            try {
              onState("connecting");
              const abort = new AbortController();
              let alive = setTimeout(() => abort.abort(), 20000);
              const response = await send("GET", "/v1/events", undefined, {
                headers: { accept: "text/event-stream", ...(lastID ? { "last-event-id": lastID } : {}) },
                signal: abort.signal,
              });
              onState("connected");
              pause = 500;
              const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
              let rest = "";
              for (;;) {
                const { value, done } = await reader.read();
                if (done) break;
                // A heartbeat comes every 15 seconds; without one the connection is dead.
                clearTimeout(alive);
                alive = setTimeout(() => abort.abort(), 40000);
                const parts = (rest + value).split("\n\n");
                rest = parts.pop();
                for (const part of parts) {
                  const fields = {};
                  for (const line of part.split("\n")) {
                    const colon = line.indexOf(": ");
                    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
                  }
                  if (fields.id) lastID = fields.id;
                  if (fields.event) onEvent(fields.event, JSON.parse(fields.data));
                }
              }
              clearTimeout(alive);
            } catch (error) {
              if (error.status === "UNAUTHENTICATED") {
                onState("refused");
                return;
              }
            }
            onState("disconnected");
            await new Promise((resolve) => setTimeout(resolve, pause * (0.75 + Math.random() / 2)));
            pause = Math.min(pause * 2, 15000);
          }
        }
        """#
}
