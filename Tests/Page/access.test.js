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

test("an error is not shown to the next person", async () => {
  let fail;
  const attempt = card.attempt(() => new Promise((_, reject) => { fail = reject; }));
  card.hide();
  fail(new Error("Grandma cannot be changed"));
  await attempt;
  assert.deepEqual([card.fault.hidden, card.fault.textContent], [true, ""]);
  await card.attempt(async () => { throw new Error("choose a scope"); });
  assert.deepEqual([card.fault.hidden, card.fault.textContent], [false, "choose a scope"]);
});

test("what comes after a sign-out is neither shown nor kept for the next person", async () => {
  const places = { structures: [{ id: "s1", name: "The lake house" }], devices: [{ id: "yard", name: "The cellar" }] };
  const tokens = { tokens: [{ id: "t1", name: "Grandma", grants: [], createdBy: "owner" }] };
  const all = { ...places, ...tokens, name: "Phone", token: "gatehouse_secret" };
  // The text of an option is the name of its element here.
  const shown = () => `${card.list.textContent}${card.made.textContent}${card.rows.node.querySelectorAll("The cellar").map(({ name }) => name)}`;
  answer = () => Response.json(all);
  await card.load();
  card.edit(null);
  card.name.value = "Phone";
  card.password.value = "correct horse";
  assert.match(shown(), /Grandma.*The cellar/s);
  card.hide();
  assert.deepEqual([shown(), card.name.value, card.password.value], ["", "", ""]);
  for (const run of [() => card.load(), () => card.save()]) {
    let respond = () => {};
    const responded = new Promise((resolve) => { respond = resolve; });
    answer = async () => {
      await responded;
      return Response.json(all);
    };
    const late = run();
    card.hide();
    respond();
    await assert.rejects(late, { status: "ABORTED" });
    assert.equal(shown(), "");
  }
  // A refusal for the person before does not hide the card of the next.
  let refuse = () => {};
  answer = () => new Promise((resolve) => { refuse = () => resolve(refusal("PERMISSION_DENIED")()); });
  const late = card.look();
  card.hide();
  answer = () => Response.json(all);
  await card.look();
  refuse();
  await late;
  assert.equal(card.card.hidden, false);
});

test("the secret of a token is shown even if the list of tokens cannot be read", async () => {
  let isMade = false;
  answer = () => {
    if (isMade) return refusal("UNAVAILABLE")();
    isMade = true;
    return Response.json({ name: "Phone", token: "gatehouse_secret" });
  };
  card.edit(null);
  await card.attempt(() => card.save());
  assert.match(card.made.textContent, /gatehouse_secret/);
  assert.deepEqual([card.made.hidden, card.fault.hidden], [false, false]);
});
