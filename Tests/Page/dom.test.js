import assert from "node:assert/strict";
import { test } from "node:test";

import { sayText } from "../../Sources/App/WebFiles/page/dom.js";
import { TestElement } from "./elements.js";

test("seconds that are counted are read out once, when they begin, and what follows is read out", () => {
  const node = new TestElement("p");
  const said = [["Live", false], ["No picture for 1 s", true], ["No picture for 2 s", true], ["No picture for 3 s", true], ["Live", false], ["No picture for 1 s", true]]
    .map(([text, isCounting]) => {
      sayText(node, text, isCounting);
      return [node.textContent, node.getAttribute("aria-live")];
    });
  assert.deepEqual(said, [["Live", "polite"], ["No picture for 1 s", "polite"], ["No picture for 2 s", "off"], ["No picture for 3 s", "off"], ["Live", "polite"],
    ["No picture for 1 s", "polite"]]);
});
