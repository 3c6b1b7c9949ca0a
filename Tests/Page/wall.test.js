import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { Wall } from "../../Sources/App/WebFiles/page/wall.js";
import { replaceDocument, restore } from "./elements.js";

let cameras = [];
let wall;
const camera = (id) => ({ id, name: id, type: "C", endpoints: [], connectivityState: "online", source: { state: "flowing", tracks: [{ kind: "audio" }] } });

beforeEach(() => {
  replaceDocument();
  cameras = ["yard", "hall"].map(camera);
  wall = new Wall([], {
    page: { gateway: {}, link: { isUp: true } }, snapshots: { add: () => {}, remove: () => {} }, cameras: () => cameras, leave: () => {},
  });
  wall.update();
});
afterEach(restore);

const heard = () => [...wall.cells.values()].filter(({ isHeard }) => isHeard).map(({ device }) => device);

/** A camera goes away and comes back; meanwhile an action may happen. */
function goAndCome(id, meanwhile = () => {}) {
  const all = cameras;
  cameras = all.filter((one) => one.id !== id);
  wall.update();
  meanwhile();
  cameras = all;
  wall.update();
}

test("a camera of the wall that comes back is heard if it was heard before", () => {
  goAndCome("yard");
  assert.deepEqual(heard(), []);
  wall.hear(wall.cells.get("yard"));
  goAndCome("yard");
  assert.deepEqual(heard(), ["yard"]);
  goAndCome("hall");
  assert.deepEqual(heard(), ["yard"]);
});

test("a camera of the wall that comes back does not take the sound from the one that is heard by now", () => {
  wall.hear(wall.cells.get("yard"));
  goAndCome("yard", () => wall.hear(wall.cells.get("hall")));
  assert.deepEqual(heard(), ["hall"]);
  wall.hear(wall.cells.get("hall"));
  goAndCome("yard");
  assert.deepEqual(heard(), []);
});
