/// Which recordings are wanted. A recording belongs to the range when any part of it does.
public struct RecordingQuery: Hashable, Sendable {
    /// The device; nil for all, including those that were removed from the home.
    public var device: String?
    /// From when, and until when (not included), in microseconds since 1970, UTC.
    public var from: Int64
    public var until: Int64
    /// Whether the newest come first.
    public var newestFirst: Bool
    /// At most this many.
    public var limit: Int

    /// Asks for recordings.
    public init(
        device: String? = nil, from: Int64 = .min, until: Int64 = .max, newestFirst: Bool = false, limit: Int = .max
    ) {
        self.device = device
        self.from = from
        self.until = until
        self.newestFirst = newestFirst
        self.limit = limit
    }
}

/// Reads the recordings of the local store: for playback, export, the API and the command line.
///
/// All methods block until the disk has answered; callers use a separate thread. Recordings that are being made are
/// included, with what is on the disk.
public protocol RecordingReading: Sendable {
    /// The recordings of a time range, ordered by start.
    func recordings(_ query: RecordingQuery) throws(RecordingFault) -> [RecordingSummary]
    /// One recording with its tracks and segments.
    /// - Throws: ``RecordingFault/unknownSession`` when the recording does not exist, or was deleted.
    func recording(_ id: RecordingSession.ID) throws(RecordingFault) -> StoredRecording
    /// The segments of a device that overlap a time range (microseconds since 1970, UTC), by recording, oldest first.
    func segments(of device: String, from: Int64, until: Int64) throws(RecordingFault) -> [RecordingPart]
    /// The days with footage of a device, oldest first. `offset` is what a time zone adds to a time in UTC, in seconds.
    func days(of device: String, offset: @Sendable (_ microseconds: Int64) -> Int) throws(RecordingFault)
        -> [RecordingDay]
    /// How much each device has, those that were removed from the home included.
    func totals() throws(RecordingFault) -> [String: RecordingTotals]
    /// Deletes a recording. When it returns, the deletion survives a power cut.
    /// - Throws: ``RecordingFault/unknownSession`` when there is none, ``RecordingFault/inProgress`` when it is being
    ///   recorded.
    func delete(_ id: RecordingSession.ID) throws(RecordingFault)
    /// Checks every box of a recording and its journal against the files. It changes nothing.
    func verify(_ id: RecordingSession.ID) throws(RecordingFault) -> RecordingVerification
    /// What the store cannot use, but has left where it is.
    func unreadable() throws(RecordingFault) -> [UnreadableRecording]
    /// Whether a recording cannot be read now and may be read later: its disk is away, or refuses to read it, or has no
    /// room for its end.
    func isUnavailable(_ id: RecordingSession.ID) -> Bool
}

extension RecordingReading {
    /// Everything can be read, or never will be.
    public func isUnavailable(_ id: RecordingSession.ID) -> Bool { false }
}

/// A folder or file that the store cannot use. It is never deleted, except when its owner asks for it.
public struct UnreadableRecording: Hashable, Sendable, Error {
    /// The path.
    public var path: String
    /// What is wrong with it.
    public var reason: RecordingDamage

    /// Describes what cannot be used.
    public init(path: String, reason: RecordingDamage) {
        self.path = path
        self.reason = reason
    }
}

/// What a check of a recording found.
public struct RecordingVerification: Equatable, Sendable {
    /// How many segments, chunks and bytes were checked.
    public var segments = 0
    public var chunks = 0
    public var byteCount: Int64 = 0
    /// What is wrong, with the file; empty when all is well.
    public var problems: [UnreadableRecording] = []

    /// Nothing was checked yet.
    public init() {}
}
