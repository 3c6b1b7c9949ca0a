import FragmentedMP4
import Transport

extension RecordingStore {
    public func verify(_ id: RecordingSession.ID) throws(RecordingFault) -> RecordingVerification {
        var result = RecordingVerification()
        let recording: StoredRecording
        if let entry = self.entry(id) {
            recording = entry.recording.withLock { $0.snapshot }
        } else {
            // The process was ended while it made the first files.
            let folder = self.layout.folder(of: id)
            let names = Set(namesOrNone(in: folder))
            if !names.isEmpty, Self.hasNeverBegun(names) {
                result.add(folder, .noFootage)
                return result
            }
            let files = try self.files(of: id)
            recording = files.recording
            result.problems = files.damage
            if recording.end == nil { result.add(layout.folder(of: id), .noEnd) }
        }
        for track in recording.session.tracks {
            let path = layout.initializationSegment(of: track.name, in: id)
            if !Self.isInitialization([UInt8](track.initializationSegment)) {
                result.add(path, .damagedHeader)
            }
        }
        var ends: [Int: Int64] = [:]
        for segment in recording.segments {
            verify(segment, of: recording, after: ends[segment.track], &result)
            ends[segment.track] = segment.decodeTime &+ segment.duration
        }
        return result
    }

    private func verify(
        _ segment: StoredSegment, of recording: StoredRecording, after previous: Int64?,
        _ result: inout RecordingVerification
    ) {
        let path = recording.path(of: segment)
        let track = recording.session.tracks[segment.track]
        result.segments += 1
        result.byteCount += segment.byteCount
        let fileSystem = self.fileSystem
        do throws(FileSystemFault) {
            let size = try fileSystem.status(of: path)?.size ?? 0
            guard size >= segment.byteCount, size == segment.byteCount || !segment.isComplete else {
                result.add(path, .wrongLength(size, expected: segment.byteCount))
                return
            }
            let scan = try SegmentScan(
                length: segment.byteCount,
                defaultDuration: FragmentTimes.defaultDuration(
                    initializationSegment: [UInt8](track.initializationSegment))
            ) { offset, count throws(FileSystemFault) in
                try fileSystem.read(path, from: offset, count: count)
            }
            result.chunks += scan.chunks.count
            switch scan.tail {
            case .none: break
            case .torn: result.add(path, .cutChunk)
            case .garbled(let offset): result.add(path, .garbled(from: offset))
            }
            var time = segment.decodeTime
            for chunk in scan.chunks {
                guard chunk.decodeTime >= time else {
                    result.add(path, .overlappingChunk(at: chunk.offset))
                    break
                }
                time = chunk.decodeTime &+ chunk.duration
            }
            if let first = scan.chunks.first, first.decodeTime != segment.decodeTime {
                result.add(path, .wrongStart(first.decodeTime, expected: segment.decodeTime))
            }
            if let previous, segment.decodeTime < previous {
                result.add(path, .overlappingSegment)
            }
        } catch {
            result.add(path, .unreadable(error))
        }
    }

    /// Whether these are whole boxes with a `moov` among them.
    private static func isInitialization(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { all in
            var boxes = MP4Boxes(all)
            var hasMovie = false
            do throws(MP4ReadError) {
                while let box = try boxes.next() { hasMovie = hasMovie || box.type == MP4Boxes.code("moov") }
            } catch {
                return false
            }
            return hasMovie
        }
    }
}

extension RecordingVerification {
    fileprivate mutating func add(_ path: String, _ reason: RecordingDamage) {
        problems.append(UnreadableRecording(path: path, reason: reason))
    }
}
