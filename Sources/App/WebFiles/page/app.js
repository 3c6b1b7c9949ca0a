import { get, setToken, takeToken, Watcher, whenRefused } from "./api.js";
import { setUpCameraForm } from "./camera-form.js";
import { chime } from "./chime.js";
import { Snapshots } from "./snapshots.js";
import { Tile, element, happens, icon } from "./tile.js";
import { wordElements } from "./words.js";

const byID = (id) => document.getElementById(id);
const tiles = new Map();
const snapshots = new Snapshots(() => tiles.values());
// What the gateway told of itself, and whether the event stream stands; the tiles hold on to both.
const gateway = {};
const link = { isUp: false };
// The cameras that somebody watched when they went away, or when the token was refused.
const resumed = new Set();

function setLink(state, text) {
  byID("link").className = "link " + state;
  byID("link-text").textContent = text;
}

let noticed = "";

function notice(message, details) {
  const key = JSON.stringify([message, details]);
  if (key === noticed) return;
  noticed = key;
  byID("notice").hidden = !message;
  byID("notice").replaceChildren(...(message ? wordElements({ message, details }) : []));
}

function showDevice(device) {
  const tile = tiles.get(device.id);
  if (tile) return tile.update(device);
  const made = new Tile(device, gateway, link);
  tiles.set(device.id, made);
  byID("cameras").append(made.node);
  snapshots.add(made);
  notice(null);
  if (resumed.delete(device.id)) made.live.start();
}

function removeDevice(id) {
  const tile = tiles.get(id);
  if (!tile) return;
  tiles.delete(id);
  // A camera that comes back is watched again, unless it was taken away right here.
  if (tile.live.isActive && !tile.isUnwanted) resumed.add(id);
  snapshots.remove(tile);
  if (tile.live.isActive) tile.live.stop();
  tile.node.remove();
  if (tiles.size === 0) notice(emptyHome);
}

const emptyHome = "No camera yet. Add one below, or under cameras: in the gateway's config.";

// The devices that there are, also after a time without a connection; then their settings.
async function lookAtHome() {
  const { devices } = await get("/v1/devices", true);
  const known = new Set(devices.map((device) => device.id));
  for (const id of [...tiles.keys()]) if (!known.has(id)) removeDevice(id);
  devices.forEach(showDevice);
  // The order of the home, without moving what stands right: a moved video would stop.
  devices.forEach((device, place) => {
    const node = tiles.get(device.id)?.node;
    const there = byID("cameras").children[place];
    if (node && there !== node && !tiles.get(device.id).live.isActive) byID("cameras").insertBefore(node, there);
  });
  await lookAtSettings();
  await Promise.all([...tiles.keys()].map(lookAtEvents));
}

// What happened last at a camera; the event stream reports what comes. A visitor who rang just before the stream
// was there still waits at the door.
async function lookAtEvents(id) {
  const { events } = await get(`/v1/devices/${encodeURIComponent(id)}/events?limit=10`);
  if (events.length > 0) tiles.get(id)?.showEvent(events[0]);
  const press = events.find(({ event }) => event === "DoorbellPressed");
  if (press && Date.now() - Date.parse(press.timestamp) < visitorWaits) showVisitor(press);
}

async function lookAtSettings() {
  const { cameras } = await get("/v1/cameras");
  for (const camera of cameras) tiles.get(camera.id)?.describe(camera);
  const { problems, needsRestart } = await get("/v1/configuration");
  if (problems.length > 0) {
    const { file, line, key, reason } = problems[0];
    notice("The config file has a problem. The cameras go on with the settings from before.",
      `${file}, line ${line}: ${key} ${reason}`);
  } else if (needsRestart.length > 0) {
    notice("Some changes of the config file are in force after a restart of the gateway.", needsRestart.join(", "));
  } else {
    notice(tiles.size === 0 ? emptyHome : null);
  }
}

let settingsTimer;
function lookAtSettingsSoon() {
  clearTimeout(settingsTimer);
  settingsTimer = setTimeout(() => lookAtSettings().catch(() => {}), 300);
}

// Milliseconds for which the page says that somebody is at the door.
const visitorWaits = 45000;
// When each doorbell was last pressed, so that a press that is read twice rings once.
const pressed = new Map();

function showVisitor(press) {
  const when = Date.parse(press.timestamp);
  if (pressed.get(press.deviceID) >= when) return;
  pressed.set(press.deviceID, when);
  const tile = tiles.get(press.deviceID);
  const name = tile?.device.name ?? press.deviceID;
  const time = new Date(press.timestamp).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const answer = element("button", "button", "Answer");
  answer.type = "button";
  const banner = element("div", "visitor", icon("bell"),
    element("p", "", `Somebody is at ${name}`, element("small", "", time)), answer);
  answer.addEventListener("click", () => {
    banner.remove();
    tile?.node.scrollIntoView({ behavior: "smooth", block: "center" });
    if (tile && !tile.live.isActive) tile.watch();
  });
  byID("visitors").replaceChildren(banner);
  setTimeout(() => banner.remove(), visitorWaits);
  chime();
}

