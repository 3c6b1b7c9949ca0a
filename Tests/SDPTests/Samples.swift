import Foundation
import SDP
import Testing

/// The descriptions under `sdp-samples/`, found from this file's own place.
enum Samples {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "sdp-samples")

    static func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// The paths of all samples in a sub-folder, relative to the samples.
    static func paths(in name: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: name).path)) ?? []
        return files.filter { $0.hasSuffix(".sdp") || $0.hasSuffix(".sdpfrag") }.sorted().map { name + "/" + $0 }
    }
}

/// A gateway's side of a session, the same in every test.
enum Gateway {
    static let fingerprint = Fingerprint(algorithm: "sha-256", bytes: (0..<32).map { UInt8($0) })

    static let transport = LocalTransportDescription(
        usernameFragment: "gate", password: "0123456789abcdefghijkl", fingerprints: [fingerprint],
        candidates: [
            ICECandidate(foundation: "1", priority: 2_130_706_431, host: "192.0.2.10", port: 8189),
            ICECandidate(foundation: "2", priority: 2_130_706_175, host: "fd00::10", port: 8189),
        ])

    static func video(_ codecs: MediaCodec...) -> LocalTrack {
        LocalTrack(
            kind: .video, codecs: codecs, ssrc: 1111, rtxSSRC: 1112, cname: "camera", streamID: "camera-video",
            trackID: "video")
    }

    static func audio(_ codecs: MediaCodec..., talkback: Bool = true) -> LocalTrack {
        LocalTrack(
            kind: .audio, codecs: codecs, receives: talkback, receiveCodecs: talkback ? [.opus, .pcmu, .pcma] : [],
            ssrc: 2222, cname: "camera", streamID: "camera-audio", trackID: "audio")
    }

    static func answerer(_ tracks: [LocalTrack] = [video(.vp8), audio(.opus)]) -> LiveViewAnswerer {
        LiveViewAnswerer(local: transport, tracks: tracks, sessionID: 42)
    }
}

func parse(_ lines: String...) throws -> SessionDescription {
    try SessionDescription(parsing: lines.joined(separator: "\r\n") + "\r\n")
}
