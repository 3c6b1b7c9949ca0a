import { AccessCard } from "./access.js";
import { whenRefused } from "./api.js";
import { openAutomations } from "./automation-list.js";
import { cameraConnectionPanel } from "./camera-connection.js";
import { openCameraDialog } from "./camera-dialog.js";
import { cameraSettingsPanel } from "./camera-settings.js";
import { ConfigurationWatch } from "./configuration.js";
import { Connection } from "./connection.js";
import { controlsPanel } from "./controls.js";
import { openDevice } from "./device-dialog.js";
import { Button, byID } from "./dom.js";
import { doorbellPanel } from "./doorbell.js";
import { Events } from "./events.js";
import { happeningPanel } from "./happening.js";
import { growHistory, openHistory } from "./history-view.js";
import { HomeReader } from "./home-reader.js";
import { Home } from "./home.js";
import { whenFaultIsLate } from "./late-faults.js";
import { liveViewPanel } from "./live-view.js";
import { whenNetworkChanges } from "./network-change.js";
import { Notice } from "./notice.js";
import { OneSound } from "./one-sound.js";
import { Expectations } from "./optimism.js";
import { PanelRegistry } from "./panels.js";
import { openPlaces } from "./places-dialog.js";
import { openNotifications } from "./push-dialog.js";
import { whenPressed, whenRotated } from "./push.js";
import { recordingsPanel } from "./recordings.js";
import { Rights } from "./rights.js";
import { openSettings } from "./settings-dialog.js";
import { actionOf } from "./shortcuts.js";
import { Snapshots } from "./snapshots.js";
import { choose, language, languages, t, translate } from "./text.js";
import { whenTokenChanges } from "./token.js";
import { Views } from "./views.js";
import { Visitors } from "./visitors.js";
import { Wiring } from "./wiring.js";

translate(document);
const languageChoice = byID("language", HTMLSelectElement);
for (const [code, name] of Object.entries(languages)) languageChoice.append(new Option(name, code));
languageChoice.value = language;
languageChoice.addEventListener("change", () => choose(languageChoice.value));

/** @type {import("./types").KnownGateway} */
const gateway = {};
/** @type {import("./types").Link} */
const link = { isUp: false };
const snapshots = new Snapshots();
const rights = new Rights();
const expectations = new Expectations();

// What the tile of a device holds. The order is that of the elements in the tile.
const panels = new PanelRegistry();
panels.register(rights.needing("view", liveViewPanel({ gateway, link, rights, snapshots, sound: new OneSound() })));
panels.register(happeningPanel);
panels.register(rights.needing("control", controlsPanel));
panels.register(rights.needing("control", doorbellPanel));
panels.register(rights.needing("media", recordingsPanel));
panels.register(rights.needing("admin", cameraConnectionPanel));
panels.register(rights.needing("admin", cameraSettingsPanel(gateway, () => configuration.lookSoon())));

const notice = new Notice();
whenFaultIsLate((fault) => notice.tell(fault));
/** @type {Home} */
const home = new Home({
  kinds: panels.kinds, expectations, rights, more: (tile) => { openDevice(home, tile, rights, gateway, (device) => { openHistory(home, device); }); },
}, notice, placeButtons);
const views = new Views(home, { page: { gateway, link }, snapshots, rights });
const visitors = new Visitors(home, views);
const configuration = new ConfigurationWatch(home, notice, () => views.update());
const access = new AccessCard();
const reader = new HomeReader({ home, rights, configuration, access, visitors, shown });

// Which module handles which event.
const events = new Events();
events.onAny((name, data) => home.event(name, data));
events.onAny(growHistory);
events.on(["device", "deviceAdded"], (device) => home.show(device));
events.on(["structure"], (structure) => home.place(home.structures, structure.id, structure));
events.on(["structureRemoved"], ({ structureID }) => home.place(home.structures, structureID, null));
events.on(["room"], (room) => home.place(home.rooms, room.id, room));
events.on(["roomRemoved"], ({ roomID }) => home.place(home.rooms, roomID, null));
// A device that comes or goes also changes the notice, which may have shown a fault of the config.
events.on(["deviceAdded", "deviceRemoved", "configuration"], () => configuration.lookSoon());
events.on(["deviceRemoved"], ({ deviceID }) => home.remove(deviceID));
events.on(["device", "deviceAdded", "deviceRemoved", "structure", "structureRemoved", "room", "roomRemoved"],
  () => views.update());
