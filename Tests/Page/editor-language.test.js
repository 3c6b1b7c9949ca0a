import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { replace, replaceDocument, restore } from "./elements.js";

// The page chooses its language when its modules are loaded.
let controls;
let rows;
before(async () => {
  replaceDocument();
  replace("HTMLSelectElement", document.createElement("select").constructor);
  replace("navigator", { languages: ["de-AT"] });
  replace("Option", function (words) {
    return Object.assign(document.createElement("option"), { textContent: words });
  });
  controls = await import("../../Sources/App/WebFiles/page/editor-controls.js");
  rows = await import("../../Sources/App/WebFiles/page/condition-rows.js");
});
after(restore);

test("the editor names units, days and times in the language of the page", () => {
  assert.match(controls.durationField("Dauer", "for", 60, () => {}).textContent, /Sekunden.*Minuten.*Stunden/s);
  assert.match(controls.dayFields([], () => {}).textContent, /Mo.*Di.*Mi.*Do.*Fr.*Sa.*So/s);
  const block = { kind: "condition", join: "and", seconds: null, rows: [
    { kind: "time", structure: "s1", from: { hours: 22, minutes: 0 }, to: { hours: 6, minutes: 0 } },
  ] };
  const desk = { candidates: { entityOptions: () => [] }, nameOf: () => "", placed: () => {}, hint: () => {} };
  assert.match(rows.blockFields(block, desk, false).textContent, /Von: Uhrzeit.*Bis: Uhrzeit/s);
});
