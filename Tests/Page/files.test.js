import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const folder = new URL("../../Sources/App/WebFiles/", import.meta.url);
const embedded = readFileSync(new URL("CWebFiles.c", folder), "utf8");
const files = readdirSync(new URL("page/", folder)).filter((name) => /\.(html|css|js|svg|png|webmanifest)$/.test(name));

test("each file of the page is embedded, and served under its name", () => {
  assert.ok(files.includes("app.js"));
  for (const name of files) {
    const symbol = name.replaceAll(/[-.]/g, "_");
    // The script that runs while the page is closed is for the whole origin.
    const path = { "index.html": "/", "service-worker.js": "/service-worker.js" }[name] ?? `/assets/${name}`;
    assert.match(embedded, new RegExp(`char ${symbol}\\[\\] = \\{\\n#embed "page/${name}"\\n\\};`), name);
    assert.match(embedded, new RegExp(`\\{"${path}", "[^"]+", ${symbol},\\s+sizeof ${symbol}\\}`), name);
  }
  assert.equal(embedded.match(/#embed "page\//g).length, files.length);
});

test("what a file of the page asks for is there", () => {
  for (const name of files) {
    if (name.endsWith(".png")) continue;
    const text = readFileSync(new URL(`page/${name}`, folder), "utf8");
    const asked = [...text.matchAll(/ from "\.\/([^"]+)"|(?:src|href|icon|badge)"?(?:=|: ?)"\/assets\/([^"]+)"/g)];
    for (const [, module, asset] of asked) {
      assert.ok(files.includes(module ?? asset), `${name} asks for ${module ?? asset}`);
    }
  }
});
