import Transport

extension RecordingStore: RecordingReading {
    public func recordings(_ query: RecordingQuery) throws(RecordingFault) -> [RecordingSummary] {
        try requireFolder()
        // The open ones first: one that ends in between is then in the index as well, and counts once.
        let open = openRecordings().map(\.summary).filter(query.matches)
        let indexed = withoutUnforgotten(
            try asking { index throws(RecordingIndexFault) in try index.recordings(query) })
        guard !open.isEmpty else { return indexed }
        let ended = Set(indexed.map(\.id))
        return query.apply(to: indexed + open.filter { !ended.contains($0.id) })
    }

    public func recording(_ id: RecordingSession.ID) throws(RecordingFault) -> StoredRecording {
        if let entry = self.entry(id) { return entry.recording.withLock { $0.snapshot } }
        var recording = try files(of: id).recording
        // Without the end line the files hold a recording that the next start completes.
        if recording.end == nil { recording.segments = recording.segments.filter { $0.byteCount > 0 } }
        return recording
    }

    public func segments(
        of device: String, from: Int64, until: Int64
    ) throws(RecordingFault) -> [RecordingPart] {
        let query = RecordingQuery(device: device, from: from, until: until)
        var parts: [RecordingPart] = []
        for summary in try recordings(query) {
            let recording: IndexedRecording?
            if let entry = self.entry(summary.id) {
                recording = IndexedRecording(entry.recording.withLock { $0.snapshot })
            } else {
                recording = try asking { index throws(RecordingIndexFault) in try index.recording(summary.id) }
            }
            guard let segments = recording?.segments(from: from, until: until), !segments.isEmpty else { continue }
            parts.append(RecordingPart(id: summary.id, segments: segments))
        }
        return parts
    }

    public func days(
        of device: String, offset: @Sendable (Int64) -> Int
    ) throws(RecordingFault) -> [RecordingDay] {
        try requireFolder()
        let open = openRecordings().map(\.summary).filter { $0.id.device == device }.map(\.span)
        let ended = withoutUnforgotten(
            try asking { index throws(RecordingIndexFault) in try index.spans(of: device) }, of: device)
        var days: [Int: RecordingDay] = [:]
        for span in ended + open {
            let shift = Int64(offset(span.lowerBound)) * 1_000_000
            let from = span.lowerBound + shift
            let until = max(from + 1, span.upperBound + shift)
            let length: Int64 = 86_400_000_000
            // A recording lasts hours. A damaged one that claims to last years is cut short here.
            let first = Self.floor(from, length)
            for day in first...min(Self.floor(until - 1, length), first + 366) {
                let start = Int64(day) * length
                var entry = days[day] ?? RecordingDay(day: day, recordings: 0, recorded: 0)
                entry.recordings += 1
                entry.recorded += min(until, start + length) - max(from, start)
                days[day] = entry
            }
        }
        return days.values.sorted { $0.day < $1.day }
    }

    private static func floor(_ value: Int64, _ unit: Int64) -> Int {
        Int(value >= 0 ? value / unit : (value - unit + 1) / unit)
    }

    public func totals() throws(RecordingFault) -> [String: RecordingTotals] {
        try requireFolder()
        let open = openRecordings().map(\.summary)
        var totals = withoutUnforgotten(try asking { index throws(RecordingIndexFault) in try index.totals() })
        for summary in open {
            totals[summary.id.device, default: RecordingTotals()].add(
                start: summary.id.start, byteCount: summary.byteCount)
        }
        return totals
    }

    public func unreadable() throws(RecordingFault) -> [UnreadableRecording] {
        try requireFolder()
        var found: [UnreadableRecording] = []
        do throws(FileSystemFault) {
            try forEachFolder { id, folder in
                guard entry(id) == nil else { return }
                do {
                    found += try files(of: id).damage
                } catch let error as UnreadableRecording {
                    found.append(error)
                } catch RecordingFault.unknownSession {
                    // It is being deleted.
                } catch {
                    found.append(UnreadableRecording(path: folder, reason: .failed("\(error)")))
                }
            }
        } catch {
            throw RecordingFault(error)
        }
        return found
    }

    public func isUnavailable(_ id: RecordingSession.ID) -> Bool {
        checkFolder() != nil || incompleteRecordings.contains(id)
    }

    // MARK: Files and index

    /// The files of a recording that has ended.
    func files(of id: RecordingSession.ID) throws(RecordingFault) -> RecordingFiles {
        guard RecordingLayout.isSafe(device: id.device), RecordingLayout.times.contains(id.start) else {
            throw .unknownSession
        }
        try requireFolder()
        let folder = layout.folder(of: id)
        let names: Set<String>
        do throws(FileSystemFault) { names = Set(try namesIfPresent(in: folder)) } catch { throw RecordingFault(error) }
        guard !names.isEmpty, !names.contains(RecordingLayout.tombstone) else { throw .unknownSession }
        do {
            return try RecordingFiles(id: id, layout: layout, fileSystem: fileSystem, names: names)
        } catch let error as UnreadableRecording {
            throw .storage(path: error.path, .damage(error.reason))
        } catch let error as FileSystemFault {
            throw RecordingFault(error)
        } catch {
            throw .storage(path: folder, .damage(.failed("\(error)")))
        }
    }

    func asking<Value>(
        _ body: (any RecordingIndexing) throws(RecordingIndexFault) -> Value
    ) throws(RecordingFault) -> Value {
        do throws(RecordingIndexFault) {
            return try body(index)
        } catch {
            hasFailed(error)
            throw .storage(path: error.path, .database(error.reason))
        }
    }
}
