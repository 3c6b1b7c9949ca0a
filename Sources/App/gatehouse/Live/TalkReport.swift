import Foundation

/// What happened to the talk, from the microphone through the gateway to the camera, as the gateway reports it.
struct TalkReport: Codable, Sendable {
    var state: String
    var reason: String?
    var codec: String?
    var millisecondsToOpen: Double?
    var packetsReceived: UInt64
    var packetsLost: UInt64
    var millisecondsRestored: Double?
    var millisecondsConcealed: Double?
    var millisecondsReceived: Double
    var millisecondsQueued: Double
    var millisecondsSent: Double
    var millisecondsDropped: Double
    var millisecondsOfSilence: Double
    var packetsSent: UInt64
    var packetsDropped: UInt64

    /// The report for a person, in lines.
    var lines: [String] {
        func seconds(_ milliseconds: Double) -> String { String(format: "%.1f s", milliseconds / 1000) }
        let opened = millisecondsToOpen.map { ", open after \(Int($0.rounded())) ms" } ?? ""
        var lines = [
            "Talk     \(codec ?? "no codec")\(opened): \(seconds(millisecondsReceived)) arrived"
                + (packetsReceived > 0 ? " in \(packetsReceived) packets (\(packetsLost) lost)" : "")
                + ", \(seconds(millisecondsSent)) sent in \(packetsSent) packets",
            "         \(Int(millisecondsDropped.rounded())) ms dropped, \(Int(millisecondsOfSilence.rounded())) ms "
                + "filled with silence, \(Int(millisecondsQueued.rounded())) ms waiting",
        ]
        if packetsLost > 0, let millisecondsRestored, let millisecondsConcealed {
            lines.append(
                "         of the lost sound, \(Int(millisecondsRestored.rounded())) ms restored and "
                    + "\(Int(millisecondsConcealed.rounded())) ms concealed")
        }
        if let reason { lines.append("         \(state): \(reason)") }
        return lines
    }
}
