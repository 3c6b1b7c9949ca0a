import SCTP
import Transport

extension FuzzTarget {
    /// The library keeps its state in global variables. Each input gets an association of its own, which is aborted at the end, so
    /// inputs disturb each other as little as sessions of a gateway do.
    static let sctp = FuzzTarget(
        "sctp", "packets of a peer with a data channel, with right checksums, and messages that open channels",
        maximumLength: 2048,
        seeds: {
            let opening = DataChannelMessage.open(DataChannelParameters(label: "data")).bytes
            return sctpPackets.map { [0] + [UInt8].piece($0) } + [
                [1, 0, 50] + [UInt8].piece(opening) + [1, 0, 51] + [UInt8].piece(Array("{}".utf8)) + [2, 0],
                [0] + sctpPackets.flatMap { [UInt8].piece($0) },
            ]
        }
    ) { bytes throws(FuzzFailure) in
        // All inputs share two endpoints, whose events are for the input that runs.
        try sctpTurn.withLock { _ throws(FuzzFailure) in try runSCTP(bytes) }
    }

    private static let sctpTurn = Locked(0)

    private static func runSCTP(_ bytes: UnsafeRawBufferPointer) throws(FuzzFailure) {
        var input = FuzzInput(bytes)
        guard let pair = SCTPPair() else { throw FuzzFailure("no association") }
        var table = DataChannelTable()
        var steps: [DataChannelTable.Step] = []
        while !input.isEmpty {
            switch input.byte() % 4 {
            case 0:
                var packet = Array(input.piece())
                // The ports and the tag of the association, so that the rest is read.
                for (index, byte) in pair.header.enumerated() where index < packet.count { packet[index] = byte }
                SCTPChecksum.write(into: &packet)
                packet.withUnsafeBytes { pair.near.handle($0, line: pair.nearLine) }
            case 1:
                let stream = UInt16(input.byte())
                let identifier = UInt32(input.byte())
                steps = table.handle(Array(input.piece()), stream: stream, protocolIdentifier: identifier)
            case 2: steps = table.handleReset([UInt16(input.byte())])
            default: SCTPEndpoint.advance(by: .milliseconds(Int(input.byte())))
            }
            for case .send(let message) in steps {
                try require(!message.payload.isEmpty, "an empty message")
            }
            try require(table.openStreams.count <= DataChannelTable.maximumChannels, "too many channels")
            var events = 0
            while let event = pair.near.pollEvent() {
                events += 1
                try require(events <= 1_000, "events without end")
                if case .message(_, _, let stream, let identifier, let payload) = event {
                    try require(payload.count <= pair.near.limits.messageBytes, "a message that is too long")
                    steps = table.handle(payload, stream: stream, protocolIdentifier: identifier)
                }
            }
            let packets = pair.near.takePackets(of: pair.nearLine)
            try require(packets.count <= 1_000, "packets without end")
            try require(
                packets.allSatisfy { $0.count <= pair.near.limits.packetBytes }, "a packet that fits no datagram")
        }
    }

    /// What a peer sends until a channel is open and has carried a message.
    private static let sctpPackets: [[UInt8]] = SCTPPair()?.recorded ?? []
}

/// An association between two endpoints of this process.
private final class SCTPPair {
    let near: SCTPEndpoint
    let nearLine = SCTPLine()
    private let farLine = SCTPLine()
    private let far: SCTPEndpoint
    private var nearAssociation: SCTPAssociation?
    private var farAssociation: SCTPAssociation?
    /// The packets that the near side got.
    private(set) var recorded: [[UInt8]] = []

    /// The endpoints stay, because their ports are the process's.
    private static let endpoints: (SCTPEndpoint, SCTPEndpoint)? = {
        guard let near = try? SCTPEndpoint(port: 5998), let far = try? SCTPEndpoint(port: 5999) else { return nil }
        return (near, far)
    }()

    init?() {
        guard let (near, far) = Self.endpoints else { return nil }
        (self.near, self.far) = (near, far)
        near.add(nearLine)
        far.add(farLine)
        do throws(SCTPError) {
            try far.connect(farLine, port: near.port)
            carry()
            guard let farAssociation, nearAssociation != nil else { return nil }
            try far.send(
                SCTPMessage(
                    stream: 0, protocolIdentifier: 50,
                    payload: DataChannelMessage.open(DataChannelParameters(label: "data")).bytes), farAssociation)
            try far.send(SCTPMessage(stream: 0, protocolIdentifier: 51, payload: Array("{}".utf8)), farAssociation)
            carry()
            try far.reset(stream: 0, farAssociation)
            carry()
        } catch {
            return nil
        }
    }

    deinit {
        if let nearAssociation { near.abort(nearAssociation) }
        if let farAssociation { far.abort(farAssociation) }
        near.remove(nearLine)
        far.remove(farLine)
    }

    /// The ports and the verification tag that the near side expects.
    var header: [UInt8] { Array((recorded.last ?? []).prefix(8)) }

    private func carry() {
        for _ in 0..<100 {
            let toNear = far.takePackets(of: farLine)
            let toFar = near.takePackets(of: nearLine)
            guard !toNear.isEmpty || !toFar.isEmpty else { return }
            recorded += toNear
            for packet in toNear { packet.withUnsafeBytes { near.handle($0, line: nearLine) } }
            for packet in toFar { packet.withUnsafeBytes { far.handle($0, line: farLine) } }
            while let event = near.pollEvent() {
                if case .began(_, let association) = event { nearAssociation = association }
            }
            while let event = far.pollEvent() {
                if case .began(_, let association) = event { farAssociation = association }
            }
        }
    }
}
