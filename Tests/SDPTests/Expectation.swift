import Foundation
import SDP
import Testing

/// What a sample's `NAME.expect.json` says of it. A missing member expects nothing.
struct Expectation: Decodable {
    struct Problem: Decodable {
        var line: Int
        var contains: String
    }
    struct Section: Decodable {
        var kind: String
        var mid: String?
        var port: UInt16
        var formats: Int
        var direction: String
        var candidates: Int
    }
    struct Track: Decodable {
        var index: Int
        var kind: String
        var role: String
        var payloadType: UInt8
        var codec: String
        var control: String?
        var parameters: [String: String]?
    }
    struct Remote: Decodable {
        var usernameFragment: String
        var candidates: Int
        var trickle: Bool
        var complete: Bool
        var lite: Bool
        var fingerprints: [String]
    }
    struct Used: Decodable {
        var payloadType: UInt8
        var codec: String
        var direction: String
        var rtx: UInt8?
        var feedback: [String]?
        var extensions: [String: UInt8]?
    }
    struct Answer: Decodable {
        var camera: [String]
        var talkback: Bool
        var media: [Used?]?
        var bundle: [String]?
        var notes: [String]?
        var protocols: [String]?
        var localSetup: String?
        var error: String?
        var says: [String]?
    }
    struct Accepted: Decodable {
        var direction: String
        var codec: String
        var payloadType: UInt8
        var remoteSSRCs: [UInt32]?
        var retransmissions: [String: UInt8]?
        var parameters: [String: String]?
    }

    var problems: [Problem]

    init(_ path: String) throws {
        self = try Self.read(path)
    }

    static func read<Value: Decodable>(_ path: String, as type: Value.Type = Value.self) throws -> Value {
        let stem = path.replacing(#/\.sdp(frag)?$/#, with: "")
        return try JSONDecoder().decode(Value.self, from: Data(Samples.text(stem + ".expect.json").utf8))
    }
}

func expect(_ problems: [SessionDescription.Problem], are expected: [Expectation.Problem], _ path: String) {
    #expect(problems.map(\.line) == expected.map(\.line), "\(path): \(problems)")
    for (problem, expected) in zip(problems, expected) {
        #expect(problem.description.contains(expected.contains), "\(path): \(problem)")
    }
}

/// A codec of an expectation: `VP8/90000`, or `H264/90000` with a profile-level-id behind a space.
func codec(_ text: String) -> MediaCodec {
    let words = text.split(separator: " ")
    if words.count == 2 { return .h264(profileLevelID: String(words[1])) }
    let parts = words[0].split(separator: "/")
    return MediaCodec(
        name: String(parts[0]), clockRate: Int(parts[1]) ?? 0, channels: parts.count > 2 ? Int(parts[2]) ?? 1 : 1)
}

func names(_ feedback: FeedbackMessages) -> Set<String> {
    let all: [(FeedbackMessages, String)] = [
        (.nack, "nack"), (.pli, "pli"), (.fir, "fir"), (.remb, "remb"), (.transportCC, "transportCC"),
    ]
    return Set(all.filter { feedback.contains($0.0) }.map(\.1))
}

func names(_ extensions: NegotiatedHeaderExtensions) -> [String: UInt8] {
    var result: [String: UInt8] = [:]
    result["mid"] = extensions.mid
    result["absoluteSendTime"] = extensions.absoluteSendTime
    result["transportWideCC"] = extensions.transportWideCC
    result["audioLevel"] = extensions.audioLevel
    result["playoutDelay"] = extensions.playoutDelay
    return result
}
