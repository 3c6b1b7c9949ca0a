/**
 * Calls the handler when this device is in another network, as far as the browser says it: when it is in one again, and when
 * its kind changes, such as from Wi-Fi to mobile. Not every browser knows the kind. Changes of the estimated speed do not count.
 * @param {() => void} handler
 */
export function whenNetworkChanges(handler) {
  addEventListener("online", () => handler());
  const connection = /** @type {any} */ (navigator).connection;
  let kind = connection?.type;
  connection?.addEventListener?.("change", () => {
    const before = kind;
    kind = connection.type;
    // Without a network there is nothing to do until there is one.
    if (kind !== before && kind !== "none") handler();
  });
}
