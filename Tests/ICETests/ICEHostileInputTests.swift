import ICE
import NetworkSimulator
import STUN
import Testing
import Transport

/// What a hostile description, peer or bystander can and cannot do.
@Suite struct ICEHostileInputTests {
    private func agent(addresses: [String] = [Call.gatewayHost]) throws -> ICEPeer {
        try ICEPeer(.controlled, at: addresses, seed: 5)
    }

    @Test(arguments: [
        ("0.0.0.0", 5000, RemoteCandidateOutcome.unusableDestination),
        ("255.255.255.255", 5000, .unusableDestination),
        ("224.0.0.251", 5353, .unusableDestination),
        ("240.1.2.3", 5000, .unusableDestination),
        ("198.51.100.7", 0, .unusableDestination),
        ("::", 5000, .unusableDestination),
        ("ff02::fb", 5353, .unusableDestination),
        ("127.0.0.1", 22, .loopback),
        ("127.8.9.10", 22, .loopback),
        ("::1", 22, .loopback),
        (Call.gatewayHost, 8189, .ownAddress),
        ("fe80::1", 5000, .linkLocalWithoutScope),
        ("2001:db8::7", 5000, .familyNotAvailable),
        ("169.254.169.254", 5000, .linkLocal),
        ("::ffff:169.254.169.254", 5000, .linkLocal),
        ("198.51.100.7", 53, .privilegedPort),
        ("198.51.100.7", 443, .privilegedPort),
        ("198.51.100.7", 1023, .privilegedPort),
        ("198.51.100.7", 1024, .accepted),
        ("198.51.100.7", 5000, .accepted),
        ("::ffff:127.0.0.1", 22, .loopback),
        ("::ffff:255.255.255.255", 22, .unusableDestination),
    ])
    func candidatesAreFiltered(host: String, port: Int, expected: RemoteCandidateOutcome) throws {
        let peer = try agent()
        let address = try #require(TransportAddress(host, port: UInt16(port)))
        #expect(peer.agent.addRemoteCandidate(RemoteCandidate(address: address, priority: 1)) == expected)
        #expect(peer.agent.counters.filteredCandidates == (expected == .accepted ? 0 : 1))
    }

    @Test func loopbackIsAcceptedWhereItIsOffered() throws {
        let peer = try agent(addresses: [Call.gatewayHost, "127.0.0.1"])
        let address = try #require(TransportAddress("127.0.0.1", port: 5000))
        #expect(peer.agent.addRemoteCandidate(RemoteCandidate(address: address, priority: 1)) == .accepted)
    }

    @Test func aFloodOfCandidatesIsBoundedAndDoesNotKeepThePeerOut() throws {
        let call = try Call()
        for index in 0..<10_000 as Range<UInt32> {
            let address = TransportAddress(ipv4: 0x0A00_0000 + index * 7, port: 4000)
            call.gateway.agent.addRemoteCandidate(RemoteCandidate(address: address, priority: .max - index))
        }
        #expect(call.gateway.agent.counters.filteredCandidates > 9900)
        #expect(call.connect(within: .seconds(2)))
        #expect(call.pathsMatch)
        call.simulation.run(for: .seconds(60))
        let strays = call.gateway.transmitted.filter { $0.destination != call.viewer.addresses.first }
        #expect(strays.count <= CheckBudget.capacity + 130, "62 seconds pay for 124 more")
        #expect(call.simulation.stall == nil)
    }

    @Test func nothingUnauthenticatedChangesAnything() throws {
        let call = try Call()
        var captured: [SimulatedDatagram] = []
        call.simulation.observer = { captured.append($0) }
        #expect(call.connect())
        call.simulation.run(for: .seconds(30))
        call.simulation.observer = nil
        let gateway = call.gateway
        let selected = gateway.agent.selectedPath
        let deadline = gateway.nextDeadline
        var random = RandomSource.seeded(99)
        let attacker = try #require(TransportAddress("192.0.2.66", port: 666))
        let sent = gateway.transmitted.count
        var ignored = 0
        for round in 0..<20_000 {
            var datagram = captured[round % captured.count]
            let index = Int.random(in: 0..<datagram.bytes.count, using: &random)
            datagram.bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let source = round.isMultiple(of: 2) ? attacker : datagram.source
            let result = datagram.bytes.withUnsafeBytes {
                gateway.agent.handle($0, from: source, to: gateway.addresses[0], at: call.simulation.now)
            }
            if case .ignored = result { ignored += 1 }
        }
        #expect(ignored == 20_000)
        #expect(gateway.agent.selectedPath == selected)
        #expect(gateway.nextDeadline == deadline)
        #expect(gateway.agent.pollEvent() == nil)
        call.simulation.run(for: .zero)
        #expect(gateway.transmitted.count == sent, "no answer to anything forged")
        #expect(gateway.agent.counters.unauthenticated > 10_000)
    }

