import HTTPTypes
import HomeTypes
import Hummingbird
import NIOCore
import PushAvStreamTransport
import Transport

/// Responses with footage: whole, or the range of bytes that a player asks for.
struct RecordingBody: Sendable {
    /// Its length in bytes.
    var length: Int64
    var mediaType: String
    var entityTag: String
    /// What the browser calls the file when it saves it; nil to show it.
    var fileName: String?
    /// Reads a range.
    var reader: @Sendable (Range<Int64>) -> RecordingExportReader

    /// How much is read, and sent, at once.
    private static let blockLength = 512 << 10

    /// The answer to a request (RFC 9110, sections 13 and 14).
    /// - Parameters:
    ///   - permit: asked before each block, whether the footage may leave, and whether this request may still have it.
    ///   - place: kept until the client has read everything.
    func response(
        to request: Request, permit: RecordingAccess.Permit, place: SnapshotPlaces.Place
    ) throws -> Response {
        var headers: HTTPFields = [
            .contentType: mediaType, .eTag: entityTag, .acceptRanges: "bytes",
            // Whether footage may be shown can change, so what is kept is asked for again.
            .cacheControl: "private, no-cache",
        ]
        if let known = request.headers[.ifNoneMatch], known == "*" || known.contains(entityTag) {
            return Response(status: .notModified, headers: headers)
        }
        if let name = fileName { headers[.contentDisposition] = "attachment; filename=\"\(name)\"" }
        var range = 0..<length
        var status = HTTPResponse.Status.ok
        let isCurrent = request.headers[.ifRange].map { $0 == entityTag } ?? true
        if isCurrent, let text = request.headers[.range] {
            switch Self.range(text, length: length) {
            case .whole: break
            case .part(let part):
                range = part
                status = .partialContent
                headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
            case .impossible:
                throw HTTPFailure(
                    error: .outOfRange("the range of bytes begins after the end of the file"),
                    status: .rangeNotSatisfiable, headers: [.contentRange: "bytes */\(length)"])
            }
        }
        let (reader, sent) = (self.reader, range)
        return Response(
            status: status, headers: headers,
            body: .init(contentLength: sent.count) { writer in
                defer { withExtendedLifetime(place) {} }
                let source = Source(reader(sent))
                // Each turn sends at least one byte of a known number.
                while let block = try await source.next(Self.blockLength) {
                    try permit.check()
                    try await writer.write(block)
                }
                try await writer.finish(nil)
            })
    }

    /// What a `Range` header asks for.
    enum Part: Equatable {
        case whole, impossible
        case part(Range<Int64>)
    }

    /// Several ranges, and other units than bytes, are ignored, which RFC 9110, section 14.2, allows.
    static func range(_ text: String, length: Int64) -> Part {
        guard text.hasPrefix("bytes="), text.utf8.count <= 64 else { return .whole }
        let parts = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return .whole }
        func number(_ text: Substring) -> Int64? {
            let text = text.trimmingPrefix(" ")
            return text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
        }
        if parts[0].isEmpty {
            guard let count = number(parts[1]) else { return .whole }
            return count == 0 || length == 0 ? .impossible : .part(max(0, length - count)..<length)
        }
        guard let from = number(parts[0]) else { return .whole }
        if parts[1].isEmpty { return from < length ? .part(from..<length) : .impossible }
        guard let last = number(parts[1]), last >= from else { return .whole }
        return from < length ? .part(from..<min(last, length - 1) + 1) : .impossible
    }

    /// Reads blocks on threads of their own, one after the other.
    private final class Source: Sendable {
        private struct State: ~Copyable, Sendable {
            var reader: RecordingExportReader
        }

        private let state: Locked<State>

        init(_ reader: consuming sending RecordingExportReader) {
            self.state = Locked(State(reader: reader))
        }

        /// The next block; nil at the end.
        func next(_ length: Int) async throws -> ByteBuffer? {
            let result: Result<ByteBuffer?, PlaybackError> = await withCheckedContinuation { continuation in
                let work: @Sendable () -> Void = { [self] in continuation.resume(returning: self.read(length)) }
                if !startDetachedThread(work) { work() }
            }
            switch result {
            case .success(let block): return block
            case .failure(let error): throw HomeError(error)
            }
        }

        private func read(_ length: Int) -> Result<ByteBuffer?, PlaybackError> {
            state.withLock { state in
                var buffer = ByteBufferAllocator().buffer(capacity: length)
                var failure: PlaybackError?
                buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: length) { raw in
                    do throws(PlaybackError) {
                        return try state.reader.read(into: UnsafeMutableRawBufferPointer(rebasing: raw[..<length]))
                    } catch {
                        failure = error
                        return 0
                    }
                }
                if let failure { return .failure(failure) }
                return .success(buffer.readableBytes == 0 ? nil : buffer)
            }
        }
    }
}
