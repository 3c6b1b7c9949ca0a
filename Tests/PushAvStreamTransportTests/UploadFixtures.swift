import Foundation
import Transport

@testable import PushAvStreamTransport

enum UploadFixtures {
    static func session(
        _ sequence: UInt32 = 1, device: String = "d1", interface: UploadInterface = .interface1, tracks: Int = 2,
        url: String = "https://ingest.example/d1/", growing: Bool = false, connection: UInt16 = 1
    ) -> UploadSession {
        let id = RecordingSession.ID(
            device: device, start: 1_700_000_000_000 + Int64(sequence) * 60_000, epoch: 1, sequence: sequence)
        let video = RecordingSession.Track(
            name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000,
            initializationSegment: Data(), width: 1_280, height: 720)
        let sound = RecordingSession.Track(
            name: "audio", isVideo: false, codec: "opus", timescale: 48_000, initializationSegment: Data())
        return UploadSession(
            RecordingSession(
                id: id, connection: connection, number: UInt64(sequence),
                trigger: .init(kind: .motion, reason: "motion"), triggeredAt: id.start,
                tracks: Array([video, sound].prefix(tracks))),
            folder: "\(device)/2023-11-14/\(sequence)",
            destination: UploadDestination(
                endpoint: 1, url: url, interface: interface, uploadsWhileRecording: growing))
    }

    static func segment(
        _ session: UploadSession, _ track: Int, _ number: UInt32, bytes: Int = 1_000, seconds: Int = 4
    ) -> UploadSegment {
        let timescale = Int64(session.tracks[track].timescale)
        let index = Int64(number - 1)
        return UploadSegment(
            track: track, number: number, decodeTime: index * Int64(seconds) * timescale,
            duration: Int64(seconds) * timescale,
            capturedAt: (session.id.start + index * Int64(seconds) * 1_000) * 1_000, byteCount: bytes)
    }

    static func temporaryFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }
}

/// A receiver that takes objects only in their order, as strictly as the interface demands.
struct StrictReceiver {
    /// Whether segments that it has may come again in their order, as after a power cut. Otherwise only the newest segment
    /// of a track may, because the answer to it may have been lost.
    var allowsRepetitions: Bool
    /// What it has taken of each session.
    private(set) var objects: [String: [UploadItem]] = [:]
    private(set) var violations: [String] = []

    init(allowsRepetitions: Bool) { self.allowsRepetitions = allowsRepetitions }

    mutating func take(_ request: UploadRequest, _ session: UploadSession) {
        let key = "\(session.destination.url)\(session.id.sequence)"
        let taken = objects[key] ?? []
        defer { objects[key] = taken + [request.item] }
        func refuse(_ reason: String) { violations.append("\(key) \(request.path): \(reason)") }
        let head = UploadItem.head(of: session)
        let tail = UploadItem.tail(of: session)
        if let position = head.firstIndex(of: request.item) {
            if !head[..<position].allSatisfy(taken.contains) { refuse("before what precedes it in the head") }
            if taken.contains(where: { if case .segment = $0 { true } else { false } }) { refuse("after a segment") }
        } else if case .segment(let track, let number) = request.item {
            if !head.allSatisfy(taken.contains) { refuse("before the head") }
            if tail.contains(where: taken.contains) { refuse("after the tail") }
            let newest = taken.compactMap { item -> UInt32? in
                if case .segment(track, let number) = item { number } else { nil }
            }.max()
            if let newest, number < newest, !(allowsRepetitions && taken.contains(request.item)) {
                refuse("after segment \(newest)")
            }
        } else if let position = tail.firstIndex(of: request.item) {
            if !tail[..<position].allSatisfy(taken.contains) { refuse("before what precedes it in the tail") }
        } else {
            refuse("does not belong to this interface")
        }
    }
}
