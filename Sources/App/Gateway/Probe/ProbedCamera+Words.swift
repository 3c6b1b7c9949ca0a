import Foundation
import Transport

extension ProbedCamera {
    /// The result for a person, line by line.
    public var words: String {
        var lines = [address]
        if let failure {
            lines.append("  not reached: \(failure)".onOneLine)
        } else {
            lines.append("  " + connectionWords)
        }
        lines += tracks.map { ("  " + Self.words($0)).onOneLine }
        if reached {
            lines.append(
                "  speaker  "
                    + (speaker.isEmpty ? "none described" : speaker.joined(separator: ", ").onOneLine))
        }
        lines += notes.map { "  note: \($0)".onOneLine }
        lines += ["", "What viewers get"] + viewers.map { "  " + $0.onOneLine }
        let learnt = profile.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)".onOneLine }
        if !learnt.isEmpty { lines += ["", "Learned about the camera"] + learnt }
        if reached {
            lines += ["", "To add it, paste this under cameras: in the config"]
            lines += config.split(separator: "\n").map { "  " + $0 }
            lines += passwordWords
        }
        return lines.joined(separator: "\n")
    }

    /// The password is never printed, so the text says how the gateway gets it.
    private var passwordWords: [String] {
        guard config.contains("${\(Self.passwordVariable)}") else { return [] }
        return [
            "",
            "The password is not printed. Paste this into the shell that starts the gateway, and type the password "
                + "as it is in the address:",
            "  read -rsp 'Password: ' \(Self.passwordVariable); export \(Self.passwordVariable)",
            "A service gets it from a file that only it may read; for systemd: EnvironmentFile=",
        ]
    }

    private var connectionWords: String {
        // The scheme without the letter for TLS, which is said in words.
        let scheme = address.prefix { $0 != ":" }.lowercased()
        let way = transport ?? (scheme.count > 4 && scheme.hasSuffix("s") ? String(scheme.dropLast()) : scheme)
        var parts = ["reached over \(way.uppercased())\(isSecure ? " with TLS" : "")"]
        if let seconds = secondsToPlay { parts.append("agreed to play after \(Self.seconds(seconds))") }
        if let seconds = secondsToFirstPacket { parts.append("first packet after \(Self.seconds(seconds))") }
        if let seconds = secondsToFirstKeyFrame { parts.append("first key frame after \(Self.seconds(seconds))") }
        parts.append("watched for \(Self.seconds(secondsWatched))")
        return parts.joined(separator: ", ")
    }

    private static func words(_ track: Track) -> String {
        var parts = [track.kind, track.profile ?? "\(track.codec)/\(track.clockRate)"]
        if let width = track.width, let height = track.height { parts.append("\(width)×\(height)") }
        if track.kind == "video" {
            parts.append(String(format: "%.1f frames/s", track.framesPerSecond))
        }
        parts.append(
            track.bitsPerSecond >= 1_000_000
                ? String(format: "%.1f Mbit/s", Double(track.bitsPerSecond) / 1e6)
                : "\(track.bitsPerSecond / 1_000) kbit/s")
        if let interval = track.keyFrameIntervalSeconds {
            parts.append("key frame every \(seconds(interval))")
        }
        if let hasBFrames = track.hasBFrames { parts.append(hasBFrames ? "with B-frames" : "no B-frames") }
        parts.append("\(track.lostPackets) of \(track.packets + track.lostPackets) packets lost")
        if let offset = track.clockOffsetSeconds, abs(offset) >= 0.5 {
            parts.append("its clock is \(seconds(abs(offset))) \(offset > 0 ? "ahead" : "behind")")
        }
        return parts.joined(separator: "  ")
    }

    private static func seconds(_ value: Double) -> String { String(format: value < 10 ? "%.2f s" : "%.0f s", value) }
}
