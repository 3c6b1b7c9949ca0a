import { AccessCard } from "./access.js";
import { getDevices, getEvents, takeToken, whenRefused } from "./api.js";
import { cameraConnectionPanel } from "./camera-connection.js";
import { setUpCameraForm } from "./camera-form.js";
import { cameraSettingsPanel } from "./camera-settings.js";
import { ConfigurationWatch } from "./configuration.js";
import { Connection } from "./connection.js";
import { doorbellPanel } from "./doorbell.js";
import { Events } from "./events.js";
import { happeningPanel } from "./happening.js";
import { Home } from "./home.js";
import { liveViewPanel } from "./live-view.js";
import { Notice } from "./notice.js";
import { PanelRegistry } from "./panels.js";
import { isWaiting } from "./presses.js";
import { recordingsPanel } from "./recordings.js";
import { Snapshots } from "./snapshots.js";
import { Visitors } from "./visitors.js";

/** @type {import("./types").KnownGateway} */
const gateway = {};
/** @type {import("./types").Link} */
const link = { isUp: false };
const snapshots = new Snapshots();

// What the tile of a device holds. The order is that of the elements in the tile.
const panels = new PanelRegistry();
panels.register(liveViewPanel({ gateway, link }, snapshots));
panels.register(happeningPanel);
panels.register(doorbellPanel);
panels.register(recordingsPanel);
panels.register(cameraConnectionPanel);
panels.register(cameraSettingsPanel);

const notice = new Notice();
const home = new Home(panels.kinds, notice);
const visitors = new Visitors(home);
const configuration = new ConfigurationWatch(home, notice);
const access = new AccessCard();

// Which module handles which event.
const events = new Events();
events.onAny((name, data) => home.event(name, data));
events.on(["device", "deviceAdded"], (device) => { if (device.source) home.show(device); });
events.on(["deviceAdded"], () => configuration.lookSoon());
events.on(["deviceRemoved"], ({ deviceID }) => home.remove(deviceID));
events.on(["DoorbellPressed"], (press) => visitors.show(press));

/**
 * Reads the devices, then their settings and their latest events. It also runs after a time without a connection.
 * @param {{ isFirst?: boolean }} [options]
 */
async function load(options) {
  home.showAll(await getDevices(options));
  await Promise.all([configuration.look(), access.look()]);
  await Promise.all([...home.identifiers].map(loadHistory));
}

/**
 * Reads what happened last at a device. The event stream reports what follows. A visitor who rang just before the
 * stream was connected is still at the door.
 * @param {string} id
 */
async function loadHistory(id) {
  const latest = await getEvents(id, 10);
  if (latest.length > 0) home.event(latest[0].event, latest[0]);
  const press = latest.find(({ event }) => event === "DoorbellPressed");
  if (press && isWaiting(press, Date.now())) visitors.show(press);
}

const connection = new Connection(gateway, link, notice, {
  load,
  opened: () => home.resume(),
  found: () => {
    home.check();
    load().catch(() => {});
  },
  changed: () => home.tick(true),
  closed: () => {
    home.suspend();
    access.hide();
  },
  event: (name, data) => events.dispatch(name, data),
});

whenRefused(() => {
  if (connection.isOpen) connection.signOut("The gateway no longer accepts this token.");
});
setUpCameraForm(() => home.identifiers);

// A config that has become invalid changes nothing, so no event reports it.
setInterval(() => {
  if (document.visibilityState === "visible" && connection.isOpen) configuration.lookSoon();
}, 20000);

let ticked = Date.now();
let beats = 0;
setInterval(() => {
  const now = Date.now();
  // After this device has slept, its connections are dead.
  if (now - ticked > 90000) connection.renew();
  ticked = now;
  const isWholeSecond = beats++ % 4 === 0;
  home.tick(isWholeSecond);
  if (isWholeSecond) snapshots.tick();
}, 250);
document.addEventListener("visibilitychange", () => {
  home.tick(true);
  if (document.visibilityState === "visible" && !link.isUp) connection.renew();
});
for (const name of ["online", "offline"]) {
  addEventListener(name, () => {
    if (name === "online") connection.renew();
    home.tick(true);
  });
}
// A page that is left ends its sessions. A page that returns from the browser's cache watches again.
addEventListener("pagehide", () => home.suspend());
addEventListener("pageshow", (event) => {
  if (event.persisted && connection.isOpen) connection.open();
});

if (takeToken()) connection.open();
else connection.signOut();
