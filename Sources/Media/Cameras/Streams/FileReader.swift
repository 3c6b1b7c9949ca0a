import HTTPMedia
import Transport

/// Reads a file from the answer to one request: the whole of it, or parts that follow one another.
///
/// Some servers ignore byte ranges and send the whole file for each part. Their answer stays open, so that the file comes
/// once and not once for each of its parts.
struct FileReader {
    /// What was requested.
    let place: RequestPlace
    private let response: CameraHTTPResponse
    /// The position in the file of the next byte.
    private(set) var position: Int64
    /// What has come and is not wanted yet: less than one read.
    private var rest: [UInt8] = []
    private var isOpen = true
    /// Why nothing more comes, where something had come before.
    private var failure: CameraFailure?

    /// So many bytes before a part are read and dropped.
    static let maximumSkipped: Int64 = 64 << 20

    /// Begins with the content of an answer.
    /// - Parameter bytes: the part that was requested; nil for the whole file.
    init(_ place: RequestPlace, _ response: CameraHTTPResponse, bytes: Range<Int64>?) throws(CameraFailure) {
        (self.place, self.response) = (place, response)
        position = try response.head.contentStart(of: bytes)
    }

    /// Where the file came from, after redirections.
    var origin: RequestPlace { response.place ?? place }

    /// Whether the server sends the whole file for a part of it.
    var isWhole: Bool { response.head.status != 206 }

    /// Whether a part can be reached from here.
    func reaches(_ bytes: Range<Int64>) -> Bool {
        position <= bytes.lowerBound && bytes.lowerBound - position <= Self.maximumSkipped
    }

    /// Reads up to the end of a part, or to the end of the file if that comes first.
    /// - Parameters:
    ///   - bytes: the part, at or behind ``position``; nil for the whole file.
    ///   - limit: the most bytes that it may have.
    mutating func read(
        _ bytes: Range<Int64>?, limit: Int, until deadline: Instant, _ body: PlaylistWork.Body
    ) throws(CameraFailure) {
        var window = ContentWindow(bytes, from: position)
        var count = 0
        while !window.isComplete {
            var pieces: [[UInt8]] = []
            if !rest.isEmpty {
                pieces = [rest]
                rest = []
            } else {
                guard isOpen else { return }
                if let failure { throw failure }
                do throws(CameraFailure) {
                    isOpen = try response.receiveContent(until: deadline) { pieces.append(Array($0)) }
                } catch {
                    // What had come with the head is of use.
                    guard !pieces.isEmpty else { throw error }
                    failure = error
                }
            }
            for piece in pieces {
                let inside = window.take(piece.count)
                count += inside.count
                guard count <= limit else { throw .stream(.tooLarge) }
                try PlaylistWork.withBytes(of: piece[inside], body)
                let end = window.isComplete ? inside.upperBound : piece.count
                position += Int64(end)
                rest.append(contentsOf: piece[end...])
            }
        }
    }
}
