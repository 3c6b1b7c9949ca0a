import DTLS
import ICE
import SRTP
import STUN
import Transport

extension FuzzTarget {
    static let ice = FuzzTarget(
        "ice", "checks, answers and candidates of a peer that knows the password, over time", maximumLength: 2048,
        seeds: {
            let request: [UInt8] = [0, 0x24, 0, 4, 0x6E, 0, 1, 0xFF, 0x80, 0x2A, 0, 8, 0, 0, 0, 0, 0, 0, 0, 9]
            let candidate: [UInt8] = [3, 198, 51, 100, 7, 0x13, 0x88, 0x6E]
            return [
                candidate + [4, 5] + [1, 0] + [UInt8].piece(request) + [4, 30, 2] + [UInt8].piece([]) + [
                    4, 200, 4, 255,
                ],
                [1, 0] + [UInt8].piece(request + [0, 0x25, 0, 0]) + [2] + [UInt8].piece([]) + [5, 4, 250],
            ] + stunSeeds.map { [0] + [UInt8].piece($0) }
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let local = ICECredentials(usernameFragment: "gate", password: "0123456789abcdefghijkl")
        let remote = ICECredentials(usernameFragment: "view", password: "lkjihgfedcba9876543210")
        let host = TransportAddress(ipv4: 0xC000_020A, port: 8189)
        var peer = TransportAddress(ipv4: 0xC633_6407, port: 5000)
        var now = Instant(nanoseconds: 1_000_000_000)
        var agent = ICEAgent(
            configuration: ICEConfiguration(
                role: .controlled, localCredentials: local, remoteCredentials: remote,
                addresses: ICEAddresses(hosts: [host])),
            random: .seeded(1), now: now)
        var asked: (id: STUNTransactionID, address: TransportAddress)?
        var number: UInt64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2048, alignment: 16)
        defer { buffer.deallocate() }
        func signed(
            _ kind: STUNMessageClass, _ id: STUNTransactionID, _ attributes: UnsafeRawBufferPointer, password: String
        ) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 2048 + attributes.count)
            var key = MessageIntegrityKey(password)
            let length = bytes.withUnsafeMutableBytes { raw -> Int? in
                var builder = STUNMessageBuilder(into: raw, messageClass: kind, transactionID: id)
                if kind == .request { builder.addUsername(Array("gate:view".utf8)) }
                var rest = FuzzInput(attributes)
                while !rest.isEmpty {
                    let type = rest.word()
                    builder.addAttribute(type, rest.piece())
                }
                if kind == .successResponse { builder.addMappedAddress(host) }
                builder.addMessageIntegrity(&key)
                builder.addFingerprint()
                return builder.finish()
            }
            return Array(bytes.prefix(length ?? 0))
        }
        func drain() throws(FuzzFailure) {
            var sent = 0
            while let transmit = agent.pollTransmit(into: buffer, at: now) {
                sent += 1
                try require(sent <= 64, "an agent that never stops sending")
                try require(transmit.byteCount <= buffer.count, "more than the buffer")
                let raw = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<transmit.byteCount])
                guard let message = try? STUNMessage(parsing: raw) else { throw FuzzFailure("it sends no STUN") }
                if message.messageClass == .request { asked = (message.transactionID, transmit.destination) }
            }
            while agent.pollEvent() != nil {}
        }
        while !input.isEmpty {
            switch input.byte() % 6 {
            case 0: agent.handle(input.piece(), from: peer, to: host, at: now)
            case 1:
                number += 1
                peer = TransportAddress(ipv4: 0xC633_6407, port: 5000 + UInt16(input.byte()))
                let check = signed(
                    .request, STUNTransactionID(high: 1, low: number), input.piece(), password: local.password)
                observe(check.withUnsafeBytes { agent.handle($0, from: peer, to: host, at: now) })
            case 2:
                guard let asked else { break }
                let answer = signed(.successResponse, asked.id, input.piece(), password: remote.password)
                observe(answer.withUnsafeBytes { agent.handle($0, from: asked.address, to: host, at: now) })
            case 3:
                let address = UInt32(input.word()) << 16 | UInt32(input.word())
                agent.addRemoteCandidate(
                    RemoteCandidate(
                        address: TransportAddress(ipv4: address, port: input.word()),
                        priority: UInt32(input.byte()) << 24))
            case 4: now += .milliseconds(Int(input.byte()) * 20)
            default:
                // The same credentials, so that the signed messages are still believed.
                agent.restart(localCredentials: local, remoteCredentials: remote, at: now)
            }
            try drain()
            // What is due is done, and does not stay due.
            var turns = 0
            while let due = agent.nextDeadline, due <= now {
                turns += 1
                try require(turns <= 200, "a deadline that stays due: \(due), \(now)")
                agent.handleDeadline(at: now)
                try drain()
            }
        }
    }

    static let dtls = FuzzTarget(
        "dtls", "records to a server and a client, and a handshake whose datagrams are damaged on the way",
        maximumLength: 2048,
        seeds: {
            [[2, 0xFF], [2, 3, 1, 20, 0xFF], [3, 0, 2, 40, 7]] + handshakeDatagrams.map { [0] + [UInt8].piece($0) }
                + handshakeDatagrams.map { [1] + [UInt8].piece($0) } + [
                    [0] + handshakeDatagrams.flatMap { [UInt8].piece($0) }
                ]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let kind = input.byte()
        guard let (server, client) = identities else { throw FuzzFailure("no identities") }
        var now = Instant(nanoseconds: 1_000_000_000)
        let mine = try? DTLSEndpoint(
            identity: server, role: .server, remoteFingerprints: [client.fingerprint], now: now)
        let yours = try? DTLSEndpoint(
            identity: client, role: .client, remoteFingerprints: [server.fingerprint], now: now)
        guard var mine, var yours else { throw FuzzFailure("no endpoints") }
        yours.start(at: now)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
        defer { buffer.deallocate() }
        if kind & 2 == 0 {
            // Records that nobody has signed, to one side.
            while !input.isEmpty {
                let datagram = input.piece()
                if kind & 1 == 0 { try? mine.handle(datagram, at: now) } else { try? yours.handle(datagram, at: now) }
                now += .milliseconds(60)
                try? mine.handleDeadline(at: now)
                try? yours.handleDeadline(at: now)
                while mine.pollTransmit(into: buffer) != nil {}
                while yours.pollTransmit(into: buffer) != nil {}
            }
            try require(mine.state != .connected && yours.state != .connected, "connected with nobody")
            return
        }
        // Both sides, with a network between them that the input controls.
        for _ in 0..<64 {
            for toServer in [true, false] {
                while let length = toServer ? yours.pollTransmit(into: buffer) : mine.pollTransmit(into: buffer) {
                    var datagram = Array(UnsafeRawBufferPointer(buffer)[..<length])
                    var copies = 1
                    switch input.byte() & 7 {
                    case 1: copies = 0
                    case 2: datagram[Int(input.word()) % datagram.count] ^= max(1, input.byte())
                    case 3: datagram.removeLast(Int(input.word()) % datagram.count)
                    case 4: copies = 2
                    case 5: datagram.insert(contentsOf: Array(input.piece()), at: Int(input.word()) % datagram.count)
                    default: break
                    }
                    for _ in 0..<copies {
                        datagram.withUnsafeBytes { raw in
                            if toServer { try? mine.handle(raw, at: now) } else { try? yours.handle(raw, at: now) }
                        }
                    }
                }
            }
            if mine.state != .handshaking, yours.state != .handshaking { break }
            now += .milliseconds(400)
            try? mine.handleDeadline(at: now)
            try? yours.handleDeadline(at: now)
        }
        guard let left = mine.keyingMaterial, let right = yours.keyingMaterial else { return }
        try require(left.localMasterKey == right.remoteMasterKey, "two sides with different keys")
        try require(left.remoteMasterSalt == right.localMasterSalt, "two sides with different salts")
    }

    private static let identities: (DTLSIdentity, DTLSIdentity)? = {
        guard let server = try? DTLSIdentity.generate(), let client = try? DTLSIdentity.generate() else { return nil }
        return (server, client)
    }()

    /// The datagrams of a whole handshake, both ways.
    private static let handshakeDatagrams: [[UInt8]] = {
        guard let (server, client) = identities,
            var mine = try? DTLSEndpoint(
                identity: server, role: .server, remoteFingerprints: [client.fingerprint], now: .zero),
            var yours = try? DTLSEndpoint(
                identity: client, role: .client, remoteFingerprints: [server.fingerprint], now: .zero)
        else { return [] }
        yours.start(at: .zero)
        var datagrams: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        for _ in 0..<6 {
            while let length = buffer.withUnsafeMutableBytes({ yours.pollTransmit(into: $0) }) {
                datagrams.append(Array(buffer.prefix(length)))
                buffer.withUnsafeBytes { try? mine.handle(UnsafeRawBufferPointer(rebasing: $0[..<length]), at: .zero) }
            }
            while let length = buffer.withUnsafeMutableBytes({ mine.pollTransmit(into: $0) }) {
                datagrams.append(Array(buffer.prefix(length)))
                buffer.withUnsafeBytes { try? yours.handle(UnsafeRawBufferPointer(rebasing: $0[..<length]), at: .zero) }
            }
        }
        return datagrams
    }()

    static let srtp = FuzzTarget(
        "srtp", "SRTP and SRTCP packets, some of them authentic and then damaged", maximumLength: 2048,
        seeds: {
            [
                [0] + [UInt8].piece(rtpPacket(1, 0, marker: true, [1, 2, 3])) + [1]
                    + [UInt8].piece(rtpPacket(2, 0, marker: false, [4])) + [4, 0, 5],
                [2] + [UInt8].piece([0x80, 201, 0, 1, 0, 0, 0, 7]) + [3]
                    + [UInt8].piece([0x80, 200, 0, 1, 0, 0, 0, 7]),
            ]
        }
    ) { bytes throws(FuzzFailure) in
        let key = [UInt8](0..<16)
        for profile in SRTPProfile.allCases {
            var input = FuzzInput(bytes)
            let salt = [UInt8](repeating: 9, count: profile.masterSaltLength)
            guard var sender = try? SRTPSender(profile: profile, masterKey: key, masterSalt: salt),
                var receiver = try? SRTPReceiver(profile: profile, masterKey: key, masterSalt: salt)
            else { throw FuzzFailure("no contexts") }
            var index: UInt64 = 0
            while !input.isEmpty {
                let kind = input.byte()
                let damage = kind & 4 != 0 ? (Int(input.word()), input.byte()) : (0, 0)
                var packet = Array(input.piece())
                let isAuthentic = kind & 8 == 0
                if kind & 2 == 0 {
                    if isAuthentic, packet.count >= 12 {
                        index += UInt64(kind >> 4) + 1
                        packet[0] = 0x80
                        packet[2] = UInt8(truncatingIfNeeded: index >> 8)
                        packet[3] = UInt8(truncatingIfNeeded: index)
                        let payload = Array(packet[12...])
                        packet += [UInt8](repeating: 0, count: sender.overhead)
                        let count = packet.withUnsafeMutableBytes { output in
                            payload.withUnsafeBytes {
                                sender.protectRTP(headerLength: 12, payload: $0, output: output, index: index)
                            }
                        }
                        try require(count == packet.count, "a packet is not protected")
                        let isDamaged = damage.1 != 0
                        if isDamaged { packet[damage.0 % packet.count] ^= damage.1 }
                        let result = packet.withUnsafeMutableBytes { try? receiver.unprotectRTP($0) }
                        try require((result != nil) == !isDamaged, isDamaged ? "a forgery is believed" : "refused")
                        if let result {
                            try require(Array(packet[result.payload]) == payload, "the payload is another")
                        }
                    } else {
                        let result = packet.withUnsafeMutableBytes { try? receiver.unprotectRTP($0) }
                        try require(result == nil, "a packet of nobody is believed")
                    }
                } else if isAuthentic, packet.count >= 8 {
                    packet[0] = 0x80
                    let plain = packet
                    packet += [UInt8](repeating: 0, count: sender.rtcpOverhead)
                    let count = packet.withUnsafeMutableBytes { sender.protectRTCP(packet: $0, count: plain.count) }
                    try require(count == packet.count, "a report is not protected")
                    let isDamaged = damage.1 != 0
                    if isDamaged { packet[damage.0 % packet.count] ^= damage.1 }
                    let result = packet.withUnsafeMutableBytes { try? receiver.unprotectRTCP($0) }
                    try require((result != nil) == !isDamaged, isDamaged ? "a forgery is believed" : "refused")
                    if let result { try require(Array(packet.prefix(result)) == plain, "the report is another") }
                } else {
                    let result = packet.withUnsafeMutableBytes { try? receiver.unprotectRTCP($0) }
                    try require(result == nil, "a report of nobody is believed")
                }
                try require(receiver.sourceCount <= 32, "too many sources")
            }
        }
    }
}
