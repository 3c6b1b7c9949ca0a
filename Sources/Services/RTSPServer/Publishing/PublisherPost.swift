import Transport

/// Brings to the server's thread what other threads know of publishers.
final class PublisherPost: Sendable {
    typealias Work = @Sendable (RTSPServerShard, Instant) -> Void

    private let post = Locked<(@Sendable (@escaping Work) -> Bool)?>(nil)

    func setPost(_ post: @escaping @Sendable (@escaping Work) -> Bool) {
        self.post.withLock { $0 = post }
    }

    /// Runs `work` on the server's thread. False if the thread has ended.
    @discardableResult
    func post(_ work: @escaping Work) -> Bool {
        post.withLock { $0 }?(work) ?? false
    }
}
