import Foundation

/// What Frigate's arguments for its ffmpeg (`input_args`) say about an input: one of Frigate's presets, or arguments of the
/// owner's own.
struct FrigateInputArguments {
    /// What comes over HTTP.
    enum Format: Equatable {
        case pictures
        /// A stream; Gatehouse reads its address behind this word and a plus sign.
        case stream(String)
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
        case "preset-http-reolink": .stream("flv")
        default: named
        }
    }

    /// The format that arguments of the owner's own name, as in `-f mpegts`.
    private var named: Format? {
        let words = text.split(separator: " ")
        guard let flag = words.firstIndex(of: "-f"), words.indices.contains(flag + 1) else { return nil }
        switch words[flag + 1] {
        case "image2", "image2pipe", "jpeg_pipe", "mjpeg", "mpjpeg": return .pictures
        case "flv", "live_flv": return .stream("flv")
        case "hls": return .stream("hls")
        case "mpegts": return .stream("mpegts")
        default: return nil
        }
    }

    /// Whether they are arguments of the owner's own that mean nothing here.
    var areOwn: Bool {
        !text.isEmpty && !text.hasPrefix("preset-") && text != "auto" && transport == nil && format == nil
    }
}
