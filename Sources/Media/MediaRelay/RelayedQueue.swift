import DatagramPort
import Synchronization
import Transport

/// Datagrams on their way from the shards to the thread that speaks with a TURN server, or to the one that has the viewers'
/// TCP connections. They are copied into memory that is
/// used again. The queue is bounded: what finds no room is lost, as on any network.
final class RelayedQueue: Sendable {
    fileprivate struct Entry: BitwiseCopyable {
        var offset: Int
        var count: Int
        var peer: TransportAddress
    }

    struct Batch {
        fileprivate var bytes: [UInt8] = []
        fileprivate var entries: [Entry] = []

        /// Passes each datagram to `body` and forgets all of them.
        mutating func drain(_ body: (UnsafeRawBufferPointer, TransportAddress) -> Void) {
            bytes.withUnsafeBytes { memory in
                for entry in entries {
                    body(
                        UnsafeRawBufferPointer(rebasing: memory[entry.offset..<entry.offset + entry.count]), entry.peer)
                }
            }
            bytes.removeAll(keepingCapacity: true)
            entries.removeAll(keepingCapacity: true)
        }
    }

    private struct State {
        var batch = Batch()
        /// Wakes the thread; nil while there is none.
        var wake: (@Sendable () -> Void)?
    }

    /// Half a second of 32 Mbit/s.
    private static let maximumBytes = 2 << 20

    private let state = Locked(State())
    private let hasReader = Atomic(false)

    /// Whether anything can come and go by this way.
    var isInUse: Bool { hasReader.load(ordering: .relaxed) }

    /// Lets `wake` be called when something waits; nil when nobody takes it any more.
    func setReader(_ wake: (@Sendable () -> Void)?) {
        hasReader.store(wake != nil, ordering: .relaxed)
        state.withLock { state in
            state.wake = wake
            state.batch = Batch()
        }
    }

    /// Takes the datagrams that `transmit` describes.
    func send(_ bytes: UnsafeRawBufferPointer, transmit: Transmit) -> SendOutcome {
        let wake: (@Sendable () -> Void)?
        let outcome: SendOutcome
        (wake, outcome) = state.withLock { state in
            guard let wake = state.wake, transmit.segmentSize > 0 else { return (nil, .refused) }
            guard state.batch.bytes.count + transmit.byteCount <= Self.maximumBytes else { return (nil, .blocked) }
            let isFirst = state.batch.entries.isEmpty
            var offset = 0
            while offset < transmit.byteCount {
                let count = min(transmit.segmentSize, transmit.byteCount - offset)
                state.batch.entries.append(
                    Entry(offset: state.batch.bytes.count, count: count, peer: transmit.destination.by(.direct)))
                state.batch.bytes.append(contentsOf: bytes[offset..<offset + count])
                offset += count
            }
            return (isFirst ? wake : nil, .sent)
        }
        wake?()
        return outcome
    }

    /// Exchanges what waits with `batch`, which should be empty.
    func take(into batch: inout Batch) {
        state.withLock { state in swap(&state.batch, &batch) }
    }
}