events.onAny((name, data) => views.event(name, data));
events.on(["DoorbellPressed"], (press) => visitors.show(press));

/**
 * What is beside the name of a structure.
 * @param {string} structureID
 * @returns {Node[]}
 */
function placeButtons(structureID) {
  if (!rights.may("admin", { structureID })) return [];
  const button = new Button("edit", t("app.rooms"), () => openPlaces(home, structureID, rights), "button plain");
  button.node.setAttribute("aria-label", t("app.roomsOf", { name: home.structures.get(structureID)?.name ?? t("app.thisHome") }));
  return [button.node];
}

byID("open-history", HTMLButtonElement).addEventListener("click", () => openHistory(home, ""));
byID("open-notifications", HTMLButtonElement).addEventListener("click", () => openNotifications(views.cameras, rights.principal));
byID("open-automations", HTMLButtonElement).addEventListener("click", () => openAutomations(home, rights));
byID("open-settings", HTMLButtonElement).addEventListener("click", () => openSettings());

/** The home and the rights are known. */
function shown() {
  views.update();
  byID("signed-in", HTMLElement).textContent = t("signedIn", { name: rights.principal });
  byID("open-wall", HTMLElement).hidden = views.cameras.length === 0;
  byID("open-notifications", HTMLElement).hidden = views.cameras.length === 0
    || !rights.grants.some(({ scopes }) => scopes.includes("read"));
  byID("open-history", HTMLElement).hidden = !rights.grants.some(({ scopes }) => scopes.includes("read"));
  byID("open-automations", HTMLElement).hidden = ![...home.structures.keys()].some((structureID) => rights.may("automate", { structureID }));
  byID("add", HTMLElement).hidden = byID("open-settings", HTMLElement).hidden = !rights.may("admin", {});
}

const wiring = new Wiring({
  home, views, reader, configuration, visitors, access, rights, events,
  hideButtons: () => { byID("add", HTMLElement).hidden = byID("open-settings", HTMLElement).hidden = true; },
}, (handlers) => new Connection(gateway, link, notice, handlers));
const { connection } = wiring;

byID("sign-out", HTMLButtonElement).addEventListener("click", () => wiring.signOut());
// A notification about a camera was pressed while the page is open.
whenPressed((fragment) => { location.hash = fragment; });
whenRotated(() => wiring.rotated());
whenTokenChanges(() => wiring.tokenChanged());
whenRefused(() => wiring.refused());
byID("add", HTMLButtonElement).addEventListener("click", () =>
  openCameraDialog(() => new Set([...home.tiles.values()].map(({ reported }) => reported.key ?? reported.id))));

setInterval(() => wiring.lookAgain(), 20000);

let ticked = Date.now();
let beats = 0;
setInterval(() => {
  const now = Date.now();
  // After this device has slept, its connections are dead.
  if (now - ticked > 90000) connection.renew();
  ticked = now;
  const isWholeSecond = beats++ % 4 === 0;
  wiring.tick(isWholeSecond);
  if (isWholeSecond) snapshots.tick();
}, 250);
document.addEventListener("visibilitychange", () => {
  // A view that rested goes on at once.
  wiring.tick(true);
  if (document.visibilityState === "visible" && !link.isUp) connection.renew();
});
whenNetworkChanges(() => connection.renew());
for (const name of ["online", "offline"]) addEventListener(name, () => home.tick(true));
addEventListener("keydown", (event) => {
  if (!views.view || document.querySelector("dialog[open]")) return;
  const action = actionOf(event, document.activeElement?.tagName);
  // A key that the view has no use for is the browser's: arrows scroll a wall.
  if (!action || !views.view.actions.has(action)) return;
  event.preventDefault();
  views.view.act(action, event.repeat);
});
addEventListener("pagehide", () => wiring.left());
addEventListener("pageshow", (event) => { if (event.persisted) wiring.returned(); });

wiring.begin();