function handle(event, data) {
  if (happens(event)) tiles.get(data.deviceID)?.showEvent({ event, timestamp: data.timestamp });
  if (event === "device") {
    showDevice(data);
  } else if (event === "deviceAdded") {
    showDevice(data);
    lookAtSettingsSoon();
  } else if (event === "deviceRemoved") {
    removeDevice(data.deviceID);
  } else if (event === "DoorbellPressed") {
    showVisitor(data);
  } else if (event === "session") {
    for (const tile of tiles.values()) {
      if (tile.live.session !== data.session.mediaSessionId) continue;
      if (data.change === "ended") {
        tile.live.ended();
      } else {
        tile.live.talk.changed(data.session.talkback);
        tile.live.gatewaySteps = data.session.steps;
        tile.render();
      }
    }
  }
}

let watcher = null;
let openTimer;
// Counts the attempts to open the home, so that an older one that is still under way does nothing.
let opening = 0;

function signIn(message) {
  opening++;
  clearTimeout(openTimer);
  watcher?.stop();
  watcher = null;
  link.isUp = false;
  setToken("");
  for (const [id, tile] of tiles) {
    if (!tile.live.isActive) continue;
    resumed.add(id);
    tile.live.stop();
  }
  byID("sign-in").hidden = false;
  byID("cameras").hidden = true;
  byID("add").hidden = true;
  notice(null);
  byID("sign-in-error").hidden = !message;
  byID("sign-in-error").textContent = message ?? "";
  setLink("", "Signed out");
  byID("token").focus();
}

async function open() {
  const number = ++opening;
  clearTimeout(openTimer);
  try {
    const told = await get("/v1/gateway", true);
    if (number !== opening) return;
    Object.assign(gateway, told);
    byID("version").textContent = `${gateway.name} ${gateway.version}`;
    await lookAtHome();
  } catch (error) {
    if (number !== opening) return;
    if (error.status === "UNAUTHENTICATED") return signIn("This token is not known to the gateway.");
    setLink("offline", "Gateway not reached");
    notice("The gateway does not answer. Is it running, and is this device in its network?",
      error.status === "UNREACHABLE" ? null : error.message);
    openTimer = setTimeout(open, 2000 + 2000 * Math.random());
    return;
  }
  if (number !== opening) return;
  byID("sign-in").hidden = true;
  byID("cameras").hidden = false;
  byID("add").hidden = false;
  for (const id of [...resumed]) {
    if (tiles.has(id) && resumed.delete(id)) tiles.get(id).live.start();
  }
  watcher?.stop();
  watcher = new Watcher(handle, (state) => {
    if (number !== opening) return;
    link.isUp = state === "connected";
    if (link.isUp) {
      setLink("online", "Connected");
      lookAgain();
    } else {
      setLink("waiting", "Reconnecting");
    }
    for (const tile of tiles.values()) tile.tick();
  });
}

// The gateway is reached again, and it may be another one: its devices, its settings, and the views that it has.
function lookAgain() {
  for (const tile of tiles.values()) tile.live.check();
  get("/v1/gateway").then((told) => Object.assign(gateway, told)).catch(() => {});
  lookAtHome().catch(() => {});
}

byID("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(byID("token").value);
  byID("token").value = "";
  open();
});
whenRefused(() => {
  if (watcher) signIn("The gateway does not accept this token any more.");
});
// A config that has become wrong changes nothing, so no event tells of it.
setInterval(() => {
  if (document.visibilityState === "visible" && !byID("cameras").hidden) lookAtSettingsSoon();
}, 20000);
setUpCameraForm(() => new Set(tiles.keys()));

let ticked = Date.now();
let beats = 0;
setInterval(() => {
  const now = Date.now();
  // A device that has slept holds connections that are dead.
  if (now - ticked > 90000) watcher?.renew();
  ticked = now;
  const isWholeSecond = beats++ % 4 === 0;
  for (const tile of tiles.values()) if (isWholeSecond || tile.live.isActive) tile.tick();
  if (isWholeSecond) snapshots.tick();
}, 250);
document.addEventListener("visibilitychange", () => {
  for (const tile of tiles.values()) tile.tick();
  if (document.visibilityState === "visible" && !link.isUp) watcher?.renew();
});
for (const name of ["online", "offline"]) {
  addEventListener(name, () => {
    if (name === "online") watcher?.renew();
    for (const tile of tiles.values()) tile.tick();
  });
}
// A page that goes away gives its sessions back; one that comes back from the browser's cache watches again.
addEventListener("pagehide", () => {
  for (const [id, tile] of tiles) {
    if (!tile.live.isActive) continue;
    resumed.add(id);
    tile.live.stop();
  }
});
addEventListener("pageshow", (event) => {
  if (event.persisted && watcher) open();
});

if (takeToken()) open();
else signIn();
