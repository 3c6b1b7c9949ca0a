import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { AccessCard } from "../../Sources/App/WebFiles/page/access.js";
import { replace, replaceDocument, restore } from "./elements.js";

let card;
let answer = () => new Response();
const refusal = (status) => () => new Response(JSON.stringify({ error: { status, message: "no" } }), { status: 403 });
beforeEach(() => {
  replaceDocument();
  replace("HTMLDetailsElement", HTMLElement);
  replace("fetch", async () => answer());
  card = new AccessCard();
  card.card.hidden = true;
});
afterEach(restore);

test("a look at the tokens that fails is known to be missing until one succeeds, or the page has forgotten all", async () => {
  answer = refusal("UNAVAILABLE");
  await assert.rejects(card.look());
  assert.equal(card.isBehind, true);
  answer = () => new Response('{"tokens": []}');
  await card.look();
  assert.deepEqual([card.isBehind, card.card.hidden], [false, false]);
  answer = refusal("UNAVAILABLE");
  await assert.rejects(card.look());
  card.hide();
  assert.equal(card.isBehind, false);
});

test("those who may not see the tokens miss nothing", async () => {
  answer = refusal("PERMISSION_DENIED");
  await card.look();
  assert.deepEqual([card.isBehind, card.card.hidden], [false, true]);
});

test("a look that fails after a sign-out is not repeated", async () => {
  answer = refusal("UNAVAILABLE");
  const look = card.look();
  card.hide();
  await assert.rejects(look);
  assert.equal(card.isBehind, false);
});
