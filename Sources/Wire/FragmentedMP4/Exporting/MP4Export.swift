/// A file made of others: what is written, and which parts of which files are copied. Its length is known before
/// anything is read.
public struct MP4Export: Equatable, Sendable {
    /// A part of the file.
    public enum Piece: Equatable, Sendable {
        /// These bytes.
        case bytes([UInt8])
        /// So many bytes of a source file from an offset on. Sources are numbered by the caller.
        case source(Int, offset: Int64, length: Int64)

        /// Its length in bytes.
        public var length: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .source(_, _, let length): length
            }
        }
    }

    /// The parts in their order.
    public var pieces: [Piece]
    /// The length of the file in bytes.
    public var length: Int64
    /// How long it plays, in microseconds.
    public var duration: Int64
    /// How many samples it holds.
    public var samples: Int

    /// The pieces of a range of bytes, for a client that asks for a part of the file.
    public func pieces(in range: Range<Int64>) -> [Piece] {
        var result: [Piece] = []
        var position: Int64 = 0
        for piece in pieces {
            let end = position + piece.length
            defer { position = end }
            guard end > range.lowerBound else { continue }
            guard position < range.upperBound else { break }
            let from = max(range.lowerBound - position, 0)
            let until = min(range.upperBound - position, piece.length)
            guard from < until else { continue }
            switch piece {
            case .bytes(let bytes): result.append(.bytes(Array(bytes[Int(from)..<Int(until)])))
            case .source(let source, let offset, _):
                result.append(.source(source, offset: offset + from, length: until - from))
            }
        }
        return result
    }
}

/// Why recordings cannot become one file.
public enum MP4ExportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The track was described in another way before this time, in microseconds since the start of the export.
    case formatChanges(track: Int, at: Int64, from: String, to: String)
    /// A time without footage is longer than a file can express.
    case gapTooLong(seconds: Int64)
    /// There is more than one file may hold.
    case tooManySamples(limit: Int)
    /// Nothing was recorded in the range.
    case empty

    public var description: String {
        switch self {
        case .formatChanges(_, let at, let from, let to):
            "the format changes after \(Double(at) / 1_000_000) s from \(from) to \(to), and one file holds one format"
        case .gapTooLong(let seconds): "nothing was recorded for \(seconds) s, which is longer than a file can express"
        case .tooManySamples(let limit): "the range has more than \(limit) samples"
        case .empty: "nothing was recorded in the range"
        }
    }
}
