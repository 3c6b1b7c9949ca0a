import Cameras
import RTSP
import Signalling

extension RTSPPublisherRefusal {
    /// Why it may not, and what would help, as the client reads it.
    var words: String {
        switch self {
        case .notOffered: "nobody can publish here"
        case .token(let fault): fault.words
        case .announcement(let fault): fault.words
        case .failed(let error): error.words
        }
    }

    /// The same for the log. The client chooses some of the words.
    public var logged: String { words.cut(toBytes: 512) }
}

extension AnnouncementFault {
    /// What is wrong, and what would be right.
    fileprivate var words: String {
        switch self {
        case .unreadable(let error): "the session description cannot be read: \(error)"
        case .tooManyTracks(let count):
            "the session description has \(count) tracks; the limit is \(RTSPServerSession.maximumTracks)"
        case .nothingUsable(let notes):
            notes.isEmpty
                ? "the session description has no track"
                : "no track can be used: " + notes.map(\.description).joined(separator: "; ")
        }
    }
}

extension RTSPServerNews {
    /// What is not used of what a client announces, for the log. The client chooses some of the words.
    public static func logged(leftOut notes: [CameraNote]) -> String {
        notes.isEmpty ? "nothing" : notes.map { $0.description.cut(toBytes: 256) }.joined(separator: "; ")
    }
}

extension String {
    /// Its beginning, for the log.
    func cut(toBytes count: Int) -> String {
        utf8.count <= count ? self : String(decoding: utf8.prefix(count), as: UTF8.self) + "…"
    }
}
