import SCTP
import Transport

/// Two endpoints with one association between them, and a network whose losses a seed decides.
///
/// libusrsctp looks at the clock to see how old a packet is, so time passes here as it does outside (see `SCTPStack`).
final class BackToBack {
    let near: SCTPEndpoint
    let far: SCTPEndpoint
    let nearLine = SCTPLine()
    let farLine = SCTPLine()
    /// The share of packets that get lost.
    var loss = 0.0
    private(set) var nearAssociation: SCTPAssociation?
    private(set) var farAssociation: SCTPAssociation?
    private(set) var nearEvents: [SCTPEvent] = []
    private(set) var farEvents: [SCTPEvent] = []
    private(set) var largestPacket = 0
    private var random: RandomSource

    init(ports: (near: UInt16, far: UInt16), seed: UInt64 = 1) throws {
        near = try SCTPEndpoint(port: ports.near)
        far = try SCTPEndpoint(port: ports.far)
        random = .seeded(seed)
        near.add(nearLine)
        far.add(farLine)
        try near.connect(nearLine, port: ports.far)
    }

    deinit {
        if let nearAssociation { near.abort(nearAssociation) }
        if let farAssociation { far.abort(farAssociation) }
        near.remove(nearLine)
        far.remove(farLine)
    }

    /// The messages that have come to the far side.
    var farMessages: [[UInt8]] {
        farEvents.compactMap { event in
            if case .message(_, _, _, _, let payload) = event { payload } else { nil }
        }
    }

    var nearMessages: [[UInt8]] {
        nearEvents.compactMap { event in
            if case .message(_, _, _, _, let payload) = event { payload } else { nil }
        }
    }

    /// Carries packets until nothing is on its way.
    func carry() {
        for _ in 0..<1_000 {
            let fromNear = near.takePackets(of: nearLine)
            let fromFar = far.takePackets(of: farLine)
            guard !fromNear.isEmpty || !fromFar.isEmpty else { return takeEvents() }
            for packet in fromNear where !isLost(packet) {
                packet.withUnsafeBytes { far.handle($0, line: farLine) }
            }
            for packet in fromFar where !isLost(packet) {
                packet.withUnsafeBytes { near.handle($0, line: nearLine) }
            }
            takeEvents()
        }
    }

    /// Lets time pass until `isDone` holds, for at most so many steps of 10 ms.
    func run(steps: Int, until isDone: () -> Bool) -> Bool {
        for _ in 0..<steps {
            carry()
            if isDone() { return true }
            // The library's clock cannot be moved.
            pause(milliseconds: 10)
            SCTPEndpoint.advance(by: .milliseconds(10))
        }
        carry()
        return isDone()
    }

    private func isLost(_ packet: [UInt8]) -> Bool {
        largestPacket = max(largestPacket, packet.count)
        return Double(random.next() % 1_000) < loss * 1_000
    }

    private func takeEvents() {
        while let event = near.pollEvent() {
            nearEvents.append(event)
            if case .began(_, let association) = event { nearAssociation = association }
        }
        while let event = far.pollEvent() {
            farEvents.append(event)
            if case .began(_, let association) = event { farAssociation = association }
        }
    }
}
