import SCTP
import Synchronization

/// The data channels of one session. Any thread may use it; nothing here waits.
public final class DataChannelLine: Sendable {
    let line = SCTPLine()
    let remotePort: UInt16
    let longestMessage: Int?
    /// Hands packets to the session's DTLS association, in this order. It must not wait.
    let transmit: @Sendable ([[UInt8]]) -> Void
    let handler: @Sendable (DataChannelEvent) -> Void
    private let host: DataChannelHost
    private let unhandled = Atomic(0)
    /// Whether the peer has sent anything. Without that there is nothing to end, and nobody to tell.
    private let isUsed = Atomic(false)

    init(
        host: DataChannelHost, remotePort: UInt16, longestMessage: Int?,
        transmit: @escaping @Sendable ([[UInt8]]) -> Void, handler: @escaping @Sendable (DataChannelEvent) -> Void
    ) {
        self.host = host
        self.remotePort = remotePort
        self.longestMessage = longestMessage
        self.transmit = transmit
        self.handler = handler
    }

    /// Takes an SCTP packet of the peer. It is copied.
    public func receive(_ packet: UnsafeRawBufferPointer) {
        isUsed.store(true, ordering: .relaxed)
        host.queue.add(Array(packet), of: self)
    }

    /// Sends a text on a channel, or on all open channels.
    ///
    /// A channel that takes texts too slowly gets the newest of each `kind` when it has room again. Without a kind the text must
    /// not be lost, so the channels are ended.
    /// - Parameters:
    ///   - channel: the channel; nil for all.
    ///   - kind: what the text replaces if it is still waiting.
    public func send(_ text: String, on channel: UInt16? = nil, kind: String? = nil) {
        host.queue.post(.send(self, Array(text.utf8), channel: channel, kind: kind))
    }

    /// Ends all channels.
    /// - Parameters:
    ///   - text: said on all channels before; nil for nothing.
    ///   - whenDone: called once, when the last packet has been handed to ``transmit``.
    public func end(saying text: String? = nil, whenDone: @escaping @Sendable () -> Void = {}) {
        guard isUsed.load(ordering: .relaxed) else { return whenDone() }
        if !host.queue.post(.end(self, text.map { Array($0.utf8) }, whenDone)) { whenDone() }
    }

    /// A message that was reported has been handled.
    public func recordHandled() {
        unhandled.subtract(1, ordering: .relaxed)
    }

    /// A message is about to be reported.
    /// - Returns: how many have not been handled, this one included.
    func recordReported() -> Int { unhandled.add(1, ordering: .relaxed).newValue }
}
