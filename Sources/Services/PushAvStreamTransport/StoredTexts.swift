import Foundation
import Transport

/// What this module reads from files that a power cut may have garbled, and from the owner: one function for each kind.
/// Each returns which promise was broken; nil when none was. The fuzz targets use it.
package enum StoredTexts {
    /// The session whose folder holds the files.
    private static let session = RecordingSession.ID(
        device: "camera", start: 1_763_900_000_000, epoch: 1, sequence: 1)

    /// A valid `session.json`.
    package static var sessionFile: [UInt8] {
        SessionFile.encode(
            RecordingSession(
                id: session, connection: 1, number: 1, trigger: .init(kind: .motion, reason: "motion"),
                triggeredAt: session.start,
                tracks: [
                    .init(
                        name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000,
                        initializationSegment: Data(), width: 640, height: 360),
                    .init(
                        name: "audio", isVideo: false, codec: "opus", timescale: 48_000,
                        initializationSegment: Data()),
                ]))
    }

    /// Reads a `session.json`: what is accepted can name files, and reads the same after it was written.
    package static func problem(sessionFile bytes: [UInt8]) -> String? {
        guard let read = try? SessionFile.decode(bytes, of: session, path: "session.json") else { return nil }
        let layout = RecordingLayout(root: "/recordings")
        let folder = layout.folder(of: read.id)
        for track in read.tracks {
            let path = layout.segment(1, of: track.name, in: read.id)
            guard path.hasPrefix(folder + "/"), !path.dropFirst(folder.utf8.count + 1).contains("/") else {
                return "a segment is outside of its folder"
            }
        }
        guard let again = try? SessionFile.decode(SessionFile.encode(read), of: session, path: "session.json") else {
            return "what was read and written cannot be read"
        }
        var expected = read
        for index in expected.tracks.indices { expected.tracks[index].initializationSegment = Data() }
        return again == expected ? nil : "what was read and written reads otherwise"
    }

    /// Valid lines of a journal, without their checks.
    package static var journalLines: [[UInt8]] {
        let segment = StoredSegment(
            track: 0, number: 1, decodeTime: 0, duration: 360_000, wallTime: session.start * 1_000, byteCount: 900)
        let lines: [JournalLine] = [
            JournalLine(segment: segment),
            JournalLine(gap: .init(from: session.start * 1_000, until: session.start * 1_000 + 5, reason: .loss)),
            JournalLine(trigger: .init(kind: .motion, reason: "motion")),
            JournalLine(end: .init(at: session.start * 1_000 + 9, reason: .cut)),
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return lines.compactMap { (try? encoder.encode($0)).map { Array($0) } }
    }

    /// Reads a journal as it is, and one of the same lines with the right checks in front of them.
    package static func problem(journal bytes: [UInt8]) -> String? {
        let contents = RecordingJournal.parse(bytes)
        guard contents.validLength >= 0, contents.validLength <= Int64(bytes.count) else {
            return "more of the journal is valid than there is"
        }
        guard RecordingJournal.parse(Array(bytes.prefix(Int(contents.validLength)))) == contents else {
            return "the whole lines alone read otherwise"
        }
        // A valid check lets any JSON through, as that of another version of the gateway.
        let checked = bytes.split(separator: 0x0A).compactMap {
            try? JSONDecoder().decode(JournalLine.self, from: Data($0))
        }
        let written = RecordingJournal.parse(checked.flatMap(RecordingJournal.encode))
        guard written.segments == checked.compactMap(\.segment) else { return "a segment was lost on the way" }
        return written.damagedLines == 0 ? nil : "a line that was just written is damaged"
    }

    /// Looks for the chunks of a segment after a power cut.
    package static func problem(segment bytes: [UInt8]) -> String? {
        func scan(_ bytes: [UInt8]) -> SegmentScan {
            SegmentScan(length: Int64(bytes.count), defaultDuration: 3_000) { offset, count in
                Array(bytes.dropFirst(Int(offset)).prefix(count))
            }
        }
        let whole = scan(bytes)
        var end: Int64 = 0
        for chunk in whole.chunks {
            guard chunk.offset == end, chunk.length > 0 else { return "the chunks do not follow each other" }
            end += chunk.length
        }
        guard end == whole.validLength, end <= Int64(bytes.count) else { return "the chunks are longer than the file" }
        _ = whole.wallTime(timescale: 90_000)
        let rest = scan(Array(bytes.prefix(Int(end))))
        guard rest.chunks == whole.chunks, rest.tail == .none else { return "what was cut off reads otherwise" }
        return nil
    }

    /// Valid records of the queue of uploads, as JSON.
    package static var uploadRecords: [[UInt8]] {
        guard let session = try? SessionFile.decode(sessionFile, of: session, path: "session.json") else { return [] }
        let upload = UploadSession(
            session, folder: "camera/2025-11-23/1",
            destination: UploadDestination(endpoint: 1, url: "https://ingest.example/", interface: .hls))
        let segment = UploadSegment(
            track: 0, number: 1, decodeTime: 0, duration: 360_000, capturedAt: session.id.start * 1_000,
            byteCount: 900)
        let records: [UploadRecord] = [
            .opened(upload), .sent(session.id, .manifest), .segment(session.id, segment),
            .sent(session.id, .initialization(track: 0)), .dropped(session.id, track: 1, number: 1),
            .sent(session.id, .segment(track: 0, number: 1)), .ended(session.id), .closed(session.id),
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return records.compactMap { (try? encoder.encode($0)).map { Array($0) } }
    }

    /// Reads a queue of uploads as it is, and one of the same lines with the right checks. A queue is made of the
    /// records, and uploads what it has.
    package static func problem(uploads bytes: [UInt8]) -> String? {
        let read = UploadJournal.read(bytes)
        guard read.validLength >= 0, read.validLength <= bytes.count else { return "more is valid than there is" }
        let records = bytes.split(separator: 0x0A).compactMap {
            try? JSONDecoder().decode(UploadRecord.self, from: Data($0))
        }
        var queue = UploadQueue(records: records, random: .seeded(1))
        guard UploadQueue(records: queue.snapshot, random: .seeded(1)).snapshot == queue.snapshot else {
            return "a snapshot gives another queue"
        }
        var now = Instant(nanoseconds: 0)
        for _ in 0..<64 {
            let requests = queue.ready(at: now)
            for request in requests {
                guard request.path.split(separator: "/").allSatisfy({ $0 != ".." && $0 != "." }) else {
                    return "an object is outside of the receiver's folder"
                }
                queue.finished(request.attempt, .accepted, at: now)
            }
            guard let next = requests.isEmpty ? queue.nextDeadline(after: now) : now else { break }
            now = next
        }
        _ = queue.status
        return nil
    }

    /// Certificates and a key that the owner gives.
    package static func problem(pem certificates: String, key: String) -> String? {
        let kind = UploadEndpoint.Kind.tls(certificateChain: certificates, privateKey: key)
        let isAccepted = UploadEndpoints.problem(name: "a", kind, nil) == nil
        let summary = UploadEndpoint(id: 1, name: "a", kind: kind, rootCertificates: certificates).summary
        if isAccepted, summary.clientCertificate == nil { return "what was accepted names nobody" }
        return nil
    }

    /// The address of a receiver: what is accepted stays within its folder, and is signed the same way twice.
    package static func problem(url: String) -> String? {
        guard TransportURL.problem(with: url) == nil else { return nil }
        guard url.lowercased().hasPrefix("https://"), url.hasSuffix("/") else { return "not an HTTPS folder" }
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return "a character breaks the request" }
        let path = String(url.dropFirst(8).drop { $0 != "/" })
        let canonical = SignatureV4.canonicalPath(path)
        guard SignatureV4.canonicalPath(canonical) == canonical else { return "a path is signed in two ways" }
        return nil
    }
}
