import HTTPMedia
import StreamFormats

/// Finds the part of a file that was requested in the content that comes (RFC 9110, section 14).
struct ContentWindow {
    private var skipped: Int64
    private var wanted: Int64

    /// Reads the head of an answer. A server that knows no parts of files sends the whole file.
    /// - Parameter bytes: what was requested; nil for the whole file.
    init(_ bytes: Range<Int64>?, of head: HTTPHead) throws(CameraFailure) {
        self.init(bytes, from: try head.contentStart(of: bytes))
    }

    /// What follows in a file from this position on.
    /// - Parameter bytes: what is wanted, not before `position`; nil for everything.
    init(_ bytes: Range<Int64>?, from position: Int64) {
        skipped = bytes.map { max(0, $0.lowerBound - position) } ?? 0
        wanted = bytes.map { Int64($0.count) } ?? .max
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

extension HTTPHead {
    /// The position in the file of the first byte of an answer's content.
    /// - Parameter bytes: what was requested; nil for the whole file.
    func contentStart(of bytes: Range<Int64>?) throws(CameraFailure) -> Int64 {
        guard let bytes, status == 206 else { return 0 }
        guard contentRangeStart == bytes.lowerBound else {
            throw .stream(.format(.damaged(.otherPart)))
        }
        return bytes.lowerBound
    }
}
