import Transport

extension UploadQueue {
    /// Makes a queue of what an earlier run stored. Records that do not fit are skipped: the journal may have been
    /// damaged before them.
    public init(
        records: [UploadRecord], limits: UploadLimits = UploadLimits(), random: RandomSource = .system
    ) {
        self.init(limits: limits, random: random)
        isRestoring = true
        for record in records { apply(record) }
        isRestoring = false
        for id in byAge { closeIfDone(id) }
        // The bound may be lower than that of the earlier run.
        enforceBound()
    }

    private mutating func apply(_ record: UploadRecord) {
        switch record {
        case .opened(let session): open(session)
        case .segment(let id, let segment): segmentEnded(segment, in: id)
        case .ended(let id): end(id)
        case .sent(let id, let item):
            guard let segment = sessions[id]?.markSent(item) else { return }
            byteCount -= segment.byteCount
            segmentCount -= 1
        case .dropped(let id, let track, let number):
            guard let state = sessions[id], state.dropped.indices.contains(track) else { return }
            drop(in: id, reason: .queueFull) { $0.track == track && $0.number == number }
            // It was reported when it happened.
            events.removeAll()
            sessions[id]?.dropped[track].insert(number)
        case .closed(let id):
            remove(id)
            events.removeAll()
        }
    }

    /// The recordings that have not ended: after a restart, those that the end of the process interrupted. Their files say
    /// what else there is.
    public var openSessions: [UploadSession] {
        byAge.compactMap { id in sessions[id].flatMap { $0.isEnded ? nil : $0.session } }
    }

    /// The recordings in the queue, the oldest first.
    public var allSessions: [UploadSession] { byAge.compactMap { sessions[$0]?.session } }

    /// The shortest list of records that gives this queue.
    public var snapshot: [UploadRecord] {
        var records: [UploadRecord] = []
        for id in byAge {
            guard let state = sessions[id] else { continue }
            records.append(.opened(state.session))
            for item in state.head.prefix(state.headSent) { records.append(.sent(id, item)) }
            for track in state.accepted.indices {
                for segment in state.accepted[track] {
                    records.append(.segment(id, segment))
                    records.append(.sent(id, .segment(track: track, number: segment.number)))
                }
                for number in state.dropped[track].sorted() {
                    records.append(.dropped(id, track: track, number: number))
                }
                for waiting in state.waiting[track] where waiting.isComplete {
                    records.append(.segment(id, waiting.segment))
                }
            }
            if state.isEnded { records.append(.ended(id)) }
            for item in state.tail.prefix(state.tailSent) { records.append(.sent(id, item)) }
        }
        return records
    }
}
