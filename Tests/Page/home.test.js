import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { APIError } from "../../Sources/App/WebFiles/page/api.js";
import { cameraSettingsPanel } from "../../Sources/App/WebFiles/page/camera-settings.js";
import { openDevice } from "../../Sources/App/WebFiles/page/device-dialog.js";
import { happeningPanel } from "../../Sources/App/WebFiles/page/happening.js";
import { Home } from "../../Sources/App/WebFiles/page/home.js";
import { Expectations, lingering } from "../../Sources/App/WebFiles/page/optimism.js";
import { Rights } from "../../Sources/App/WebFiles/page/rights.js";
import { answerQuestion, replace, replaceDocument, restore } from "./elements.js";

/** The views that have gone on, in order, each with what was kept of the one before. */
let started = [];
let home;
let body;
let named;

// The view of a camera, of which the tests choose whether it is on.
const view = {
  name: "view", fits: () => true,
  make: (host) => {
    const panel = {
      isActive: false,
      suspend: () => {
        panel.isActive = false;
        return `kept of ${host.device.id}`;
      },
      resume: (kept) => {
        panel.isActive = true;
        started.push(kept);
      },
    };
    return panel;
  },
};

beforeEach(() => {
  ({ body, named } = replaceDocument());
  started = [];
  const rights = new Rights();
  rights.learn({ principal: "owner", grants: [{ scopes: ["admin"] }] });
  home = new Home({
    kinds: [view, happeningPanel, cameraSettingsPanel({}, () => {})], expectations: new Expectations(), rights, more: () => {},
  }, { show: () => {}, hide: () => {} }, () => []);
});
afterEach(() => {
  mock.timers.reset();
  restore();
});

const camera = (id) => ({
  id, name: `Camera ${id}`, type: "C", connectivityState: "online", source: { state: "flowing", tracks: [] }, endpoints: [],
});
const settings = (id) => ({ id, deviceID: id, source: `rtsp://192.0.2.1/${id}`, origin: "api" });
const watched = (id) => home.tiles.get(id).panels.made.get(view).panel;

test("the settings of cameras that are not listed are shown no longer", () => {
  for (const id of ["yard", "hall"]) home.show(camera(id));
  home.arrange();
  home.describe([settings("yard"), settings("hall")]);
  assert.match(body.textContent, /\/hall.*\/yard/s);
  home.describe([settings("hall")]);
  assert.doesNotMatch(body.textContent, /\/yard/);
  home.describe([]);
  assert.doesNotMatch(body.textContent, /192/);
  assert.deepEqual([...home.tiles.values()].map((tile) => tile.camera), [undefined, undefined]);
  assert.ok(home.tiles.get("hall").node.querySelectorAll("details").every(({ hidden }) => hidden));
});

test("after a sign-out, the page has nothing of what somebody could see", () => {
  for (const id of ["yard", "hall"]) home.show(camera(id));
  home.place(home.structures, "s1", { id: "s1", name: "The lake house" });
  home.place(home.rooms, "r1", { id: "r1", name: "The cellar", structureID: "s1" });
  home.arrange();
  home.describe([settings("yard")]);
  home.event("Person", { deviceID: "yard", timestamp: "2026-06-01T09:00:00Z" });
  assert.match(body.textContent, /Person/);
  home.search.value = "ya";
  watched("yard").isActive = true;
  home.forget();
  assert.equal(body.textContent, "");
  assert.equal(named.get("find").value, "");
  assert.deepEqual([home.tiles.size, home.structures.size, home.rooms.size, home.sections.size], [0, 0, 0, 0]);
});

test("who signs in again goes on with what was watched", () => {
  for (const id of ["yard", "hall"]) home.show(camera(id));
  watched("yard").isActive = true;
  home.forget();
  for (const id of ["yard", "hall"]) home.show(camera(id));
  assert.deepEqual(started, []);
  home.resume();
  assert.deepEqual(started, ["kept of yard"]);
});

test("a camera that comes back goes on where it was, unless somebody has removed it here", () => {
  home.show(camera("yard"));
  for (const isUnwanted of [false, true]) {
    watched("yard").isActive = true;
    home.tiles.get("yard").isUnwanted = isUnwanted;
    home.remove("yard");
    home.show(camera("yard"));
    assert.deepEqual(started, ["kept of yard"]);
  }
});

test("a camera that comes back behind a view waits until the list is shown", () => {
  home.show(camera("yard"));
  watched("yard").isActive = true;
  home.suspend();
  home.remove("yard");
  home.show(camera("yard"));
  assert.deepEqual([started, watched("yard").isActive], [[], false]);
  home.resume();
  assert.deepEqual([started, watched("yard").isActive], [["kept of yard"], true]);
});

test("a camera that is removed here behind a view, and comes back, is not watched", () => {
  home.show(camera("yard"));
  watched("yard").isActive = true;
  home.suspend();
  home.tiles.get("yard").isUnwanted = true;
  home.remove("yard");
  home.show(camera("yard"));
  home.resume();
  assert.deepEqual(started, []);
});

/** Whether a camera goes on when the gateway takes it away for a moment. */
function goesOn(id) {
  started = [];
  watched(id).isActive = true;
  home.remove(id);
  home.show(camera(id));
  return started.length > 0;
}

const settled = async () => { for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate); };
/** @param {string} words of a button */
async function press(words) {
  const button = body.querySelectorAll("button").find((one) => one.textContent === words);
  button.listeners.get("click")();
  await settled();
}

