// The boxes of an MP4 file (ISO/IEC 14496-12, section 4.2). What does not fit into its bytes is a RangeError.

/**
 * The boxes between two places.
 * @param {DataView} view
 * @param {number} from
 * @param {number} to
 * @returns {Generator<{ type: string, from: number, content: number, to: number }>}
 */
export function* boxes(view, from, to) {
  for (let place = from; place + 8 <= to;) {
    const short = view.getUint32(place);
    const type = String.fromCharCode(...[4, 5, 6, 7].map((index) => view.getUint8(place + index)));
    const length = short === 1 ? Number(view.getBigUint64(place + 8)) : short || to - place;
    const content = place + (short === 1 ? 16 : 8);
    if (length < content - place || place + length > to) throw new RangeError(`${type} does not fit`);
    yield { type, from: place, content, to: place + length };
    place += length;
  }
}

/**
 * The first box on a path.
 * @param {DataView} view
 * @param {string[]} path
 * @param {{ content: number, to: number }} within
 */
export function box(view, path, within) {
  let found = within;
  for (const type of path) {
    const next = [...boxes(view, found.content, found.to)].find((one) => one.type === type);
    if (!next) throw new RangeError(`${type} is missing`);
    found = next;
  }
  return found;
}
