import Foundation
import Glibc

/// A recording read from its files.
struct RecordingFiles {
    /// What the files say.
    private(set) var recording: StoredRecording
    /// What is damaged, and was left as it is.
    private(set) var damage: [UnreadableRecording] = []
    private let fileSystem: any RecordingFileSystem
    private let folder: String
    private let journal: RecordingJournal.Contents
    private let hasJournal: Bool
    private let journalSize: Int64
    /// Segments that the journal does not name, and how long their files are.
    private var scanned: [StoredSegment] = []
    private var torn: [(path: String, length: Int64, size: Int64)] = []

    /// Reads the files of a recording. Nothing is changed.
    init(
        id: RecordingSession.ID, layout: RecordingLayout, fileSystem: any RecordingFileSystem, names: Set<String>
    ) throws {
        self.fileSystem = fileSystem
        self.folder = layout.folder(of: id)
        let sessionPath = "\(self.folder)/\(RecordingLayout.sessionFile)"
        guard names.contains(RecordingLayout.sessionFile) else {
            throw UnreadableRecording(path: sessionPath, reason: .missingSession)
        }
        var session = try SessionFile.decode(
            fileSystem.readAll(sessionPath, limit: SessionFile.maximumLength), of: id, path: sessionPath)
        var damage: [UnreadableRecording] = []
        for index in session.tracks.indices {
            let path = layout.initializationSegment(of: session.tracks[index].name, in: id)
            do throws(FileSystemFault) {
                session.tracks[index].initializationSegment = Data(try fileSystem.readAll(path, limit: 16 << 20))
            } catch {
                damage.append(UnreadableRecording(path: path, reason: .unreadable(error)))
            }
        }
        let journalPath = "\(self.folder)/\(RecordingLayout.journalFile)"
        self.hasJournal = names.contains(RecordingLayout.journalFile)
        var bytes: [UInt8] = []
        if self.hasJournal {
            do throws(FileSystemFault) {
                bytes = try fileSystem.readAll(journalPath, limit: RecordingJournal.maximumLength)
            } catch {
                throw UnreadableRecording(path: journalPath, reason: .unreadable(error))
            }
        }
        self.journalSize = Int64(bytes.count)
        self.journal = RecordingJournal.parse(bytes)
        if self.journal.damagedLines > 0 {
            damage.append(
                UnreadableRecording(path: journalPath, reason: .damagedLines(self.journal.damagedLines)))
        }
        self.damage = damage
        self.recording = StoredRecording(
            session: session, segments: [], gaps: self.journal.gaps, triggers: self.journal.triggers,
            end: self.journal.end, layout: layout)
        readSegments(names)
    }

    // MARK: Segments

    private mutating func readSegments(_ names: Set<String>) {
        let session = recording.session
        var lines: [String: StoredSegment] = [:]
        for segment in journal.segments where session.tracks.indices.contains(segment.track) {
            lines[RecordingLayout.segmentName(segment.number, of: session.tracks[segment.track].name)] = segment
        }
        for (index, track) in session.tracks.enumerated() {
            let numbers = names.compactMap { RecordingLayout.segmentNumber($0, of: track.name) }.sorted()
            let defaultDuration = FragmentTimes.defaultDuration(
                initializationSegment: [UInt8](track.initializationSegment))
            for number in numbers {
                let name = RecordingLayout.segmentName(number, of: track.name)
                let path = "\(folder)/\(name)"
                let line = lines.removeValue(forKey: name)
                do throws(FileSystemFault) {
                    let size = try fileSystem.status(of: path)?.size ?? 0
                    if let line, line.byteCount == size {
                        recording.segments.append(line)
                        continue
                    }
                    let segment = try scan(
                        path, track: index, number: number, size: size, defaultDuration: defaultDuration, line: line)
                    guard let segment else { continue }
                    recording.segments.append(segment)
                    if line == nil { scanned.append(segment) }
                } catch {
                    damage.append(UnreadableRecording(path: path, reason: .unreadable(error)))
                }
            }
        }
        for name in lines.keys.sorted() {
            damage.append(UnreadableRecording(path: "\(folder)/\(name)", reason: .missingSegment))
        }
    }

    /// Reads the boxes of a segment that the journal does not name, or names with another length.
    private mutating func scan(
        _ path: String, track: Int, number: UInt32, size: Int64, defaultDuration: UInt32, line: StoredSegment?
    ) throws(FileSystemFault) -> StoredSegment? {
        // The process ended after the file was made and before its first chunk. Nothing was promised of it.
        if size == 0, line == nil {
            self.torn.append((path, 0, 0))
            return nil
        }
        let fileSystem = self.fileSystem
        let scan = try SegmentScan(length: size, defaultDuration: defaultDuration) {
            offset, count throws(FileSystemFault) in
            try fileSystem.read(path, from: offset, count: count)
        }
        switch scan.tail {
        case .none: break
        case .torn: torn.append((path, scan.validLength, size))
        case .garbled(let offset):
            damage.append(UnreadableRecording(path: path, reason: .garbledTail(from: offset)))
        }
        if let line, line.byteCount > scan.validLength {
            let problem = RecordingDamage.tooShort(usable: scan.validLength, expected: line.byteCount)
            damage.append(UnreadableRecording(path: path, reason: problem))
        }
        guard let first = scan.chunks.first, let last = scan.chunks.last else { return nil }
        let session = recording.session
        let timescale = session.tracks[track].timescale
        let byClock = session.id.start * 1_000 + Int64(Double(first.decodeTime) * 1e6 / Double(timescale))
        return StoredSegment(
            track: track, number: number, decodeTime: first.decodeTime,
            duration: max(0, last.decodeTime &+ last.duration &- first.decodeTime),
            wallTime: line?.wallTime ?? scan.wallTime(timescale: timescale) ?? byClock, byteCount: scan.validLength)
    }

    // MARK: The end

    /// Gives a recording that was interrupted an end. Returns how many bytes were cut off.
    mutating func end(at now: Int64) throws(FileSystemFault) -> Int64 {
        let tracks = recording.session.tracks
        let last = recording.segments.map { $0.end(timescale: tracks[$0.track].timescale) }.max()
        return try write(
            RecordingEnd(
                at: min(last ?? recording.session.id.start * 1_000, max(now, 0) &* 1_000), reason: .interrupted))
    }

    /// Writes the end of a recording that has none: cuts off chunks that are not whole, and completes the journal. Returns
    /// how many bytes were cut off.
    mutating func write(_ end: RecordingEnd) throws(FileSystemFault) -> Int64 {
        var cut: Int64 = 0
        for (path, length, size) in torn {
            if length == 0 {
                try fileSystem.remove(path)
            } else {
                let file = try fileSystem.open(path)
                try file.truncate(to: length)
                try file.synchronize()
            }
            cut += size - length
        }
        var lines = scanned.map { JournalLine(segment: $0) }
        lines.append(JournalLine(end: end))
        let bytes = lines.flatMap(RecordingJournal.encode)
        let path = "\(folder)/\(RecordingLayout.journalFile)"
        let file = try hasJournal ? fileSystem.open(path) : fileSystem.create(path)
        if journalSize > journal.validLength { try file.truncate(to: journal.validLength) }
        try file.writeAll(bytes, at: journal.validLength, path: path)
        try file.synchronize()
        try fileSystem.synchronizeFolder(folder)
        recording.end = end
        return cut
    }
}
