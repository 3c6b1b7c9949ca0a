import assert from "node:assert/strict";
import { test } from "node:test";

import { moved, transformOf, unzoomed, zoomedAt } from "../../Sources/App/WebFiles/page/zoom.js";

/** Where a point of the picture is in its frame, from the middle. */
const placeOf = (zoom, point) => ({ x: point.x * zoom.scale + zoom.x, y: point.y * zoom.scale + zoom.y });

test("zooming keeps what is under the pointer where it is", () => {
  const point = { x: 0.3, y: -0.2 };
  const once = zoomedAt(unzoomed, 2, point);
  const seen = placeOf(once, point);
  assert.ok(Math.abs(seen.x - point.x) < 1e-9 && Math.abs(seen.y - point.y) < 1e-9);
  // Again, at another place.
  const other = { x: -0.1, y: 0.4 };
  const inPicture = { x: (other.x - once.x) / once.scale, y: (other.y - once.y) / once.scale };
  const twice = zoomedAt(once, 1.5, other);
  assert.ok(Math.abs(placeOf(twice, inPicture).x - other.x) < 1e-9);
});

test("the edges of the picture never come into its frame", () => {
  const zoom = moved(zoomedAt(unzoomed, 3), 5, -5);
  assert.deepEqual(zoom, { scale: 3, x: 1, y: -1 });
  // Zoomed out again, the picture is back in the middle.
  assert.deepEqual(zoomedAt(zoom, 0.01), unzoomed);
  assert.deepEqual(moved(unzoomed, 0.2, 0.2), unzoomed);
});

test("a picture is enlarged eight times at most", () => {
  assert.equal(zoomedAt(zoomedAt(unzoomed, 6), 6).scale, 8);
});

test("a whole picture has no transform", () => {
  assert.equal(transformOf(unzoomed), "");
  assert.equal(transformOf({ scale: 2, x: 0.5, y: -0.25 }), "translate(50.000%, -25.000%) scale(2.0000)");
});
