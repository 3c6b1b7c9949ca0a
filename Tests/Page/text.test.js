import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { de } from "../../Sources/App/WebFiles/page/text-de.js";
import { en } from "../../Sources/App/WebFiles/page/text-en.js";
import { known, languageFor, t } from "../../Sources/App/WebFiles/page/text.js";

const blanks = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join();

test("both languages have the same texts, with the same blanks", () => {
  assert.deepEqual(Object.keys(de), Object.keys(en));
  for (const key of Object.keys(en)) {
    assert.equal(blanks(de[key]), blanks(en[key]), key);
    for (const table of [en, de]) assert.ok(table[key].trim() !== "", key);
  }
});

test("the keys are in order, so that each is written once and is found", () => {
  const keys = Object.keys(en);
  assert.deepEqual(keys, [...keys].sort());
});

test("a browser's language is used if the page has it, and the choice of a person before it", () => {
  assert.equal(languageFor(null, ["de-AT", "en"]), "de");
  assert.equal(languageFor(null, ["fr", "DE", "en"]), "de");
  assert.equal(languageFor(null, ["fr"]), "en");
  assert.equal(languageFor(null, []), "en");
  assert.equal(languageFor("en", ["de"]), "en");
  assert.equal(languageFor("tlh", ["de"]), "de");
});

test("a text is filled in, whatever is in what fills it", () => {
  assert.equal(t("camera.added", { name: "$& {name} \\1" }), "$& {name} \\1 was added.");
  assert.equal(t("camera.added", {}), " was added.");
  assert.equal(known("camera.add"), "Add a camera");
  assert.equal(known("toString"), null);
});

const folder = new URL("../../Sources/App/WebFiles/page/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), "utf8");
const names = readdirSync(folder);

test("each text is used, and what is used is there", () => {
  const used = new Set();
  const stems = [];
  for (const name of names.filter((one) => /\.(js|html)$/.test(one) && !one.startsWith("text"))) {
    const text = read(name);
    for (const [, key] of text.matchAll(/"([a-z]\w*(?:\.[\w-]+)*)"/gi)) used.add(key);
    for (const [, stem] of text.matchAll(/`([a-z]\w*(?:\.\w+)*\.)\$\{/gi)) stems.push(stem);
    for (const [, key] of text.matchAll(/\bt\("([^"]+)"/g)) assert.ok(Object.hasOwn(en, key), `${name}: ${key}`);
    for (const [, key] of text.matchAll(/data-(?:text|label|placeholder)="([^"]+)"/g)) {
      assert.ok(Object.hasOwn(en, key), `${name}: ${key}`);
      used.add(key);
    }
  }
  const isUsed = (key) => used.has(key) || used.has(key.replace(/\.(one|many)$/, "")) || stems.some((stem) => key.startsWith(stem));
  assert.deepEqual(Object.keys(en).filter((key) => !isUsed(key)), []);
});

test("the English of a document is that of the table", () => {
  for (const name of names.filter((one) => one.endsWith(".html"))) {
    for (const [, key, text] of read(name).matchAll(/data-text="([^"]+)"[^>]*>([^<]*)</g)) {
      assert.equal(text.replaceAll(/\s+/g, " ").trim(), en[key], `${name}: ${key}`);
    }
    for (const [, text, key] of read(name).matchAll(/placeholder="([^"]*)"\s+data-placeholder="([^"]+)"/g)) assert.equal(text, en[key]);
  }
});

// Words of the gateway, of the browser and of the wire, which nobody reads.
const words = new Set(["Bearer", "Escape", "Esc", "Scheduled", "Time", "Thermostat", "Volume", "Chime", "Gatehouse",
  "Notification", "Auto", "Low", "Med", "Switch"]);
const sentence = /(^| )(the|is|are|was|of|not|no|and|with|from|until|has|have|this)( |[.,:?!]|$)/;

/** The literals of a module, without its comments and what it imports. */
function literals(text) {
  const found = [];
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "").replaceAll(/^import [^;]*;$/gm, "");
  for (const [, double, template] of code.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)) {
    found.push(double ?? template.replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, "\u0001"));
  }
  return found;
}

test("no module but the tables has a text of its own", () => {
  const wrong = [];
  // Faults of the page's own code or of bytes, for its developers.
  const forDevelopers = new Set(["webm.js", "mp4-boxes.js", "picture-series.js", "panels.js", "dom.js", "service-worker.js", "loading.js"]);
  for (const name of names.filter((one) => one.endsWith(".js") && !one.startsWith("text") && !forDevelopers.has(one))) {
    for (const literal of literals(read(name))) {
      const plain = literal.replaceAll("\u0001", "").trim();
      const isWord = /^[A-Z][a-z’]+( [a-z’]+)*[.?!…:]?$/.test(plain) && !words.has(plain);
      if ((isWord || (sentence.test(plain) && / /.test(plain))) && !/^it is switched off$|^is switched off$/.test(plain)) {
        wrong.push(`${name}: ${literal}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});
