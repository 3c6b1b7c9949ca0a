import HTTPMedia
import StreamFormats

/// Finds the part of a file that was requested in the content that comes (RFC 9110, section 14).
struct ContentWindow {
    private var skipped: Int64
    private var wanted: Int64

    /// Reads the head of an answer. A server that knows no parts of files sends the whole file.
    /// - Parameter bytes: what was requested; nil for the whole file.
    init(_ bytes: Range<Int64>?, of head: HTTPHead) throws(CameraFailure) {
        (skipped, wanted) = (bytes?.lowerBound ?? 0, bytes.map { Int64($0.count) } ?? .max)
        guard let bytes, head.status == 206 else { return }
        guard head.contentRangeStart == bytes.lowerBound else {
            throw .stream(.format(.damaged("the server sends another part of a file than the playlist names")))
        }
        skipped = 0
    }

    /// Whether everything that was requested has come. The whole of a file is complete when its content ends.
    var isComplete: Bool { wanted == 0 }

    /// Counts a piece of the content.
    /// - Returns: the positions of the piece's bytes that were requested.
    mutating func take(_ count: Int) -> Range<Int> {
        let before = Int(min(skipped, Int64(count)))
        skipped -= Int64(before)
        let inside = Int(min(wanted, Int64(count - before)))
        wanted -= Int64(inside)
        return before..<before + inside
    }
}
