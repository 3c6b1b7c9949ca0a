import SDP
import Stations

extension SessionNote: CustomStringConvertible {
    /// The note as people read it.
    public var description: String {
        switch self {
        case .offer(let note): note.description
        case .camera(let fault): fault.words
        case .transcoded(let kind, let source, let hasBFrames, let result):
            "\(kind.name): \(source)\(hasBFrames ? " with B-frames" : "") is transcoded to \(result)"
        }
    }
}