// The two ways to remove a camera.
const removals = {
  "its settings": async () => {
    home.arrange();
    home.describe([settings("yard")]);
    await press("Remove this camera");
    await answerQuestion(body, true);
    await settled();
  },
  "its dialog": async () => {
    openDevice(home, home.tiles.get("yard"), home.parts.rights, {}, () => {});
    await press("Remove");
    await press("Remove Camera yard for good");
  },
};
for (const [name, removeHere] of Object.entries(removals)) {
  test(`a camera whose removal in ${name} has failed is still watched again when it comes back, and not after one that worked`, async () => {
    let isRefused = true;
    replace("fetch", async (path, { method }) => {
      if (method === "GET") {
        return new Response(JSON.stringify({ isEligible: true, recordings: { count: 0, byteCount: 0 }, history: 0, automations: [] }));
      }
      return new Response(JSON.stringify({ error: { status: "UNAVAILABLE", message: "no" } }), { status: isRefused ? 503 : 200 });
    });
    home.show(camera("yard"));
    await removeHere();
    assert.equal(goesOn("yard"), true);
    isRefused = false;
    for (const dialog of body.querySelectorAll("dialog")) dialog.remove();
    await removeHere();
    assert.equal(goesOn("yard"), false);
  });
}

test("the error of a removal that failed is said", async () => {
  home.show(camera("yard"));
  await assert.rejects(home.tiles.get("yard").dismiss(async () => { throw new APIError("UNAVAILABLE", "no"); }), /no/);
});

test("saving the room of a device does not take back the name that somebody else has given it", async () => {
  const changes = [];
  replace("fetch", async (_, { method, body: text }) => {
    changes.push([method, JSON.parse(text)]);
    return Response.json({});
  });
  const device = { ...camera("yard"), structureID: "s1", roomID: "r1" };
  home.show(device);
  openDevice(home, home.tiles.get("yard"), home.parts.rights, {}, () => {});
  home.show({ ...device, name: "Garden" });
  const [form] = body.querySelectorAll("form");
  form.querySelector("select").value = "s1 r2";
  form.listeners.get("submit")({ preventDefault() {} });
  await settled();
  assert.deepEqual(changes, [["PATCH", { roomID: "r2" }]]);
});

/** A lamp, while this device's clock is set back by an hour. `pass` lets time pass. */
function lampWithClockSetBack() {
  let elapsed = 1000;
  replace("performance", { now: () => elapsed });
  mock.timers.enable({ apis: ["Date"], now: new Date(2026, 5, 1, 12, 0, 0) });
  const lamp = { id: "lamp", name: "Lamp", type: "L", connectivityState: "online", endpoints: [{ id: 1, types: [], traits: { OnOff: { onOff: false } } }] };
  home.show(lamp);
  const tile = home.tiles.get("lamp");
  return {
    lamp, tile, ask: () => tile.command({ endpoint: 1, trait: "OnOff", command: "on" }, { OnOff: { onOff: true } }),
    isOn: () => tile.device.endpoints[0].traits.OnOff.onOff,
    pass: (milliseconds) => {
      elapsed += milliseconds;
      mock.timers.setTime(new Date(2026, 5, 1, 11, 0, 0).getTime());
    },
  };
}

test("a device that does not report what was asked for is shown as it is after some seconds, even if the clock is set back", async () => {
  const { ask, isOn, pass } = lampWithClockSetBack();
  replace("fetch", async () => Response.json({}));
  await ask();
  assert.equal(isOn(), true);
  pass(lingering - 1);
  home.tick(true);
  assert.equal(isOn(), true);
  pass(1);
  home.tick(true);
  assert.equal(isOn(), false);
});

test("the message about a failed command is not shown for an hour because the clock is set back", async () => {
  const { lamp, tile, ask, pass } = lampWithClockSetBack();
  replace("fetch", async () => Response.json({ error: { status: "UNAVAILABLE", message: "busy" } }, { status: 503 }));
  await ask();
  assert.notEqual(tile.message, null);
  pass(60_000);
  home.show(lamp);
  assert.equal(tile.message, null);
});

test("the button beside the name of a home says its new name when others rename it, and keeps the focus", () => {
  home.buttonsOf = (structureID) => {
    const button = document.createElement("button");
    button.setAttribute("aria-label", `Rooms of ${home.structures.get(structureID).name}`);
    return [button];
  };
  home.place(home.structures, "s1", { id: "s1", name: "Home" });
  home.arrange();
  const { buttons } = home.sections.get("s1");
  const [button] = buttons.children;
  button.focus();
  home.place(home.structures, "s1", { id: "s1", name: "Lake house" });
  home.arrange();
  assert.deepEqual([buttons.children[0] === button, button.getAttribute("aria-label"), document.activeElement === button], [true, "Rooms of Lake house", true]);
});

test("the page scrolls to a camera whose visitor is answered, without an animation where less motion is preferred", () => {
  home.show(camera("yard"));
  const scrolled = [];
  home.tiles.get("yard").node.scrollIntoView = ({ behavior }) => scrolled.push(behavior);
  for (const matches of [false, true]) {
    replace("matchMedia", (query) => ({ matches: matches && query === "(prefers-reduced-motion: reduce)" }));
    home.tiles.get("yard").answer();
  }
  assert.deepEqual(scrolled, ["smooth", "auto"]);
});
