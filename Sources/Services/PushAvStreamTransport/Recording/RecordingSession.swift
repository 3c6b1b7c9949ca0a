import Foundation

/// One recording: what a connection records from a trigger to its end. It has one description of its tracks; when the
/// camera changes its format, a new session begins.
public struct RecordingSession: Codable, Equatable, Sendable {
    /// The session's name: unique in the home, and ordered by start within a device.
    public struct ID: Codable, Hashable, Sendable {
        /// The device's minted id.
        public var device: String
        /// The start in milliseconds since 1970, UTC.
        public var start: Int64
        /// The epoch of the tenure under which the gateway records the device. It rises with each start of the gateway,
        /// also when the clock was set back.
        public var epoch: UInt64
        /// Counts the sessions of the device within the epoch, from 1.
        public var sequence: UInt32

        /// Names a session.
        public init(device: String, start: Int64, epoch: UInt64, sequence: UInt32) {
            self.device = device
            self.start = start
            self.epoch = epoch
            self.sequence = sequence
        }
    }

    /// Why it was recorded.
    public struct Trigger: Codable, Hashable, Sendable {
        /// What kind of trigger began it (Matter `TransportTriggerTypeEnum`).
        public enum Kind: String, Codable, Sendable { case command, motion, continuous }

        /// The kind.
        public var kind: Kind
        /// In words for the owner, for example "press of the button" or "motion in Driveway".
        public var reason: String
        /// The ids of the events that it belongs to, in the order in which they happened.
        public var events: [String]

        /// Makes a trigger.
        public init(kind: Kind, reason: String, events: [String] = []) {
            self.kind = kind
            self.reason = reason
            self.events = events
        }
    }

    /// One of its tracks. Each track is a CMAF track of its own (ISO/IEC 23000-19).
    public struct Track: Codable, Equatable, Sendable {
        /// The track's name in paths, 1 to 16 characters: the CMAF track name.
        public var name: String
        /// Whether it is video.
        public var isVideo: Bool
        /// The codec as in RFC 6381, for example `avc1.64001F`.
        public var codec: String
        /// Ticks of the track's times in a second.
        public var timescale: Int
        /// The CMAF header: `ftyp` and `moov`.
        public var initializationSegment: Data
        /// Width and height in pixels; nil for sound.
        public var width: Int?
        public var height: Int?

        /// Describes a track.
        public init(
            name: String, isVideo: Bool, codec: String, timescale: Int, initializationSegment: Data,
            width: Int? = nil, height: Int? = nil
        ) {
            self.name = name
            self.isVideo = isVideo
            self.codec = codec
            self.timescale = timescale
            self.initializationSegment = initializationSegment
            self.width = width
            self.height = height
        }
    }

    /// Its name.
    public var id: ID
    /// The connection that it belongs to.
    public var connection: UInt16
    /// The number of the CMAF session, which is in the paths of uploads. Connections of one session group share it.
    public var number: UInt64
    /// Why it was recorded.
    public var trigger: Trigger
    /// When the trigger came, in milliseconds since 1970, UTC. With a pre-roll it is later than the start.
    public var triggeredAt: Int64
    /// Its tracks, pictures first.
    public var tracks: [Track]

    /// Describes a session.
    public init(
        id: ID, connection: UInt16, number: UInt64, trigger: Trigger, triggeredAt: Int64, tracks: [Track]
    ) {
        self.id = id
        self.connection = connection
        self.number = number
        self.trigger = trigger
        self.triggeredAt = triggeredAt
        self.tracks = tracks
    }
}
