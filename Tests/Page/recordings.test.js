import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { openRecordings, recordingsPanel } from "../../Sources/App/WebFiles/page/recordings.js";
import { replace, replaceDocument, restore } from "./elements.js";

/** The addresses that are not given back. */
let urls = new Set();
/** Lets the pictures that were asked for come. */
let deliver = () => {};
let view;
/** What was deleted. */
let requests = [];

const day = new Date().toISOString().slice(0, 10);
const recording = {
  id: "r1", deviceID: "yard", start: `${day}T12:00:00Z`, end: `${day}T12:01:00Z`, durationSeconds: 60,
  trigger: { kind: "motion", at: `${day}T12:00:10Z` }, spans: [],
};

beforeEach(async () => {
  replaceDocument();
  urls = new Set();
  let made = 0;
  mock.method(URL, "createObjectURL", () => {
    made += 1;
    urls.add(`blob:${made}`);
    return `blob:${made}`;
  });
  mock.method(URL, "revokeObjectURL", (url) => urls.delete(url));
  const delivered = new Promise((resolve) => { deliver = resolve; });
  requests = [];
  replace("fetch", async (path, { method }) => {
    if (method === "DELETE") requests.push(path);
    if (path.includes("/days?")) return Response.json({ days: [{ date: day }] });
    if (path.includes("/links?")) return Response.json({ playlist: "/playlist", export: "/export" });
    if (!path.includes("thumbnail")) return Response.json({ recordings: [recording] });
    await delivered;
    return new Response("picture");
  });
  view = openRecordings("yard", "Yard", () => {});
  Object.assign(view.video, { pause: () => {}, load: () => {}, paused: true });
  await settle();
});
afterEach(() => {
  mock.restoreAll();
  restore();
});

async function settle() { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); }

test("the pictures of a list are given back with it", async () => {
  const [node] = view.list.children;
  view.loadPicture(node);
  deliver();
  await settle();
  assert.equal(urls.size, 1);
  view.node.close();
  assert.equal(urls.size, 0);
});

test("pictures that come after their dialog or their list has gone leave nothing in the browser", async () => {
  const [node] = view.list.children;
  view.loadPicture(node);
  view.timeline.isScrubbing = true;
  view.scrub(Date.parse(recording.start) + 1000);
  view.node.close();
  deliver();
  await settle();
  assert.equal(urls.size, 0);
});

test("the dialog has a name for people who do not see it", () => {
  assert.equal(view.node.getAttribute("aria-label"), "Recordings of Yard");
});

const button = (words) => document.body.querySelectorAll("button").find((one) => one.textContent === words);

test("a double press on Delete asks once, and deletes nothing before somebody agrees", async () => {
  view.time = Date.parse(recording.start) + 1000;
  const press = button("Delete").listeners.get("click");
  press();
  press();
  await settle();
  const questions = document.body.querySelectorAll("dialog").filter(({ className }) => className.includes("ask"));
  assert.deepEqual([questions.length, requests], [1, []]);
  questions[0].querySelectorAll("form")[0].listeners.get("submit")({ preventDefault() {} });
  await settle();
  assert.deepEqual(requests, ["/v1/devices/yard/recordings/r1"]);
  assert.equal(view.message.textContent, "The recording was deleted.");
});

test("a double press saves one file, and the focus goes back to the button of the form", async () => {
  view.time = Date.parse(recording.start) + 1000;
  button("Download").listeners.get("click")();
  // A press on a link loads what it leads to.
  const { createElement } = document;
  let files = 0;
  document.createElement = (name) => Object.assign(createElement(name), name === "a" ? { click: () => { files += 1; } } : {});
  const save = button("Save as a file");
  save.focus();
  const [form] = document.body.querySelectorAll(".download");
  for (let press = 0; press < 2; press += 1) form.listeners.get("submit")({ preventDefault() {} });
  await settle();
  assert.deepEqual([files, form.hidden, document.activeElement === button("Download")], [1, true, true]);
});

test("somebody who looks for a moment with the pointer keeps one picture of it, and not each one on the way", async () => {
  deliver();
  view.timeline.isScrubbing = true;
  for (const second of [1, 2, 3]) {
    view.scrub(Date.parse(recording.start) + second * 1000);
    await settle();
  }
  assert.deepEqual([...urls], [view.still.src]);
  view.node.close();
  assert.equal(urls.size, 0);
});

test("the clock of a recording that plays is not read out each second", () => {
  assert.equal(view.clock.getAttribute("aria-live"), "off");
});

test("the button of the recordings has the new name of a camera that was renamed", () => {
  let node;
  const host = { device: { id: "yard", name: "Yard" }, place: (slot, one) => { node = one; } };
  const panel = recordingsPanel.make(host);
  panel.update();
  host.device = { id: "yard", name: "Garden" };
  panel.update();
  assert.equal(node.getAttribute("aria-label"), "Recordings of Garden");
});
