import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { replace, replaceDocument, restore } from "./elements.js";

// The page chooses its language when its modules are loaded.
let SignInForm;
before(async () => {
  replaceDocument();
  replace("navigator", { languages: ["de"], onLine: true });
  ({ SignInForm } = await import("../../Sources/App/WebFiles/page/sign-in.js"));
});
after(restore);

test("somebody who mistypes their password reads that in the language of the page, and why else they wait in the gateway's words", async () => {
  const form = new SignInForm(() => assert.fail("nobody is signed in"));
  const submit = async (status, message) => {
    replace("fetch", async () => Response.json({ error: { status, message } }, { status: 400 }));
    [form.name.value, form.token.value] = ["Ana", "mistyped"];
    await form.form.listeners.get("submit")({ preventDefault() {} });
    return [form.fault.textContent, form.fault.hidden, form.name.value, form.token.value];
  };
  assert.deepEqual(await submit("UNAUTHENTICATED", "the name or the password is wrong"), ["Der Name oder das Passwort ist falsch.", false, "Ana", ""]);
  assert.equal((await submit("RESOURCE_EXHAUSTED", "try again in 5 s"))[0], "try again in 5 s");
});
