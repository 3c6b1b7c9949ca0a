import Dispatch
import Foundation
import Glibc
import PushAvStreamTransport
import Testing
import Transport

@testable import RecordingUpload

/// A disk of recordings that is unmounted while an upload begins.
@Suite(.timeLimit(.minutes(10))) struct AwayDiskUploadTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("away-\(UUID())").path
    private let session = RecordingSession(
        id: .init(device: "door", start: 1_763_900_000_000, epoch: 1, sequence: 1), connection: 2, number: 1,
        trigger: .init(kind: .motion, reason: "motion"), triggeredAt: 1_763_900_000_000,
        tracks: [
            .init(
                name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000, initializationSegment: Data())
        ])

    private struct Disk {
        var questions = 0
        var isBack = false
    }

    private var layout: RecordingLayout { RecordingLayout(root: "\(root)/recordings") }

    /// A queue in which one segment is left to upload.
    /// - Parameter isEarlier: whether a version without connections has written it.
    private func queue(to url: String, isEarlier: Bool) throws -> UploadJournal {
        let folder = layout.folder(of: session.id)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var upload = UploadSession(
            session, folder: String(folder.dropFirst(layout.root.utf8.count + 1)),
            destination: UploadDestination(endpoint: 1, url: url, interface: .interface1))
        if isEarlier { upload.connection = nil }
        let segment = UploadSegment(
            track: 0, number: 1, decodeTime: 0, duration: 90_000, capturedAt: session.id.start * 1_000, byteCount: 3)
        let journal = UploadJournal(path: "\(root)/uploads.jsonl")
        try journal.replace(with: [
            .opened(upload), .sent(session.id, .initialization(track: 0)), .segment(session.id, segment),
            .ended(session.id),
        ])
        return journal
    }

    @Test(arguments: [false, true])
    func `a segment whose disk is unmounted while its upload begins is held until the disk is back`(
        isEarlier: Bool
    ) async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let door = try Door()
        defer { door.close() }
        let journal = try queue(to: "https://127.0.0.1:\(door.port)/", isEarlier: isEarlier)
        let disk = Locked(Disk())
        // It signs what it sends, so it reads the file before it connects.
        let endpoint = UploadEndpoint(
            id: 1, name: "store",
            kind: .s3(.init(accessKeyID: "key", secretAccessKey: "secret"), region: "eu-central-1"))
        let (reports, continuation) = AsyncStream.makeStream(of: RecordingUploader.Report.self)
        let pause = Duration.milliseconds(10)
        let uploader = RecordingUploader(
            layout: layout, storage: journal,
            limits: UploadLimits(firstRetry: pause, longestRetry: pause, slowRetry: pause),
            endpoint: { _ in endpoint }, destination: { _ in nil },
            reasonToHold: { _, _ in
                // It is there when the upload begins, and away a moment later.
                disk.withLock { state in
                    state.questions += 1
                    return state.questions == 1 || state.isBack ? nil : "its disk is not mounted"
                }
            }, report: { continuation.yield($0) })
        let running = Task { await uploader.run() }
        defer { running.cancel() }
        var reason: String?
        for await report in reports {
            if case .queue(.failing(_, _, let words)) = report { reason = words }
            if case .queue(.dropped) = report { reason = "the segment was given up" }
            if reason != nil { break }
        }
        try #require(reason == "its disk is not mounted")
        #expect(uploader.status.segments == 1)

        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: layout.segment(1, of: "video", in: session.id)))
        disk.withLock { $0.isBack = true }
        var isVisited = false
        for await _ in door.visits {
            isVisited = true
            break
        }
        running.cancel()
        await running.value
        #expect(isVisited)
        #expect(uploader.status.segments == 1)
    }
}

/// A server that only records that somebody connects.
private final class Door: Sendable {
    struct Failure: Error {}

    let port: UInt16
    let visits: AsyncStream<Void>
    private let listener: Int32

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                var length = size
                return bind(listener, address, size) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isOpen else { throw Failure() }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        let (visits, continuation) = AsyncStream.makeStream(of: Void.self)
        self.visits = visits
        DispatchQueue(label: "door").async {
            while true {
                let visitor = accept(listener, nil, nil)
                guard visitor >= 0 else { break }
                Glibc.close(visitor)
                continuation.yield()
            }
            Glibc.close(listener)
            continuation.finish()
        }
    }

    func close() { shutdown(listener, Int32(SHUT_RDWR)) }
}
