import Foundation
import Glibc
import PushAvStreamTransport
import RecordingUpload
import Transport

/// Records what a test hands it, with the local store, and uploads it as the gateway does. Ends when nothing is left to be
/// uploaded. What happens goes to the standard output, a JSON object on each line.
@main
struct UploadDriver {
    static func main() async throws {
        let plan = try JSONDecoder().decode(Plan.self, from: FileHandle.standardInput.readDataToEndOfFile())
        let endpoints = UploadEndpoints(stateFolder: plan.state)
        let endpoint = try endpoints.put(
            name: "test", kind: try kind(plan.endpoint), rootCertificates: try plan.endpoint.root.map(text)
        ).summary
        let destinations = Dictionary(
            uniqueKeysWithValues: plan.recordings.map { recording in
                (
                    "\(recording.device) \(recording.sequence)",
                    UploadDestination(
                        endpoint: endpoint.id, url: recording.url,
                        interface: UploadInterface(rawValue: plan.interface) ?? .interface1, segmentDuration: 2_000,
                        uploadsWhileRecording: plan.whileRecording)
                )
            })
        let root = "\(plan.state)/recordings"
        let uploader = RecordingUploader(
            layout: RecordingLayout(root: root), storage: UploadJournal(path: "\(plan.state)/uploads.jsonl"),
            limits: UploadLimits(
                maximumByteCount: plan.maximumByteCount ?? 8 << 30, firstRetry: .milliseconds(plan.firstRetry),
                longestRetry: .milliseconds(plan.firstRetry * 8), slowRetry: .milliseconds(plan.firstRetry * 4)),
            deadlines: UploadDeadlines(
                connect: .seconds(2), idle: .milliseconds(plan.idle), base: .milliseconds(plan.patience ?? 5_000)),
            endpoint: endpoints.endpoint,
            destination: { destinations["\($0.id.device) \($0.id.sequence)"] },
            report: { print(event: "report", "\($0)") })
        let store = try RecordingStore(
            root: root, index: MemoryRecordingIndex(), follower: uploader,
            now: { Int64(Date().timeIntervalSince1970 * 1_000) })
        try store.recover()
        let running = Task { await uploader.run() }
        uploader.resume(from: store)
        await withTaskGroup(of: Void.self) { group in
            for recording in plan.recordings {
                group.addTask {
                    do {
                        try await record(recording, store)
                    } catch {
                        print(event: "fault", "\(error)")
                    }
                }
            }
        }
        guard plan.recordings.allSatisfy(\.ends) else { _exit(9) }
        // The test limits how long it may take.
        while uploader.status.sessions > 0 { try await Task.sleep(for: .milliseconds(5)) }
        print(event: "idle", "")
        running.cancel()
        await running.value
    }

    private static func record(_ recording: Plan.Recording, _ store: RecordingStore) async throws {
        let start = Int64(Date().timeIntervalSince1970 * 1_000)
        let id = RecordingSession.ID(
            device: recording.device, start: start, epoch: 1, sequence: recording.sequence)
        let tracks = try recording.tracks.map {
            RecordingSession.Track(
                name: $0.name, isVideo: $0.isVideo, codec: $0.codec, timescale: $0.timescale,
                initializationSegment: try Data(contentsOf: URL(fileURLWithPath: $0.header)), width: $0.width,
                height: $0.height)
        }
        print(event: "began", "\(recording.device) \(recording.sequence)")
        try store.take(
            .began(
                RecordingSession(
                    id: id, connection: 1, number: UInt64(recording.sequence),
                    trigger: .init(kind: .command, reason: "test"), triggeredAt: start, tracks: tracks)), of: id)
        for segment in recording.segments {
            for (index, chunk) in segment.chunks.enumerated() {
                if recording.chunkInterval > 0 { try await Task.sleep(for: .milliseconds(recording.chunkInterval)) }
                let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: chunk.file))
                defer { try? file.close() }
                try file.seek(toOffset: UInt64(chunk.offset))
                let bytes = try file.read(upToCount: chunk.length) ?? Data()
                let timescale = Int64(recording.tracks[segment.track].timescale)
                try store.take(
                    .chunk(
                        RecordedChunk(
                            track: segment.track, segment: segment.number, beginsSegment: index == 0,
                            decodeTime: chunk.decodeTime, duration: chunk.duration,
                            wallTime: start * 1_000 + chunk.decodeTime * 1_000_000 / timescale,
                            beginsWithKeyFrame: index == 0, bytes: [UInt8](bytes))), of: id)
            }
            try store.take(
                .segmentEnded(
                    RecordedSegment(
                        track: segment.track, segment: segment.number, decodeTime: segment.decodeTime,
                        duration: segment.duration)), of: id)
        }
        if recording.ends {
            try store.take(
                .ended(RecordingEnd(at: Int64(Date().timeIntervalSince1970 * 1e6), reason: .lengthReached)), of: id)
        }
    }

    private static func kind(_ endpoint: Plan.Endpoint) throws -> UploadEndpoint.Kind {
        if let key = endpoint.accessKeyId, let secret = endpoint.secretAccessKey {
            return .s3(.init(accessKeyID: key, secretAccessKey: secret), region: endpoint.region ?? "us-east-1")
        }
        return .tls(
            certificateChain: try endpoint.certificate.map(text), privateKey: try endpoint.key.map(text))
    }

    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private static func print(event: String, _ detail: String) {
        let fields: [String: String] = [
            "event": event, "detail": detail, "at": String(format: "%.4f", Date().timeIntervalSince1970),
        ]
        guard let line = try? JSONEncoder().encode(fields) else { return }
        FileHandle.standardOutput.write(line + Data([0x0A]))
    }
}
