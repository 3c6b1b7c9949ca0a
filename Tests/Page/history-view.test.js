import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { openHistory } from "../../Sources/App/WebFiles/page/history-view.js";
import { replace, replaceDocument, restore } from "./elements.js";

// As many rows as a list has at most.
const mostRows = 2000;
// The newest number of an item, of which each minute has brought one.
let newest = 0;
/** The addresses that pictures have. */
let urls = new Set();
let view;

function item(number, more) {
  return {
    id: `e-${number}`, kind: "Person", deviceID: "yard", timestamp: new Date(number * 60_000).toISOString(), thumbnail: `/picture/${number}`, ...more,
  };
}

// What is different about some items now.
let changes = {};

beforeEach(() => {
  replaceDocument();
  changes = {};
  urls = new Set();
  mock.method(URL, "createObjectURL", () => {
    const url = `blob:${urls.size}-${Math.random()}`;
    urls.add(url);
    return url;
  });
  mock.method(URL, "revokeObjectURL", (url) => urls.delete(url));
  replace("fetch", async (path) => {
    if (path.startsWith("/v1/history/filters")) return new Response('{"kinds": []}');
    if (!path.startsWith("/v1/history")) return new Response("picture");
    const cursor = new URLSearchParams(path.split("?")[1]).get("cursor");
    const first = cursor ? Number(cursor) : newest;
    const items = Array.from({ length: 100 }, (_, index) => item(first - index, changes[first - index]));
    return new Response(JSON.stringify({ items, cursor: String(first - 100) }));
  });
});
afterEach(() => {
  view.node.close();
  mock.restoreAll();
  restore();
});

const settle = async () => { for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate); };
const shownNumbers = () => view.list.querySelectorAll("li").map((row) => Number(view.items.get(row).id.slice(2)));
const pictures = () => view.list.querySelectorAll("img");

/**
 * Opens the history with as many rows as fit, and the pictures of the last ones.
 * @param {number} [until] the newest number
 */
async function openWhole(until = 100_000) {
  newest = until;
  view = openHistory({ tiles: new Map() }, "");
  await settle();
  while (view.rows.size < mostRows) await view.more();
  for (const picture of pictures().slice(-3)) await view.show(picture);
  assert.deepEqual([shownNumbers().at(-1), urls.size], [newest - mostRows + 1, 3]);
}

test("an open history that grows drops its oldest rows, and gives back their pictures", async () => {
  await openWhole();
  newest += 2;
  await view.grow();
  const numbers = shownNumbers();
  assert.deepEqual([numbers.length, numbers[0], numbers.at(-1)], [mostRows, newest, newest - mostRows + 1]);
  assert.deepEqual([view.rows.size, view.rows.has(`e-${newest - mostRows}`), urls.size], [mostRows, false, 1]);
});

test("a day without rows any more has no heading", async () => {
  // The list begins in the last half hour of a day.
  await openWhole(new Date(2026, 5, 1, 23, 30).getTime() / 60_000 + mostRows);
  const days = view.list.querySelectorAll("ol").length;
  newest += 60;
  await view.grow();
  assert.equal(view.rows.size, mostRows);
  const lists = view.list.querySelectorAll("ol");
  assert.ok(lists.every((one) => one.lastElementChild), "no list is empty");
  assert.deepEqual([lists.length, view.list.querySelectorAll("h3").length], [days - 1, days - 1]);
});

test("a row that is replaced gives back its picture", async () => {
  await openWhole();
  const [first] = pictures();
  await view.show(first);
  assert.equal(urls.size, 4);
  changes[newest] = { recordingID: "r1" };
  await view.grow();
  assert.deepEqual([view.rows.size, urls.size, first.isConnected], [mostRows, 3, false]);
});

test("a history that is closed gives back all pictures", async () => {
  await openWhole();
  view.node.close();
  assert.equal(urls.size, 0);
});

test("an item that changes while its button has the focus keeps it", async () => {
  newest = 100;
  changes = { 100: { recordingID: "r1" } };
  view = openHistory({ tiles: new Map() }, "");
  await settle();
  view.list.querySelectorAll("button")[0].focus();
  changes = { 100: { recordingID: "r1", clip: "/clip" } };
  newest = 101;
  await view.grow();
  const held = document.activeElement;
  assert.deepEqual([held.isConnected, held.tag, shownNumbers().slice(0, 2)], [true, "button", [101, 100]]);
  assert.equal(held, view.list.querySelectorAll("button")[0]);
});

test("somebody who leaves the list open overnight may choose the day that has begun", (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: new Date(2026, 5, 1, 23, 59) });
  view = openHistory({ tiles: new Map() }, "");
  assert.equal(view.date.max, "2026-06-01");
  context.mock.timers.setTime(new Date(2026, 5, 2, 0, 1).getTime());
  view.date.listeners.get("focus")();
  assert.equal(view.date.max, "2026-06-02");
});