    @Test func recordedAnswersFromAnotherCallAreUnknown() throws {
        let call = try Call()
        var captured: [SimulatedDatagram] = []
        call.simulation.observer = { captured.append($0) }
        #expect(call.connect())
        call.simulation.run(for: .seconds(30))
        let answers = captured.filter { $0.destination == call.gateway.addresses.first && $0.bytes[0] == 1 }
        #expect(!answers.isEmpty)
        let now = call.simulation.now
        for answer in answers {
            let result = answer.bytes.withUnsafeBytes {
                call.gateway.agent.handle($0, from: answer.source, to: answer.destination, at: now)
            }
            #expect(result == .ignored(.unknownTransaction))
        }
    }

    @Test func anAnswerFromTheWrongAddressDoesNotCount() throws {
        let call = try Call()
        var requests: [SimulatedDatagram] = []
        call.simulation.observer = { requests.append($0) }
        call.gateway.suppressed = [.successResponse]
        call.simulation.run(for: .milliseconds(15))
        let request = try #require(requests.first)
        // An authentic answer, made by the gateway's own key, but it comes from somewhere else.
        let answer = try Message.response(to: request.bytes, password: call.gateway.credentials.password)
        let attacker = try #require(TransportAddress("192.0.2.66", port: 666))
        let result = answer.withUnsafeBytes {
            call.viewer.agent.handle($0, from: attacker, to: call.viewer.addresses[0], at: call.simulation.now)
        }
        #expect(result == .ignored(.unknownTransaction))
        #expect(call.viewer.agent.validRemoteAddress == nil)
        let right = answer.withUnsafeBytes {
            call.viewer.agent.handle(
                $0, from: call.gateway.addresses[0], to: call.viewer.addresses[0], at: call.simulation.now)
        }
        #expect(right == .response)
        #expect(call.viewer.agent.validRemoteAddress == call.gateway.addresses.first)
    }

    @Test func anAuthenticatedPeerThatChecksFromEverywhereStaysBounded() throws {
        let peer = try agent()
        var random = RandomSource.seeded(1)
        let remote = ICECredentials(using: &random)
        peer.agent.setRemote(credentials: remote)
        let now = Instant(nanoseconds: 2_000_000_000)
        var sent = 0
        for index in 0..<2000 as Range<UInt16> {
            let bytes = try Message.request(to: peer.credentials, from: remote, id: UInt64(index))
            let source = TransportAddress(ipv4: 0xC633_6407, port: 1000 + index)
            bytes.withUnsafeBytes { _ = peer.agent.handle($0, from: source, to: peer.addresses[0], at: now) }
            sent += peer.takeOutput(at: now).count
        }
        // An answer each, and at most one check in return.
        #expect((2000...4000).contains(sent))
        // Of all these addresses it keeps few, and goes on with those only.
        let later = now + .seconds(1)
        peer.handleDeadline(at: later)
        #expect(peer.takeOutput(at: later).count <= 32)
    }

    @Test func unknownRequiredAttributesAreRefused() throws {
        let peer = try agent()
        var random = RandomSource.seeded(1)
        let remote = ICECredentials(using: &random)
        peer.agent.setRemote(credentials: remote)
        let bytes = try Message.request(to: peer.credentials, from: remote, id: 1, unknownAttribute: 0x7F00)
        let source = try #require(TransportAddress(Call.viewerHost, port: 5000))
        let now = Instant(nanoseconds: 2_000_000_000)
        let result = bytes.withUnsafeBytes { peer.agent.handle($0, from: source, to: peer.addresses[0], at: now) }
        #expect(result == .request)
        let sent = peer.takeOutput(at: now)
        #expect(sent.count == 1, "the refusal and no check of the agent's own")
        try sent[0].bytes.withUnsafeBytes { raw in
            let message = try STUNMessage(parsing: raw)
            #expect(message.messageClass == .errorResponse)
            #expect(message.errorCode == STUNErrorCode.unknownAttribute)
            #expect(message.transactionID.low == 1)
        }
    }

    @Test func randomBytesNeverTrap() throws {
        let peer = try agent()
        var random = RandomSource.seeded(3)
        let source = try #require(TransportAddress(Call.viewerHost, port: 5000))
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<80, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random)
            }
            bytes.withUnsafeBytes { raw in
                _ = ICE.localUsernameFragment(inBindingRequest: raw)
                _ = peer.agent.handle(raw, from: source, to: peer.addresses[0], at: .zero)
            }
        }
        #expect(peer.agent.counters.malformed == 20_000)
    }
}
