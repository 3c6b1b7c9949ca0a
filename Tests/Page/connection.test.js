import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { Connection } from "../../Sources/App/WebFiles/page/connection.js";
import { replace, replaceDocument, restore } from "./elements.js";

/** What the page was told to do, in order. */
let log = [];
let named;
let connection;
beforeEach(() => {
  ({ named } = replaceDocument());
  log = [];
  replace("fetch", async (path, { signal }) => {
    // The stream is silent until it is given up.
    if (path === "/v1/events") await new Promise((_, reject) => { signal.addEventListener("abort", reject); });
    return new Response(JSON.stringify({ name: "Gatehouse", version: "1" }));
  });
  const tell = (word) => () => log.push(word);
  connection = new Connection({}, { isUp: false }, { show: () => {}, hide: () => {} }, {
    load: async () => { log.push(named.get("home")?.hidden ? "load behind" : "load"); },
    opened: tell("opened"), found: tell("found"), changed: tell("changed"), closed: tell("closed"), replaced: () => {}, event: tell("event"),
  });
});
afterEach(() => {
  connection.stop();
  restore();
});

test("a token that another tab has changed closes the home before anything is read with it", async () => {
  await connection.open();
  const { watcher } = connection;
  log = [];
  await connection.changeToken();
  assert.deepEqual([log, watcher.isStopped, connection.isOpen], [["closed", "load behind", "opened"], true, true]);
  assert.equal(named.get("home").hidden, false);
});

test("a screen reader says once that the page connects again, however many attempts that takes", async () => {
  await connection.open();
  const node = document.getElementById("link-text");
  const said = [];
  let text = "";
  Object.defineProperty(node, "textContent", { get: () => text, set: (words) => {
    text = words;
    said.push(words);
  } });
  for (const isUp of [false, false, false, true, false]) connection.streamChanged(isUp);
  assert.deepEqual(said, ["Reconnecting", "Connected", "Reconnecting"]);
});
