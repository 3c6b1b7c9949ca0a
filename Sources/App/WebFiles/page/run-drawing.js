import { element } from "./dom.js";
import { momentElement } from "./moments.js";
import { entryWords, pathOf } from "./run-path.js";
import { t } from "./text.js";

/**
 * @typedef {import("./run-path.js").PathItem} PathItem
 * @typedef {import("./run-path.js").Status} Status
 */

/**
 * What became of a node, for those who do not see its colour.
 * @type {Record<Status, string>}
 */
const statusWords = { passed: t("runDrawing.passed"), ended: t("runDrawing.endedHere"), failed: t("runDrawing.failed"), waiting: t("runDrawing.waiting"), skipped: t("runDrawing.notReached") };

/**
 * The path of a run as a vertical flow, and the same as text.
 * @param {import("./types").Automation} automation
 * @param {import("./types").Run} run with its entries
 * @param {import("./automation-words.js").NameOf} nameOf
 */
export function drawRun(automation, run, nameOf) {
  const entries = run.entries ?? [];
  // Steps of another graph at the same places would be drawn as if the run had been there.
  const { items, rest } = pathOf(run.hasOtherGraph ? null : automation.automationGraph, entries, nameOf);
  const node = element("div", "run-path");
  if (rest.length > 0) {
    node.append(element("p", "recordings-message",
      run.hasOtherGraph ? t("runDrawing.hasOtherSteps") : t("runDrawing.hasChanged")));
  }
  node.append(flow(items));
  const lines = entries.map((entry) => element("li", "", momentElement(entry.at), ` ${entryWords(entry)}`));
  const text = element("details", "more", element("summary", "", t("runDrawing.asText")), element("ol", "run-text", ...lines));
  text.open = rest.length > 0;
  node.append(text);
  return node;
}

/** @param {PathItem[]} items */
function flow(items) { return element("ol", "flow", ...items.map((item) => step(item))); }

/** @param {PathItem} item */
function step({ words, status, at, details, branches }) {
  const state = element("small", "", ` (${statusWords[status]}`, ...(at ? [", ", momentElement(at)] : []), ")");
  const node = element("li", "", element("div", "flow-step", element("span", "", words), state,
    ...details.map((text) => element("p", "", text))));
  node.dataset["status"] = status;
  for (const { label, items } of branches) {
    node.append(element("div", "flow-branch", ...(label ? [element("h4", "", label)] : []), flow(items)));
  }
  return node;
}
