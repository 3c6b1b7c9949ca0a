import SCTP
import Transport

@testable import DataChannels

/// A peer of a host: an endpoint of its own, whose packets go to the host's line and come from it.
///
/// The host has a thread, so what comes back is waited for.
final class FarSide: Sendable {
    struct State {
        var association: SCTPAssociation?
        var table = DataChannelTable()
        var steps: [DataChannelTable.Step] = []
        var hasEnded = false
        var packetsFromHost = 0
    }

    let endpoint: SCTPEndpoint
    let line = SCTPLine()
    let state = Locked(State())
    private let incoming = Locked([[UInt8]]())
    private let events = Locked([DataChannelEvent]())
    private let hostLine = Locked<DataChannelLine?>(nil)

    init(port: UInt16, host: DataChannelHost) throws {
        endpoint = try SCTPEndpoint(port: port)
        endpoint.add(line)
        let made = host.makeLine(
            remotePort: port, longestMessage: nil,
            transmit: { [weak self] packets in self?.incoming.withLock { $0 += packets } },
            handler: { [weak self] event in self?.events.withLock { $0.append(event) } })
        hostLine.withLock { $0 = made }
    }

    deinit { endpoint.remove(line) }

    var channels: DataChannelLine? { hostLine.withLock { $0 } }

    /// What the host has reported.
    var reported: [DataChannelEvent] { events.withLock { $0 } }

    /// The texts that have come from the host.
    var texts: [String] {
        state.withLock { $0.steps }.compactMap { step in
            if case .text(_, let bytes) = step { String(decoding: bytes, as: UTF8.self) } else { nil }
        }
    }

    func connect() throws {
        try endpoint.connect(line, port: SCTPEndpoint.usualPort)
    }

    /// Opens a channel, once there is an association.
    func open(_ label: String) throws -> UInt16? {
        let (stream, steps) = state.withLock { state in
            state.table.open(DataChannelParameters(label: label), asDTLSClient: true) ?? (0, [])
        }
        try perform(steps)
        return steps.isEmpty ? nil : stream
    }

    func send(_ text: String, on stream: UInt16) throws {
        guard let message = state.withLock({ $0.table.message(text: Array(text.utf8), stream: stream) }),
            let association = state.withLock({ $0.association })
        else { return }
        try endpoint.send(message, association)
    }

    func perform(_ steps: [DataChannelTable.Step]) throws {
        guard let association = state.withLock({ $0.association }) else { return }
        for step in steps {
            switch step {
            case .send(let message): try endpoint.send(message, association)
            case .reset(let stream): try? endpoint.reset(stream: stream, association)
            default: break
            }
        }
    }

    /// Carries packets both ways until `isDone` holds, for at most so many steps of 10 ms.
    func run(steps: Int = 6_000, carries: Bool = true, until isDone: () -> Bool) -> Bool {
        for _ in 0..<steps {
            if carries { carry() }
            if isDone() { return true }
            pause(milliseconds: 10)
        }
        return isDone()
    }

    private func carry() {
        for packet in endpoint.takePackets(of: line) { packet.withUnsafeBytes { channels?.receive($0) } }
        let packets = incoming.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        state.withLock { $0.packetsFromHost += packets.count }
        for packet in packets { packet.withUnsafeBytes { endpoint.handle($0, line: line) } }
        while let event = endpoint.pollEvent() { take(event) }
    }

    private func take(_ event: SCTPEvent) {
        switch event {
        case .began(_, let association): state.withLock { $0.association = association }
        case .message(_, _, let stream, let identifier, let payload):
            let steps = state.withLock { state in
                let steps = state.table.handle(payload, stream: stream, protocolIdentifier: identifier)
                state.steps += steps
                return steps
            }
            try? perform(steps)
        case .reset(_, let streams):
            let steps = state.withLock { state in
                let steps = state.table.handleReset(streams)
                state.steps += steps
                return steps
            }
            try? perform(steps)
        case .ended: state.withLock { $0.hasEnded = true }
        case .restarted, .oversized: break
        }
    }
}
