import FragmentedMP4
import PushAvStreamTransport

/// How a PLAY of recorded footage is sent: which pictures, and how fast (ONVIF Streaming Specification, the header
/// fields `Frames` and `Rate-Control`).
struct ReplayManner: Equatable, Sendable {
    /// Which pictures are sent.
    enum Frames: Equatable, Sendable {
        case all
        /// Pictures from which decoding can begin, at least this many microseconds of footage apart, without sound.
        case intra(interval: Int64)
        /// Not the pictures between two others that no other one needs.
        case predicted
    }

    var frames = Frames.all
    /// Whether the footage is sent as fast as it was recorded; otherwise as fast as the client reads it.
    var isPaced = true

    /// The longest interval that a client can ask for: a day.
    private static let longestInterval: Int64 = 86_400_000

    /// Everything, as fast as it was recorded.
    init() {}

    /// Reads the header fields of a PLAY; nil when one of them has a value that the specification does not know.
    init?(frames: String?, rateControl: String?) {
        switch rateControl?.lowercased() {
        case nil, "yes": break
        case "no": isPaced = false
        default: return nil
        }
        let parts = (frames ?? "all").lowercased().split(separator: "/", omittingEmptySubsequences: false)
        switch (parts[0], parts.count) {
        case ("all", 1): break
        case ("predicted", 1): self.frames = .predicted
        case ("intra", 1): self.frames = .intra(interval: 0)
        case ("intra", 2):
            guard let milliseconds = Int64(parts[1]), (0...Self.longestInterval).contains(milliseconds) else {
                return nil
            }
            self.frames = .intra(interval: milliseconds * 1_000)
        default: return nil
        }
    }

    /// Whether sound is sent. Between single pictures it would have no place.
    var hasSound: Bool {
        if case .intra = frames { false } else { true }
    }
}

/// Decides which pictures of a playback are sent, in the order of decoding.
struct PictureSelection: Sendable {
    private let frames: ReplayManner.Frames
    /// When the latest key frame that was sent is shown, and the latest picture of all.
    private var latestSent: Int64?
    private var latestShown = Int64.min

    init(_ frames: ReplayManner.Frames) {
        self.frames = frames
    }

    /// Whether a picture is sent. The first one after a time without footage always is.
    mutating func admits(_ sample: FootageReader.Sample, _ codec: FootageCodec) -> Bool {
        if sample.beginsSection { latestSent = nil }
        if sample.isSync { latestShown = .min }
        defer { latestShown = max(latestShown, sample.showTime) }
        switch frames {
        case .all: return true
        case .intra(let interval):
            guard sample.isSync, latestSent.map({ sample.showTime - $0 >= interval }) ?? true else { return false }
            latestSent = sample.showTime
            return true
        case .predicted:
            // It is shown before a picture that was decoded earlier.
            return sample.showTime >= latestShown || codec.isReferenced(sample.data, sample.track)
        }
    }
}
