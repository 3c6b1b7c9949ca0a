// Runs while the page is closed: it shows the notifications that the gateway sends (Web Push). It keeps no files and answers no
// requests. It is a plain script, because not every browser runs modules here, so it has its own few texts.

const texts = {
  en: {
    doorbell: "Somebody is at {name}", answer: "Answer", test: "Notifications work", testBody: "This browser hears of your doorbells.",
    renew: "Open Gatehouse once", renewBody: "This browser has renewed its notifications, and the gateway has to learn of it.",
    motion: "Motion at {name}", person: "A person at {name}", face: "A face at {name}", vehicle: "A vehicle at {name}",
    animal: "An animal at {name}", package: "A package at {name}", sound: "A sound at {name}", other: "News from {name}",
  },
  de: {
    doorbell: "Es klingelt: {name}", answer: "Antworten", test: "Mitteilungen funktionieren",
    testBody: "Dieser Browser erfährt von deinen Türklingeln.",
    renew: "Öffne Gatehouse einmal", renewBody: "Dieser Browser hat seine Mitteilungen erneuert, und das Gateway muss davon erfahren.",
    motion: "Bewegung: {name}", person: "Eine Person: {name}", face: "Ein Gesicht: {name}", vehicle: "Ein Fahrzeug: {name}",
    animal: "Ein Tier: {name}", package: "Ein Paket: {name}", sound: "Ein Geräusch: {name}", other: "Neues von {name}",
  },
};

/**
 * The texts of the language that the page was in when it subscribed.
 * @returns {Record<string, string>}
 */
function words() { return new URL(self.location.href).searchParams.get("language") === "de" ? texts.de : texts.en; }

/**
 * @param {{ kind: string, detection?: string, deviceID: string, key: string, name: string, at: string, picture?: string }} message
 * @returns {{ title: string, options: NotificationOptions }}
 */
function notificationOf({ kind, detection, deviceID, key, name, at, picture }) {
  const said = words();
  const text = kind === "doorbell" ? said.doorbell : kind === "test" ? said.test : said[detection ?? ""] ?? said.other;
  const isDoorbell = kind === "doorbell";
  return {
    title: text.replace("{name}", () => name),
    options: /** @type {NotificationOptions} */ ({
      body: kind === "test" ? said.testBody
        : new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }),
      // What replaces one another: a second press shows one notification, and rings again.
      tag: `${kind} ${detection ?? ""} ${deviceID}`, renotify: true, requireInteraction: isDoorbell, timestamp: Date.parse(at),
      icon: "/assets/icon-192.png", badge: "/assets/badge-96.png",
      ...(picture ? { image: picture } : {}),
      ...(isDoorbell ? { vibrate: [200, 100, 200], actions: [{ action: "open", title: said.answer }] } : {}),
      data: { path: kind === "test" ? "/" : `/#camera/${encodeURIComponent(key)}` },
    }),
  };
}

/** The windows with the page. @returns {Promise<any[]>} */
async function windows() {
  const all = await /** @type {any} */ (self).clients.matchAll({ type: "window", includeUncontrolled: true });
  return all.filter((/** @type {any} */ { url }) => new URL(url).pathname === "/");
}

/**
 * Shows what a notification is about: in a window of the page that is open, or in another one.
 * @param {string} path
 */
async function showWindow(path) {
  const [client] = await windows();
  if (!client) {
    await /** @type {any} */ (self).clients.openWindow(new URL(path, self.location.origin).href);
    return;
  }
  await client.focus();
  // A client of a worker is of its origin; only windows are told an origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  client.postMessage({ show: path });
}

/**
 * The browser has replaced its subscription, or its service has ended it. The gateway has to learn of the new one, and only
 * the page has a token for that. So a page that is open is told, and otherwise somebody is asked to open it.
 * @param {{ oldSubscription?: PushSubscription | null, newSubscription?: PushSubscription | null }} event
 */
async function rotate({ oldSubscription, newSubscription }) {
  const { registration } = /** @type {any} */ (self);
  // What fails here is tried again by the page.
  if (!newSubscription && oldSubscription) await registration.pushManager.subscribe(oldSubscription.options).catch(() => {});
  const open = await windows();
  for (const client of open) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    client.postMessage({ isRotated: true });
  }
  if (open.length > 0 || /** @type {any} */ (self).Notification?.permission !== "granted") return;
  const said = words();
  await registration.showNotification(said.renew, {
    body: said.renewBody, tag: "renew", icon: "/assets/icon-192.png", badge: "/assets/badge-96.png", data: { path: "/" },
  });
}

self.addEventListener("install", () => /** @type {any} */ (self).skipWaiting());
self.addEventListener("activate", (event) => /** @type {any} */ (event).waitUntil(/** @type {any} */ (self).clients.claim()));
self.addEventListener("push", (event) => {
  const { data, waitUntil } = /** @type {any} */ (event);
  if (!data) return;
  const { title, options } = notificationOf(data.json());
  waitUntil.call(event, /** @type {any} */ (self).registration.showNotification(title, options));
});
self.addEventListener("notificationclick", (event) => {
  const { notification } = /** @type {any} */ (event);
  notification.close();
  /** @type {any} */ (event).waitUntil(showWindow(notification.data?.path ?? "/"));
});
self.addEventListener("pushsubscriptionchange", (event) => {
  /** @type {any} */ (event).waitUntil(rotate(/** @type {any} */ (event)));
});
