// Bytes of the largest picture, and of the lines before it.
const mostBytes = 16 << 20;
const mostLines = 4096;

/** Takes the pictures out of a series (`multipart/x-mixed-replace`), wherever the bytes are cut. */
export class SeriesParser {
  constructor() {
    this.rest = new Uint8Array(0);
  }

  /**
   * The pictures that are whole now.
   * @param {Uint8Array} bytes
   * @returns {Generator<Uint8Array, void>}
   * @throws {RangeError} if a part states no length, or one that no picture has
   */
  *take(bytes) {
    const all = new Uint8Array(this.rest.length + bytes.length);
    all.set(this.rest);
    all.set(bytes, this.rest.length);
    let place = 0;
    for (;;) {
      const head = new TextDecoder("latin1").decode(all.subarray(place, place + mostLines));
      const lines = head.indexOf("\r\n\r\n");
      if (lines < 0) {
        if (head.length === mostLines) throw new RangeError("the lines of a part have no end");
        break;
      }
      const length = Number(/^content-length: *(\d+)/im.exec(head.slice(0, lines))?.[1] ?? NaN);
      if (!(length <= mostBytes)) throw new RangeError("a part states no length, or one that is too long");
      const begin = place + lines + 4;
      if (begin + length > all.length) break;
      yield all.slice(begin, begin + length);
      place = begin + length;
    }
    this.rest = all.slice(place);
  }
}
