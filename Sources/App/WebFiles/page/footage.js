/**
 * Which parts of recordings a player needs next: decisions without a browser. Times are milliseconds since 1970.
 *
 * @typedef {import("./types").FootagePart} FootagePart
 * @typedef {import("./types").FootageTrack} FootageTrack
 * @typedef {import("./types").FootageSegment} FootageSegment
 */

/** @typedef {"video" | "audio"} Kind */

/**
 * One segment, and what its player has to know.
 * @typedef {object} Piece
 * @property {string} key names it
 * @property {Kind} kind
 * @property {number} from
 * @property {number} until
 * @property {string} initialization where its track's header is
 * @property {string} media where it is
 * @property {string} type the media type, with the codec, that it is played as
 * @property {number} origin when the recording's time 0 was captured
 */

/**
 * The media type of a track with its codec.
 * @param {FootageTrack} track
 */
export function typeOf(track) { return `${track.kind}/mp4; codecs="${track.codec}"`; }

/**
 * All segments of some footage, in the order of time.
 * @param {FootagePart[]} parts
 * @param {(type: string) => string | undefined} played the type that the browser plays a type as; what it does not play is
 *   left out
 * @returns {Piece[]}
 */
export function piecesOf(parts, played) {
  /** @type {Piece[]} */
  const pieces = [];
  for (const part of parts) {
    const tracks = new Map(part.tracks.map((track) => [track.name, track]));
    const [from, until] = [Date.parse(part.start), Date.parse(part.end)];
    for (const segment of part.segments) {
      const track = tracks.get(segment.track);
      const type = track && segment.isComplete ? played(typeOf(track)) : undefined;
      if (!track || !type) continue;
      const start = part.originMilliseconds + segment.decodeTime * 1000 / track.timescale;
      const end = start + segment.durationSeconds * 1000;
      if (end <= from || start >= until) continue;
      pieces.push({
        key: segment.media, kind: track.kind, from: start, until: end, initialization: track.initialization,
        media: segment.media, type, origin: part.originMilliseconds,
      });
    }
  }
  return pieces.sort((one, other) => one.from - other.from);
}

/**
 * Whether there are pictures, and none of them in a format that is played. A recording that has just begun has sound for a
 * moment before its first segment of pictures is complete.
 * @param {FootagePart[]} parts
 * @param {(type: string) => string | undefined} played what a type is played as
 */
export function hasOnlyUnplayablePictures(parts, played) {
  let isUnplayable = false;
  for (const { tracks, segments } of parts) {
    for (const track of tracks) {
      if (track.kind !== "video" || !segments.some((one) => one.track === track.name && one.isComplete)) continue;
      if (played(typeOf(track))) return false;
      isUnplayable = true;
    }
  }
  return isUnplayable;
}

/**
 * The next segment to fetch for a position: the first that is not there yet and begins soon enough. Pictures come
 * before the sound of the same time.
 * @param {Piece[]} pieces in the order of time
 * @param {ReadonlySet<string>} there the keys of those that were fetched
 * @param {number} position
 * @param {number} ahead how much is fetched before it is needed
 * @returns {Piece | undefined}
 */
export function nextPiece(pieces, there, position, ahead) {
  const wanted = pieces.filter((one) => !there.has(one.key) && one.until > position && one.from < position + ahead);
  return wanted.sort((one, other) => {
    const difference = one.from - other.from;
    if (Math.abs(difference) > 500) return difference;
    return (one.kind === "video" ? 0 : 1) - (other.kind === "video" ? 0 : 1) || difference;
  })[0];
}

/**
 * Where a player that stands at a place without footage goes on: at the beginning of the next range that is there.
 * Undefined while nothing has to be skipped.
 * @param {{ start: number, end: number }[]} ranges what was buffered, in seconds
 * @param {number} position in seconds
 * @returns {number | undefined}
 */
export function skipTarget(ranges, position) {
  // A little is missing at the end of a range, because sound and pictures end at different times.
  if (ranges.some(({ start, end }) => position >= start && position < end - 0.15)) return undefined;
  const next = ranges.map(({ start }) => start).filter((start) => start > position)
    .sort((one, other) => one - other)[0];
  return next === undefined ? undefined : next + 0.01;
}
