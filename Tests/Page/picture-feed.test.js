import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { APIError } from "../../Sources/App/WebFiles/page/api.js";
import { PictureFeed } from "../../Sources/App/WebFiles/page/picture-feed.js";
import { SeriesParser } from "../../Sources/App/WebFiles/page/picture-series.js";

const encode = (text) => new TextEncoder().encode(text);
const part = (body) => `--gatehouse\r\nContent-Type: image/jpeg\r\nContent-Length: ${body.length}\r\n\r\n${body}\r\n`;

test("a series is read wherever it is cut", () => {
  const bytes = encode(["one", "", "three \r\n\r\n--gatehouse", "4"].map(part).join(""));
  for (let size = 1; size <= bytes.length; size += 1) {
    const parser = new SeriesParser();
    const found = [];
    for (let place = 0; place < bytes.length; place += size) {
      for (const picture of parser.take(bytes.subarray(place, place + size))) found.push(new TextDecoder().decode(picture));
    }
    assert.deepEqual(found, ["one", "", "three \r\n\r\n--gatehouse", "4"], String(size));
  }
});

test("a response that is not a series ends, and does not fill the memory", () => {
  const read = (text) => [...new SeriesParser().take(encode(text))];
  assert.throws(() => read("--gatehouse\r\nContent-Type: image/jpeg\r\n\r\n..."), RangeError);
  assert.throws(() => read("Content-Length: 99999999\r\n\r\n"), RangeError);
  assert.throws(() => read("x".repeat(5000)), RangeError);
});

/** The addresses of pictures that are not given back. */
let open = new Set();
const original = { create: URL.createObjectURL, revoke: URL.revokeObjectURL };
beforeEach(() => {
  open = new Set();
  let count = 0;
  URL.createObjectURL = () => {
    const url = `blob:${count += 1}`;
    open.add(url);
    return url;
  };
  URL.revokeObjectURL = (url) => open.delete(url);
});
afterEach(() => Object.assign(URL, { createObjectURL: original.create, revokeObjectURL: original.revoke }));

/** Shows pictures; resolves with what the view was told, and what was decoded. */
function feed(source, decode = async () => {}) {
  return new Promise((resolve) => {
    const told = [];
    const image = { src: "", decode, removeAttribute: () => { image.src = ""; } };
    const made = new PictureFeed(source, image, {
      began: () => told.push("began"), shown: () => told.push(image.src), ended: (error) => resolve({ told, error, made, image }),
    });
  });
}

async function* pictures(count, age = 0) {
  for (let index = 0; index < count; index += 1) yield { blob: new Blob([]), age };
}

test("pictures are shown one after the other, and given back", async () => {
  const { told, error, made, image } = await feed(() => pictures(3));
  assert.deepEqual(told, ["began", "blob:1", "blob:2", "blob:3"]);
  assert.deepEqual([error, made.frames, image.src, open.size], [null, 3, "", 0]);
});

test("a feed knows when a picture came last", async () => {
  let now = 1000;
  mock.method(performance, "now", () => now);
  const { made } = await feed(async function* series() {
    now = 2000;
    yield* pictures(1);
    now = 3000;
  });
  assert.equal(made.heardAt, 2000);
  mock.restoreAll();
});

test("an old picture is shown, and is not live", async () => {
  const { told, made } = await feed(() => pictures(2, 6000));
  assert.deepEqual([told, made.frames], [["began"], 2]);
});

test("a damaged picture is left out", async () => {
  let count = 0;
  const { told, made } = await feed(() => pictures(3), async () => { if ((count += 1) === 2) throw new DOMException("", "EncodingError"); });
  assert.deepEqual([told, made.frames, open.size], [["began", "blob:1", "blob:3"], 2, 0]);
});

test("the end says why", async () => {
  const refusal = new APIError("FAILED_PRECONDITION", "yard is switched off");
  const { error } = await feed(async function* series() { yield* pictures(1); throw refusal; });
  assert.equal(error, refusal);
  const damaged = await feed(async function* series() { yield* pictures(0); throw new RangeError("no length"); });
  assert.deepEqual([damaged.error.status, damaged.error.details], ["UNAVAILABLE", "no length"]);
});

test("a feed that was closed says nothing more", async () => {
  const told = [];
  let given = () => {};
  const image = { src: "", decode: async () => {}, removeAttribute: () => { image.src = ""; } };
  let signal;
  const made = new PictureFeed(async function* series(given_) {
    signal = given_;
    await new Promise((resolve) => { given = resolve; });
    yield* pictures(1);
  }, image, { began: () => told.push("began"), shown: () => told.push("shown"), ended: () => told.push("ended") });
  made.close();
  assert.equal(signal.aborted, true);
  given();
  await new Promise((resolve) => { setImmediate(resolve); });
  assert.deepEqual([told, open.size], [[], 0]);
});
