import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { openRecordings } from "../../Sources/App/WebFiles/page/recordings.js";
import { replace, replaceDocument, restore } from "./elements.js";

/** The addresses that are not given back. */
let urls = new Set();
/** Lets the pictures that were asked for come. */
let deliver = () => {};
let view;

const day = new Date().toISOString().slice(0, 10);
const recording = {
  id: "r1", deviceID: "yard", start: `${day}T12:00:00Z`, end: `${day}T12:01:00Z`, durationSeconds: 60,
  trigger: { kind: "motion", at: `${day}T12:00:10Z` }, spans: [],
};

beforeEach(async () => {
  replaceDocument();
  urls = new Set();
  mock.method(URL, "createObjectURL", () => {
    urls.add(`blob:${urls.size}`);
    return `blob:${urls.size - 1}`;
  });
  mock.method(URL, "revokeObjectURL", (url) => urls.delete(url));
  const delivered = new Promise((resolve) => { deliver = resolve; });
  replace("fetch", async (path) => {
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
