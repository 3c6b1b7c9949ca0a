import DatagramPort
import Glibc
import NIOCore
import NIOPosix
import Transport

/// A file as the body of a request: whole, or while it grows. It is read in pieces on the thread pool for files, so neither
/// its size nor a slow disk matters.
struct FileBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    /// Why the file cannot be sent.
    enum Fault: Error, Equatable {
        case missing
        case shorter
        case abandoned
        case system(String)
    }

    /// What became of the body, for the one who sends it.
    final class Progress: Sendable {
        private let state: Locked<(isComplete: Bool, failure: Fault?, busySince: Instant?)>

        init(at now: Instant = MonotonicClock.now) { state = Locked((false, nil, now)) }

        /// Whether all of it was handed to the connection.
        var isComplete: Bool { state.withLock { $0.isComplete } }
        /// Why it could not be read.
        var failure: Fault? { state.withLock { $0.failure } }

        /// When the connection got the newest piece, or all of it; nil while it waits for more.
        var busySince: Instant? { state.withLock { $0.busySince } }

        /// The connection waits for the file to grow.
        func wait() { state.withLock { $0.busySince = nil } }
        /// The connection has something to send.
        func hand(at now: Instant = MonotonicClock.now) { state.withLock { $0.busySince = now } }

        func complete() { state.withLock { $0.isComplete = true } }
        func fail(_ failure: Fault) { state.withLock { $0.failure = failure } }
    }

    /// A file that is open.
    private final class OpenFile: Sendable {
        let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }
    }

    /// The file.
    let path: String
    /// Its length; nil while it grows.
    let byteCount: Int?
    /// Reports the growth.
    let growth: GrowingFile?
    /// What became of it.
    let progress = Progress()

    static let pieceSize = 128 << 10

    func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    struct Iterator: AsyncIteratorProtocol {
        let body: FileBody
        private var file: OpenFile?
        private var offset = 0

        init(body: FileBody) { self.body = body }

        mutating func next() async throws -> ByteBuffer? {
            body.progress.wait()
            defer { body.progress.hand() }
            do {
                return try await read()
            } catch let failure as Fault {
                body.progress.fail(failure)
                throw failure
            }
        }

        private mutating func read() async throws -> ByteBuffer? {
            var limit = body.byteCount ?? 0
            if let growth = body.growth {
                let state = await growth.next(after: offset)
                if state.isAbandoned { throw Fault.abandoned }
                limit = state.byteCount
            }
            guard offset < limit else {
                body.progress.complete()
                return nil
            }
            if file == nil { file = try await open() }
            guard let file else { return nil }
            let start = offset
            let count = Swift.min(FileBody.pieceSize, limit - offset)
            let piece = try await NIOThreadPool.singleton.runIfActive {
                try FileBody.piece(of: file.descriptor, start, count)
            }
            offset += piece.readableBytes
            if body.growth == nil, offset == limit { body.progress.complete() }
            return piece
        }

        private func open() async throws -> OpenFile {
            let path = body.path
            let result = try await NIOThreadPool.singleton.runIfActive {
                let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                return (descriptor, errno)
            }
            guard result.0 >= 0 else {
                throw result.1 == ENOENT ? Fault.missing : .system(String(cString: strerror(result.1)))
            }
            return OpenFile(result.0)
        }
    }

    private static func piece(of descriptor: Int32, _ offset: Int, _ count: Int) throws -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        var filled = 0
        while filled < count {
            let read = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count - filled) { memory in
                let result = pread(descriptor, memory.baseAddress, count - filled, off_t(offset + filled))
                if result < 0, errno == EINTR { return 0 }
                guard result >= 0 else { throw Fault.system(String(cString: strerror(errno))) }
                guard result > 0 else { throw Fault.shorter }
                return result
            }
            filled += read
        }
        return buffer
    }
}
