import Foundation
import Transport

extension ProbedCamera {
    /// The result for a person, line by line.
    public var words: String {
        var lines = [self.address]
        if let failure {
            lines.append("  not reached: \(failure)".onOneLine)
        } else {
            lines.append("  " + self.connectionWords)
        }
        lines += self.tracks.map { ("  " + Self.words($0)).onOneLine }
        if self.reached {
            lines.append(
                "  speaker  "
                    + (self.speaker.isEmpty ? "none described" : self.speaker.joined(separator: ", ").onOneLine))
        }
        lines += self.notes.map { "  note: \($0)".onOneLine }
        lines += ["", "What viewers get"] + self.viewers.map { "  " + $0.onOneLine }
        let learnt = self.profile.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)".onOneLine }
        if !learnt.isEmpty { lines += ["", "Learned about the camera"] + learnt }
        if self.reached {
            lines += ["", "To add it, paste this under cameras: in the config"]
            lines += self.config.split(separator: "\n").map { "  " + $0 }
            lines += self.passwordWords
        }
        return lines.joined(separator: "\n")
    }

    /// The password is never printed, so the text says how the gateway gets it.
    private var passwordWords: [String] {
        guard self.config.contains("${\(Self.passwordVariable)}") else { return [] }
        return [
            "",
            "The password is not printed. Paste this into the shell that starts the gateway, and type the password "
                + "as it is in the address:",
            "  read -rsp 'Password: ' \(Self.passwordVariable); export \(Self.passwordVariable)",
            "A service gets it from a file that only it may read; for systemd: EnvironmentFile=",
        ]
    }

    private var connectionWords: String {
        var parts = ["reached over \((self.transport ?? "rtsp").uppercased())\(self.isSecure ? " with TLS" : "")"]
        if let seconds = self.secondsToPlay { parts.append("agreed to play after \(Self.seconds(seconds))") }
        if let seconds = self.secondsToFirstPacket { parts.append("first packet after \(Self.seconds(seconds))") }
        if let seconds = self.secondsToFirstKeyFrame { parts.append("first key frame after \(Self.seconds(seconds))") }
        parts.append("watched for \(Self.seconds(self.secondsWatched))")
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
            parts.append("key frame every \(self.seconds(interval))")
        }
        if let hasBFrames = track.hasBFrames { parts.append(hasBFrames ? "with B-frames" : "no B-frames") }
        parts.append("\(track.lostPackets) of \(track.packets + track.lostPackets) packets lost")
        if let offset = track.clockOffsetSeconds, abs(offset) >= 0.5 {
            parts.append("its clock is \(self.seconds(abs(offset))) \(offset > 0 ? "ahead" : "behind")")
        }
        return parts.joined(separator: "  ")
    }

    private static func seconds(_ value: Double) -> String { String(format: value < 10 ? "%.2f s" : "%.0f s", value) }
}
