/// A segment of a recording that a privacy switch has discarded. It stays in the local store, and is never uploaded.
public struct DiscardedSegment: Codable, Hashable, Sendable {
    /// The index of its track.
    public var track: Int
    /// Its number in the track, from 1.
    public var number: UInt32

    /// Names a segment.
    public init(track: Int, number: UInt32) {
        self.track = track
        self.number = number
    }

    /// Names a segment of the queue.
    init(_ segment: UploadSegment) {
        self.init(track: segment.track, number: segment.number)
    }
}

extension DiscardedSegment: Comparable {
    public static func < (left: DiscardedSegment, right: DiscardedSegment) -> Bool {
        (left.track, left.number) < (right.track, right.number)
    }
}
