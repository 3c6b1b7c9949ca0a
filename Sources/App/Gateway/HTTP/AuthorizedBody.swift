import Hummingbird
import NIOCore

/// A body that ends only if its sender may still do what it could do when the request came. Without that, a client could
/// keep the last byte back until it has lost its rights, and use them then.
struct AuthorizedBody: AsyncSequence, Sendable {
    let body: RequestBody
    /// Fails if the sender may do less than before.
    let check: @Sendable () throws -> Void

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let check: @Sendable () throws -> Void

        mutating func next() async throws -> ByteBuffer? {
            let next = try await base.next()
            if next == nil { try check() }
            return next
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), check: check)
    }
}
