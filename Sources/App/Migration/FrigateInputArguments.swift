import Foundation

/// What Frigate's arguments for its ffmpeg (`input_args`) say about an input: one of Frigate's presets, or arguments of the
/// owner's own.
struct FrigateInputArguments {
    /// What comes over HTTP.
    enum Format {
        case pictures
        case flash
    }

    private let text: String

    /// Reads a text, or a list of words; nil for none.
    init(_ node: ForeignNode?) {
        text = (node?.elements ?? []).compactMap(\.text).joined(separator: " ")
    }

    /// `tcp` or `udp`; nil for what Gatehouse finds out by itself.
    var transport: String? {
        if text == "preset-rtsp-udp" || text.contains("-rtsp_transport udp") { return "udp" }
        return text.contains("-rtsp_transport tcp") ? "tcp" : nil
    }

    /// What comes over HTTP, as far as the arguments say it.
    var format: Format? {
        switch text {
        case "preset-http-jpeg-generic", "preset-http-mjpeg-generic": .pictures
        case "preset-http-reolink": .flash
        default: ["-f image2", "-f mjpeg"].contains { text.contains($0) } ? .pictures : nil
        }
    }

    /// Whether they are arguments of the owner's own that mean nothing here.
    var areOwn: Bool {
        !text.isEmpty && !text.hasPrefix("preset-") && text != "auto" && transport == nil && format == nil
    }
}
