import Foundation
import Transport

/// The result of `gatehouse live`, for a script.
struct LiveReport: Codable, Sendable {
    /// One step of the start and when it ended.
    struct Step: Codable, Sendable {
        /// `answer`, `pathFound`, `connected`, `firstPacket`, `firstKeyFrame` or `firstPicture`.
        var name: String
        /// Milliseconds since the offer was posted.
        var milliseconds: Double
    }

    /// The picture.
    struct Video: Codable, Sendable {
        var codec: String
        var width: Int
        var height: Int
        var framesDecoded: Int
        /// How many of them were older than the start: the pictures since the last key frame, which come at once.
        var backlogFrames: Int
        var keyFrames: Int
        var packets: UInt64
        var packetsLost: UInt64
        var packetsRetransmitted: UInt64
        /// By the camera's clock, after the backlog; 0 when there were too few frames.
        var framesPerSecond: Double
        /// How many frame numbers of a test picture were missing between the first and the last; nil when none were
        /// read.
        var testPictureFramesMissing: Int?
    }

    /// Which of the camera's streams the picture was from.
    struct Stream: Codable, Sendable {
        /// `main` or `sub`.
        var name: String
        /// `only`, `largest`, `hint` or `path`.
        var reason: String
    }

    /// The sound.
    struct Audio: Codable, Sendable {
        var codec: String
        var packets: UInt64
        var packetsLost: UInt64
        /// Seconds of sound decoded.
        var seconds: Double
        /// The root mean square of the samples, 0 to 1.
        var level: Double
        /// The strongest tone in hertz, if there was one.
        var tone: Double?
    }

    /// From the camera's lens to the decoded picture, by the clock in a test picture; in milliseconds.
    struct Latency: Codable, Sendable {
        var median: Double
        var p95: Double
        var maximum: Double
    }

    var device: String
    var durationSeconds: Double
    var steps: [Step]
    /// `direct`, `reflexive`, `relayed` or `tcp`, as the gateway says; nil when the session has ended by itself.
    var path: String?
    /// The camera's stream at the end; nil without a picture.
    var stream: Stream?
    /// What the path carries in bits a second, as far as the gateway knows; 0 while unknown.
    var estimatedBitrate: UInt64?
    var video: Video?
    var audio: Audio?
    var glassToGlass: Latency?
    /// The report on the talk, if there was one.
    var talk: TalkReport?
    var snapshot: String?
    var recording: String?
    var notes: [String]
    var endReason: String?

    /// Whether everything that was agreed on really arrived.
    var isComplete: Bool {
        if let video, video.framesDecoded == 0 { return false }
        if let audio, audio.packets == 0 || audio.seconds == 0 { return false }
        return video != nil || audio != nil
    }
}

extension LiveReport {
    /// The report for a person.
    var text: String {
        var lines: [String] = []
        lines.append("Start of \(device)")
        for step in steps {
            let name = step.name.padding(toLength: 14, withPad: " ", startingAt: 0)
            lines.append("  \(name) \(milliseconds(step.milliseconds))")
        }
        if let path { lines.append("Path     \(Self.pathWords[path] ?? path.onOneLine)") }
        if let estimatedBitrate, estimatedBitrate > 0 {
            lines.append(
                "Carries  \(String(format: "%.1f", Double(estimatedBitrate) / 1e6)) Mbit/s, as far as is known")
        }
        if let stream {
            lines.append(
                "Stream   \(stream.name.onOneLine), \(Self.reasonWords[stream.reason] ?? stream.reason.onOneLine)")
        }
        if let video {
            lines.append(
                "Picture  \(video.codec) \(video.width)×\(video.height), \(video.framesDecoded) frames decoded "
                    + "(\(video.keyFrames) key frames, \(video.backlogFrames) from before the start), "
                    + "\(String(format: "%.1f", video.framesPerSecond)) per second, "
                    + "\(video.packetsLost) of \(video.packets + video.packetsLost) packets lost, "
                    + "\(video.packetsRetransmitted) retransmitted")
            if let missing = video.testPictureFramesMissing { lines.append("         \(missing) frames missing") }
        } else {
            lines.append("Picture  none")
        }
        if let audio {
            let tone = audio.tone.map { ", tone at \(Int($0.rounded())) Hz" } ?? ""
            lines.append(
                "Sound    \(audio.codec), \(String(format: "%.1f", audio.seconds)) s decoded from \(audio.packets) "
                    + "packets, \(audio.packetsLost) lost, level \(String(format: "%.3f", audio.level))\(tone)")
        } else {
            lines.append("Sound    none")
        }
        if let glassToGlass {
            lines.append(
                "Latency  glass to glass \(milliseconds(glassToGlass.median)) (median), "
                    + "\(milliseconds(glassToGlass.p95)) (95 %), \(milliseconds(glassToGlass.maximum)) (maximum)")
        }
        if let talk { lines += talk.lines }
        if let snapshot { lines.append("Snapshot \(snapshot)") }
        if let recording { lines.append("Recorded \(recording)") }
        for note in notes { lines.append("Note     \(note.onOneLine)") }
        if let endReason { lines.append("Ended    \(endReason.onOneLine)") }
        return lines.joined(separator: "\n")
    }

    private static let reasonWords = [
        "only": "the only one that fits", "largest": "the largest", "hint": "as asked",
        "path": "because the path does not carry the main stream",
    ]

    private static let pathWords = [
        "direct": "direct", "reflexive": "through a router", "relayed": "through a TURN server", "tcp": "over TCP",
    ]
}
