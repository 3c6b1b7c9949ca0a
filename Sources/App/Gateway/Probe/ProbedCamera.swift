import Cameras
import Foundation
import HomeTypes
import RTSP
import SDP

/// A probe's result as people and scripts read it. It holds no password: where the camera's text repeats one, it is
/// masked.
public struct ProbedCamera: Sendable, Codable, Equatable {
    /// What one track delivered.
    public struct Track: Sendable, Codable, Equatable {
        /// `video` or `audio`.
        public var kind: String
        /// The codec's encoding name, for example `H264`.
        public var codec: String
        /// The RTP clock in hertz.
        public var clockRate: Int
        /// Profile and level in words.
        public var profile: String?
        /// The picture's width in pixels.
        public var width: Int?
        /// The picture's height in pixels.
        public var height: Int?
        /// Whether pictures depend on later ones.
        public var hasBFrames: Bool?
        /// The mean time from key frame to key frame in seconds.
        public var keyFrameIntervalSeconds: Double?
        /// Bits of payload per second.
        public var bitsPerSecond: Int
        /// Pictures per second, or packets of sound per second.
        public var framesPerSecond: Double
        /// Packets that arrived.
        public var packets: Int
        /// Packets that were missing.
        public var lostPackets: Int
        /// How far the camera's clock is ahead of this machine's, in seconds.
        public var clockOffsetSeconds: Double?
    }

    /// The address without credentials.
    public var address: String
    /// Whether media arrived.
    public var reached: Bool
    /// Why nothing arrived.
    public var failure: String?
    /// What kind of failure that is; nil where media arrived.
    public var cause: CameraSourceCause?
    /// Seconds until the camera agreed to play.
    public var secondsToPlay: Double?
    /// Seconds until the first packet.
    public var secondsToFirstPacket: Double?
    /// Seconds until the first key frame.
    public var secondsToFirstKeyFrame: Double?
    /// How long the probe watched, in seconds.
    public var secondsWatched: Double
    /// The transport of the packets: `tcp`, `udp` or `http`.
    public var transport: String?
    /// Whether the connection went through TLS.
    public var isSecure: Bool
    /// The tracks, video first.
    public var tracks: [Track]
    /// What the camera's speaker accepts, for example `PCMA/8000`; empty if it describes none.
    public var speaker: [String]
    /// What the probe learned, by its names.
    public var profile: [String: String]
    /// In words, what viewers will get.
    public var viewers: [String]
    /// In words, which parts of the description are not pulled, and why.
    public var notes: [String]
    /// Whether a camera that is asked by ONVIF has a smaller stream, which was not watched; nil for others.
    public var hasSubstream: Bool?
    /// An entry for the config's `cameras`, without the password.
    public var config: String

    /// Describes a result.
    /// - Parameters:
    ///   - report: what the probe found.
    ///   - typed: the address as it was typed, before `${NAME}` was replaced.
    ///   - expanded: the address with everything in it, for masking.
    public init(_ report: CameraProbeReport, typed: String, expanded: String) {
        let secrets = CameraAddress(text: expanded).secrets.filter { $0.utf8.count >= 3 }
        func mask(_ text: String) -> String {
            secrets.reduce(CameraAddress(text: text).masked) {
                $0.replacingOccurrences(of: $1, with: CameraAddress.mask)
            }
        }
        self.address = mask(report.address)
        self.reached = report.isReached
        self.failure = report.failure.map(mask)
        self.cause = report.failureKind.map { CameraSourceCause($0) }
        self.secondsToPlay = report.secondsToPlay.map(Self.rounded)
        self.secondsToFirstPacket = report.secondsToFirstPacket.map(Self.rounded)
        self.secondsToFirstKeyFrame = report.secondsToFirstKeyFrame.map(Self.rounded)
        self.secondsWatched = Self.rounded(report.secondsWatched)
        self.transport = report.transport.kind?.rawValue
        self.isSecure = report.transport.isSecure
        self.tracks = report.tracks.map { Track($0, mask: mask) }
        self.speaker = report.backChannelCodecs.map(mask)
        self.profile = report.profile.fields.mapValues(mask)
        self.viewers = report.advice.map(mask)
        self.notes = report.notes.map { mask($0.description) }
        self.hasSubstream = report.hasSubstream
        self.config = Self.entry(report, typed: typed)
    }

    /// The variable that replaces a password in the printed entry.
    static let passwordVariable = "CAMERA_PASSWORD"

    static func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }

    /// The entry to paste: the address with a variable in place of its password, and the settings that `auto` would
    /// have to learn again.
    private static func entry(_ report: CameraProbeReport, typed: String) -> String {
        // A user who typed a variable wants that one.
        let source =
            typed.contains("${")
            ? typed : CameraAddress(text: typed).replacingSecrets(with: "${\(Self.passwordVariable)}")
        let quoted = source.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
        var lines = ["- id: camera", "  name: Camera", "  type: camera", "  source: \"\(quoted)\""]
        if let transport = report.transport.kind, transport != .tcp {
            lines.append("  transport: \(transport.rawValue)")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ProbedCamera.Track {
    init(_ track: CameraProbeReport.Track, mask: (String) -> String) {
        self.init(
            kind: track.description.kind.name, codec: mask(track.description.codec.name),
            clockRate: Int(track.description.codec.clockRate), profile: track.profile, width: track.width,
            height: track.height, hasBFrames: track.hasBFrames,
            keyFrameIntervalSeconds: track.keyFrameInterval.map(ProbedCamera.rounded),
            bitsPerSecond: track.bitsPerSecond, framesPerSecond: ProbedCamera.rounded(track.framesPerSecond),
            packets: track.packets, lostPackets: track.lostPackets,
            clockOffsetSeconds: track.clockOffset.map(ProbedCamera.rounded))
    }
}
