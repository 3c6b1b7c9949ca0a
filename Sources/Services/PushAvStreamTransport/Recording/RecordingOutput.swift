import Foundation
import Transport

/// What a recorder produces, in this order: `began`, then chunks and ends of segments of all tracks, then `ended`.
public enum RecordingOutput: Equatable, Sendable {
    /// A session has begun.
    case began(RecordingSession)
    /// A chunk of a track.
    case chunk(RecordedChunk)
    /// A segment is complete: all of its chunks have come.
    case segmentEnded(RecordedSegment)
    /// Nothing was recorded for a time, within the session.
    case gap(RecordingGap)
    /// The trigger was extended, or another event belongs to the session.
    case trigger(RecordingSession.Trigger)
    /// The session has ended.
    case ended(RecordingEnd)
}

/// One CMAF chunk: `prft`, `moof` and `mdat`, and `styp` before the first of a segment.
public struct RecordedChunk: Equatable, Sendable {
    /// The index of its track in ``RecordingSession/tracks``.
    public var track: Int
    /// The number of its segment in the track, from 1.
    public var segment: UInt32
    /// Whether it begins its segment.
    public var beginsSegment: Bool
    /// The decode time of its first sample, and how long it lasts, in the track's timescale. Times begin at 0 with the
    /// session.
    public var decodeTime: Int64
    public var duration: Int64
    /// When its first sample was captured, in microseconds since 1970, UTC.
    public var wallTime: Int64
    /// The same on the monotonic clock; nil if it is no longer known.
    public var captured: Instant?
    /// Whether it begins with a picture that can be shown without others.
    public var beginsWithKeyFrame: Bool
    /// The bytes.
    public var bytes: [UInt8]

    /// Makes a chunk.
    public init(
        track: Int, segment: UInt32, beginsSegment: Bool, decodeTime: Int64, duration: Int64, wallTime: Int64,
        captured: Instant? = nil, beginsWithKeyFrame: Bool, bytes: [UInt8]
    ) {
        self.track = track
        self.segment = segment
        self.beginsSegment = beginsSegment
        self.decodeTime = decodeTime
        self.duration = duration
        self.wallTime = wallTime
        self.captured = captured
        self.beginsWithKeyFrame = beginsWithKeyFrame
        self.bytes = bytes
    }
}

/// A complete segment.
public struct RecordedSegment: Equatable, Sendable {
    /// The index of its track.
    public var track: Int
    /// Its number in the track, from 1.
    public var segment: UInt32
    /// The decode time of its first sample, and how long it lasts, in the track's timescale.
    public var decodeTime: Int64
    public var duration: Int64

    /// Describes a segment.
    public init(track: Int, segment: UInt32, decodeTime: Int64, duration: Int64) {
        self.track = track
        self.segment = segment
        self.decodeTime = decodeTime
        self.duration = duration
    }
}

/// A time for which nothing was recorded.
public struct RecordingGap: Codable, Equatable, Sendable {
    /// Why nothing was recorded.
    public enum Reason: String, Codable, Sendable {
        /// The camera was away, or sent nothing.
        case cameraAway
        /// The recorder was too slow, and packets were left out.
        case overload
        /// Packets were lost between camera and gateway.
        case loss
        /// The disk took no more.
        case storageFull
    }

    /// From when, and until when, in microseconds since 1970, UTC.
    public var from: Int64
    public var until: Int64
    /// Why.
    public var reason: Reason

    /// Describes a gap.
    public init(from: Int64, until: Int64, reason: Reason) {
        self.from = from
        self.until = until
        self.reason = reason
    }
}

/// How a session ended.
public struct RecordingEnd: Codable, Hashable, Sendable {
    /// Why a session ends.
    public enum Reason: String, Codable, Sendable {
        /// Its length was reached.
        case lengthReached
        /// A long session is cut, and the next one follows without a gap.
        case cut
        /// The connection became inactive.
        case inactive
        /// A privacy switch was set.
        case privacy
        /// The camera went away for longer than a session waits.
        case cameraAway
        /// The camera's format changed; the next session follows.
        case formatChanged
        /// The disk is full.
        case storageFull
        /// The disk reported an error.
        case storageFailed
        /// The store did not accept the session. Another attempt gets the same answer until something is changed.
        case storageRefused
        /// The connection was deallocated, or its device was removed.
        case removed
        /// The gateway stops.
        case gatewayStopped
        /// The gateway ended without a word: found when it started again.
        case interrupted
    }

    /// When, in microseconds since 1970, UTC.
    public var at: Int64
    /// Why.
    public var reason: Reason

    /// Describes an end.
    public init(at: Int64, reason: Reason) {
        self.at = at
        self.reason = reason
    }
}

/// Takes what a recorder produces. The local store is one; it hands on to the queue of uploads what it has written.
public protocol RecordingSink: Sendable {
    /// Takes the next output of a session. It is called on the recorder's thread, and may wait for the disk. When it
    /// returns from a chunk, the chunk is on the disk as durably as the store's policy says.
    /// - Throws: ``RecordingFault`` when it cannot be kept. The recorder then ends the session.
    func take(_ output: RecordingOutput, of session: RecordingSession.ID) throws(RecordingFault)
}
