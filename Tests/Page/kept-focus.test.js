import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { AccessCard } from "../../Sources/App/WebFiles/page/access.js";
import { FileCameras } from "../../Sources/App/WebFiles/page/file-cameras.js";
import { openPlaces } from "../../Sources/App/WebFiles/page/places-dialog.js";
import { openNotifications } from "../../Sources/App/WebFiles/page/push-dialog.js";
import { openShare } from "../../Sources/App/WebFiles/page/share-dialog.js";
import { replace, replaceDocument, restore } from "./elements.js";

// A list that is read again has other buttons. Somebody who uses the keyboard goes on where they were.

let body;
let tokens = [];
let list = { cameras: [], removed: [] };
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
const token = (id) => ({ id, name: id, grants: [{ scopes: ["view"], deviceID: "yard" }], createdBy: "owner" });
const named = (one) => one.getAttribute("aria-label") ?? one.textContent;
function held() {
  assert.ok(document.activeElement?.isConnected && document.activeElement !== body, "the focus is lost");
  return document.activeElement;
}
async function press(words) {
  const button = body.querySelectorAll("button").find((one) => named(one) === words);
  button.focus();
  button.listeners.get("click")();
  await settle();
}
/** Answers the question that is asked. */
async function agree() {
  const dialog = body.querySelectorAll("dialog").at(-1);
  dialog.querySelectorAll("form")[0].listeners.get("submit")({ preventDefault() {} });
  await settle();
}

beforeEach(() => {
  ({ body } = replaceDocument());
  replace("HTMLDetailsElement", HTMLElement);
  tokens = ["Anna", "Ben", "Carl"].map(token);
  replace("fetch", async (path, { method }) => {
    if (method === "DELETE" && path.startsWith("/v1/tokens/")) tokens = tokens.filter(({ id }) => !path.endsWith(id));
    return Response.json({ tokens, structures: [], devices: [], ...list });
  });
});
afterEach(restore);

test("a link that is revoked leaves the focus to the next, and the last one to the field for another", async () => {
  openShare({ id: "yard", name: "Yard" }, {});
  await settle();
  await press("Revoke the link of Ben");
  assert.equal(named(held()), "Revoke the link of Carl");
  await press("Revoke the link of Carl");
  assert.equal(named(held()), "Revoke the link of Anna");
  await press("Revoke the link of Anna");
  assert.equal(held().tag, "input");
});

test("a token that is revoked leaves the focus to the next", async () => {
  const card = new AccessCard();
  await card.load();
  const revoke = card.list.querySelectorAll("button").find((one) => named(one).includes("Revoke the token of Ben"));
  revoke.focus();
  revoke.listeners.get("click")();
  await settle();
  // The dialog gives the focus back to what had it.
  revoke.focus();
  await agree();
  assert.match(named(held()), /Revoke the token of Carl/);
});

test("a place that is taken out of a token's form leaves the focus in the form", async () => {
  const card = new AccessCard();
  card.rows.show([], [], [{ scopes: ["read"] }, { scopes: ["view"] }]);
  body.append(card.rows.node);
  await press("Remove this place");
  assert.equal(named(held()), "Remove this place");
  await press("Remove this place");
  assert.equal(named(held()), "Another place");
});

test("a camera of the config file that was looked at has the focus again", async () => {
  const camera = (name) => ({ id: name, name, source: "rtsp://192.0.2.1", origin: "file" });
  list = { cameras: [camera("Yard"), camera("Hall")], removed: [{ id: "attic", name: "Attic" }] };
  const files = new FileCameras(list);
  body.append(...files.nodes);
  body.querySelectorAll("button")[1].focus();
  await files.refresh();
  assert.match(named(held()), /^Hall/);
  list = { ...list, removed: [] };
  await press("AtticBring back");
  assert.match(named(held()), /^Yard/);
});

test("a room that is renamed has the focus again, and one that is removed leaves it to the next", async () => {
  let followed = () => {};
  const room = (id, name) => [id, { id, name, structureID: "s1" }];
  const home = {
    structures: new Map([["s1", { id: "s1", name: "Home", timeZone: "Europe/Berlin" }]]),
    rooms: new Map([room("r1", "Attic"), room("r2", "Hall"), room("r3", "Study")]),
    place: (known, id, one) => {
      if (one) known.set(id, one);
      else known.delete(id);
      followed();
    },
    followPlaces: (follower) => {
      followed = follower;
      return () => {};
    },
  };
  openPlaces(home, "s1", { may: () => false });
  const field = (label) => body.querySelectorAll("input").find((one) => named(one) === label);
  const name = field("Name of Hall");
  name.value = "Vestibule";
  name.focus();
  name.parentNode.listeners.get("submit")({ preventDefault() {} });
  await settle();
  assert.equal(held(), field("Name of Vestibule"));
  await press("Remove Attic");
  body.querySelectorAll("button").find((one) => named(one) === "Remove Attic").focus();
  await agree();
  assert.equal(held().tag, "button");
});

test("the form of the notifications keeps the focus when it is drawn again", async () => {
  replace("window", { isSecureContext: false });
  replace("navigator", { userAgent: "", onLine: true });
  const dialog = openNotifications([], "owner");
  dialog.show(null);
  dialog.form.querySelectorAll("button").at(-1).focus();
  dialog.show({ id: "p1", wishes: { doorbell: true, detections: [], picture: true } });
  assert.equal(held().textContent, "Save");
});
