import PushAvStreamTransport

/// What a store has acknowledged, and what was under way when it stopped; checked against what is there afterwards.
public struct Acknowledged: Sendable {
    /// One session.
    public struct Session: Sendable {
        /// Its description; nil while `began` has not returned.
        public var description: RecordingSession?
        /// The bytes of each segment, by track and number.
        public var segments: [SegmentName: [UInt8]] = [:]
        public var gaps: [RecordingGap] = []
        public var triggers: [RecordingSession.Trigger] = []
        public var end: RecordingEnd?
        /// The output that was under way.
        public var open: RecordingOutput?
    }

    /// Names a segment of a session.
    public struct SegmentName: Hashable, Sendable {
        public var track: Int
        public var number: UInt32
    }

    public private(set) var sessions: [RecordingSession.ID: Session] = [:]
    /// Sessions whose deletion was acknowledged, and those where it was under way.
    public private(set) var deleted: Set<RecordingSession.ID> = []
    public private(set) var deleting: Set<RecordingSession.ID> = []

    /// Nothing yet.
    public init() {}

    /// An output is handed to the store.
    public mutating func willTake(_ output: RecordingOutput, of id: RecordingSession.ID) {
        sessions[id, default: Session()].open = output
    }

    /// The store has acknowledged it.
    public mutating func didTake(_ output: RecordingOutput, of id: RecordingSession.ID) {
        var session = sessions[id] ?? Session()
        session.open = nil
        switch output {
        case .began(let description): session.description = description
        case .chunk(let chunk):
            session.segments[SegmentName(track: chunk.track, number: chunk.segment), default: []] += chunk.bytes
        case .segmentEnded: break
        case .gap(let gap): session.gaps.append(gap)
        case .trigger(let trigger): session.triggers.append(trigger)
        case .ended(let end): session.end = end
        }
        sessions[id] = session
    }

    /// A deletion begins, and is acknowledged.
    public mutating func willDelete(_ id: RecordingSession.ID) { deleting.insert(id) }
    public mutating func didDelete(_ id: RecordingSession.ID) { deleted.insert(id) }

    /// What is missing or wrong in a store after a recovery; empty when every promise was kept.
    public func broken(in store: RecordingStore, read: (String) -> [UInt8]?) -> [String] {
        var problems: [String] = []
        for (id, session) in sessions {
            let recording = try? store.recording(id)
            if deleted.contains(id) {
                if recording != nil { problems.append("\(id): deleted, but there again") }
                continue
            }
            guard let recording else {
                if session.description != nil, !deleting.contains(id) { problems.append("\(id): lost") }
                continue
            }
            problems += session.broken(in: recording, read: read).map { "\(id): \($0)" }
            if let result = try? store.verify(id) {
                problems += result.problems.map { "\(id): \($0.path): \($0.reason)" }
            } else {
                problems.append("\(id): cannot be verified")
            }
        }
        return problems
    }
}

extension Acknowledged.Session {
    fileprivate func broken(in recording: StoredRecording, read: (String) -> [UInt8]?) -> [String] {
        var problems: [String] = []
        if let description, recording.session != description { problems.append("the description differs") }
        if recording.end == nil { problems.append("has no end") }
        if let end, recording.end != end { problems.append("has another end") }
        if !recording.gaps.starts(with: gaps) { problems.append("gaps are missing") }
        if !recording.triggers.starts(with: triggers) { problems.append("triggers are missing") }
        var left = segments
        for segment in recording.segments {
            let name = Acknowledged.SegmentName(track: segment.track, number: segment.number)
            let promised = left.removeValue(forKey: name) ?? []
            guard let bytes = read(recording.path(of: segment)) else {
                problems.append("the file of \(name) is missing")
                continue
            }
            // Beyond what was promised there may be the one chunk that was under way, and nothing else.
            var allowed = promised
            if case .chunk(let chunk) = open, chunk.track == name.track, chunk.segment == name.number {
                allowed += chunk.bytes
            }
            if bytes != promised, bytes != allowed {
                problems.append(
                    "\(name) has \(bytes.count) bytes; \(promised.count) were promised, \(allowed.count) written")
            }
            if Int64(bytes.count) != segment.byteCount { problems.append("\(name) is listed with another length") }
        }
        for (name, _) in left { problems.append("\(name) is missing") }
        return problems
    }
}
