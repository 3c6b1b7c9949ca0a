import DatagramPort
import SDP

/// The cost of reading and answering an offer.
public struct SDPMeasurement: Codable, Hashable, Sendable {
    /// The name of the offer.
    public var offer: String
    /// The offer's size in bytes.
    public var bytes: Int
    /// Processor microseconds for reading it.
    public var parseMicroseconds: Double
    /// Processor microseconds for reading it, answering it and writing the answer; nil for an offer that has no answer.
    public var answerMicroseconds: Double?
    /// Offers per second and core, read and answered (only read if there is no answer).
    public var perSecond: Double
}

/// Reads and answers offers as the gateway does for a camera with VP8, H.264 and Opus.
public struct SDPBenchmark {
    private static let rounds = 9

    /// Prepares nothing.
    public init() {}

    /// Measures one offer, for some milliseconds.
    public func measure(name: String, text: String) throws -> SDPMeasurement {
        let parse = cost { _ = try? SessionDescription(parsing: text) }
        let offer = try SessionDescription(parsing: text)
        let answerer = Self.answerer
        var whole: Double?
        if (try? answerer.answer(offer)) != nil {
            whole = cost {
                guard let offer = try? SessionDescription(parsing: text) else { return }
                _ = try? answerer.answer(offer).answer.encoded()
            }
        }
        return SDPMeasurement(
            offer: name, bytes: text.utf8.count, parseMicroseconds: parse, answerMicroseconds: whole,
            perSecond: 1e6 / (whole ?? parse))
    }

    /// The median of a few rounds in microseconds.
    private func cost(_ body: () -> Void) -> Double {
        let repetitions = 50
        var costs: [Int64] = []
        for _ in 0..<Self.rounds {
            let start = ProcessorClock.thread
            for _ in 0..<repetitions { body() }
            costs.append(ProcessorClock.thread - start)
        }
        return Double(costs.median ?? 0) / Double(repetitions) / 1000
    }

    private static var answerer: LiveViewAnswerer {
        LiveViewAnswerer(
            local: LocalTransportDescription(
                usernameFragment: "benchmrk", password: "benchmarkbenchmarkbenchm",
                fingerprints: [Fingerprint(algorithm: "sha-256", bytes: [UInt8](repeating: 7, count: 32))],
                candidates: []),
            tracks: [
                LocalTrack(
                    kind: .video, codecs: [.vp8, .h264(profileLevelID: "42e01f")], ssrc: 1, rtxSSRC: 2, cname: "camera",
                    streamID: "camera-video", trackID: "camera-video-0"),
                LocalTrack(
                    kind: .audio, codecs: [.opus], receives: true, receiveCodecs: [.opus, .pcmu, .pcma], ssrc: 3,
                    cname: "camera", streamID: "camera-audio", trackID: "camera-audio-1"),
            ])
    }
}
