import DatagramPort
import Dispatch
import MediaRelay
import Transport

/// The thread of one talk: a talker's packets are decoded there, and the relay's thread only copies them.
///
/// The thread lives as long as this object, which the relay holds while the talker has the floor.
final class TalkThread: TalkbackSink {
    private let queue = PacketQueue()

    /// Starts a thread that decodes for `decoder`; nil when the system cannot start another one.
    init?(decoder: TalkbackDecoder) {
        let queue = queue
        let isRunning = startDetachedThread(name: "talk") {
            var buffer = [UInt8](repeating: 0, count: PacketQueue.packetSize)
            while true {
                switch queue.take(into: &buffer, until: decoder.nextDeadline) {
                case .packet(let packet):
                    buffer.withUnsafeBytes { bytes in
                        decoder.receive(
                            UnsafeRawBufferPointer(rebasing: bytes[..<packet.length]),
                            payloadType: packet.payloadType, sequenceNumber: packet.sequenceNumber,
                            timestamp: packet.timestamp, at: packet.arrival)
                    }
                case .timeIsUp: decoder.handleDeadline(at: MonotonicClock.now)
                case .stopped: return
                }
            }
        }
        guard isRunning else { return nil }
    }

    deinit { queue.stop() }

    func receive(
        _ payload: UnsafeRawBufferPointer, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32,
        at now: Instant
    ) {
        queue.add(
            PacketQueue.Packet(
                length: payload.count, payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp,
                arrival: now), payload)
    }
}

/// A talker's packets on their way to the talk's thread. It holds 32 packets, 640 ms of a browser's microphone; the
/// decoder conceals or skips what finds no room, like any lost packet.
private final class PacketQueue: Sendable {
    struct Packet {
        var length: Int
        var payloadType: UInt8
        var sequenceNumber: UInt16
        var timestamp: UInt32
        var arrival: Instant
    }

    private struct State {
        var bytes = [UInt8](repeating: 0, count: PacketQueue.capacity * PacketQueue.packetSize)
        var packets: [Packet?] = Array(repeating: nil, count: PacketQueue.capacity)
        var first = 0
        var count = 0
        var isStopped = false
    }

    /// No datagram is larger.
    static let packetSize = 2_048
    private static let capacity = 32

    private let state = Locked(State())
    private let somethingToDo = DispatchSemaphore(value: 0)

    func add(_ packet: Packet, _ payload: UnsafeRawBufferPointer) {
        guard packet.length <= Self.packetSize else { return }
        // The lock runs its closure here and now, so the memory outlives its use; see `TalkbackDecoder.receive`.
        let address = UInt(bitPattern: payload.baseAddress)
        let isFirst = state.withLock { state -> Bool in
            guard state.count < Self.capacity else { return false }
            let slot = (state.first + state.count) % Self.capacity
            state.packets[slot] = packet
            let payload = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: packet.length)
            state.bytes.withUnsafeMutableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: bytes[(slot * Self.packetSize)...]).copyMemory(from: payload)
            }
            state.count += 1
            return state.count == 1
        }
        if isFirst { somethingToDo.signal() }
    }

    enum Taken {
        case packet(Packet)
        case timeIsUp
        case stopped
    }

    /// Waits for a packet and copies its payload to the beginning of `buffer`.
    func take(into buffer: inout [UInt8], until deadline: Instant?) -> Taken {
        while true {
            let (packet, isStopped) = state.withLock { state -> (Packet?, Bool) in
                guard !state.isStopped, state.count > 0, let packet = state.packets[state.first] else {
                    return (nil, state.isStopped)
                }
                let start = state.first * Self.packetSize
                buffer.replaceSubrange(..<packet.length, with: state.bytes[start..<start + packet.length])
                state.first = (state.first + 1) % Self.capacity
                state.count -= 1
                return (packet, false)
            }
            if isStopped { return .stopped }
            if let packet { return .packet(packet) }
            guard let deadline else {
                somethingToDo.wait()
                continue
            }
            let left = (deadline - MonotonicClock.now).wholeNanoseconds
            guard left > 0 else { return .timeIsUp }
            _ = somethingToDo.wait(timeout: .now() + .nanoseconds(Int(clamping: left)))
        }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        somethingToDo.signal()
    }
}
