import SCTP
import Transport

/// Runs the data channels of all sessions on a thread of its own.
///
///     shard ─SCTP packets▶ queue ─▶ this thread: libusrsctp, channels ─events▶ signalling
///     shard ◀──────────── packets ─┘                    ◀─ texts ─┘
///
/// SCTP does not run on the shards, although they hold the DTLS associations: libusrsctp is one for the process, takes locks
/// and allocates. On its own thread it delays no media. A shard only copies a packet into the queue, and encrypts what
/// comes back.
///
/// The thread starts with the first packet, and waits without a deadline while no session has an association.
public final class DataChannelHost: Sendable {
    let queue: DataChannelQueue
    /// What bounds the associations, as session descriptions name it.
    public let sctp: SCTPEndpoint.Limits

    /// Makes a host. Nothing runs yet.
    public init(limits: DataChannelLimits = DataChannelLimits(), sctp: SCTPEndpoint.Limits = SCTPEndpoint.Limits()) {
        self.sctp = sctp
        queue = DataChannelQueue(limits: limits) { queue in
            startDetachedThread(name: "data-channels") {
                guard let worker = DataChannelWorker(queue: queue, limits: limits, sctp: sctp) else {
                    queue.stop()
                    // What has been posted must be answered.
                    DataChannelWorker.refuse(queue.take(within: .zero))
                    return
                }
                worker.run()
            }
        }
    }

    deinit { queue.stop() }

    /// Ends the thread after what has been asked of it so far. Channels end without a word.
    public func stop() { queue.stop() }

    /// Prepares the data channels of a session. Nothing happens before the peer's first packet.
    /// - Parameters:
    ///   - remotePort: the peer's SCTP port.
    ///   - longestMessage: the largest message that the peer accepts, in bytes; nil for any.
    ///   - transmit: hands packets to the session's DTLS association. Called on the host's thread; must not wait.
    ///   - handler: called on the host's thread for each event; must not wait.
    public func makeLine(
        remotePort: UInt16, longestMessage: Int?, transmit: @escaping @Sendable ([[UInt8]]) -> Void,
        handler: @escaping @Sendable (DataChannelEvent) -> Void
    ) -> DataChannelLine {
        DataChannelLine(
            host: self, remotePort: remotePort, longestMessage: longestMessage, transmit: transmit, handler: handler)
    }

    /// What the host has done.
    public func counters() async -> DataChannelCounters {
        await withCheckedContinuation { continuation in
            if !queue.post(.read { continuation.resume(returning: $0) }) {
                continuation.resume(returning: DataChannelCounters())
            }
        }
    }
}
