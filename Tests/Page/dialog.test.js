import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { lineForm, openDialog } from "../../Sources/App/WebFiles/page/dialog.js";
import { replaceDocument, restore, TestElement } from "./elements.js";

let node;
let closings = 0;
beforeEach(() => {
  replaceDocument();
  closings = 0;
  ({ node } = openDialog("Camera", "camera", () => { closings += 1; }));
});
afterEach(restore);

/** A press that begins at one element and ends at another: a browser reports the click at what both are in. */
function press(from, to) {
  node.listeners.get("pointerdown")({ target: from });
  node.listeners.get("click")({ target: from === to ? from : node });
}

test("a press beside a dialog closes it", () => {
  press(node, node);
  assert.deepEqual([closings, node.isConnected], [1, false]);
});

test("a press that begins beside a dialog and ends elsewhere does not make the next button close it", () => {
  node.listeners.get("pointerdown")({ target: node });
  // The keyboard presses a button without a pointer.
  node.listeners.get("click")({ target: new TestElement("button") });
  assert.deepEqual([closings, node.isConnected], [0, true]);
});

test("a press in a dialog does not close it, even if it ends beside the dialog", () => {
  const field = new TestElement("input");
  press(field, field);
  press(field, node);
  assert.deepEqual([closings, node.isConnected], [0, true]);
});

test("a double press in a form with one field does it once, and a later press does it again", async () => {
  const done = [];
  let finish = () => {};
  const form = lineForm({ label: "New room", value: " Hall ", button: "Add", run: (name) => {
    done.push(name);
    return new Promise((resolve) => { finish = resolve; });
  } });
  const submit = () => form.listeners.get("submit")({ preventDefault() {} });
  const first = submit();
  submit();
  assert.deepEqual(done, ["Hall"]);
  finish();
  await first;
  submit();
  assert.deepEqual(done, ["Hall", "Hall"]);
});
