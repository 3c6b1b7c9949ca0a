import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { happeningPanel } from "../../Sources/App/WebFiles/page/happening.js";
import { replaceDocument, restore } from "./elements.js";

beforeEach(() => {
  replaceDocument();
  mock.timers.enable({ apis: ["Date"], now: new Date(2026, 5, 1, 23, 59, 30) });
});
afterEach(() => {
  mock.timers.reset();
  restore();
});

test("what happened last gets its date when the day is over, even if nothing happens", () => {
  let line;
  const panel = happeningPanel.make({ device: { endpoints: [] }, place: (_, node) => { line = node; } });
  panel.event("Person", { timestamp: new Date(2026, 5, 1, 14, 30).toISOString() });
  const today = line.textContent;
  assert.doesNotMatch(today, /Jun/);
  panel.tick(true);
  assert.equal(line.textContent, today);
  mock.timers.setTime(new Date(2026, 5, 2, 0, 0, 1).getTime());
  panel.tick(true);
  assert.match(line.textContent, /Jun/);
});
