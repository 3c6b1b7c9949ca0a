import ICE
import NetworkSimulator
import STUN
import Testing
import Transport

/// Probes of the path in use.
@Suite struct ICEProbeTests {
    /// Writes a probe; nil if there is no path.
    private func probe(_ number: UInt64, of call: Call, at now: Instant) -> [UInt8]? {
        withUnsafeTemporaryAllocation(byteCount: 1_500, alignment: 8) { buffer in
            call.gateway.agent.writeProbe(number, into: buffer, at: now).map { Array(buffer[..<$0.byteCount]) }
        }
    }

    /// The viewer's answer to a request of the gateway.
    private func answer(_ request: [UInt8], of call: Call, at now: Instant) throws -> [UInt8] {
        let (gateway, viewer) = (call.gateway.addresses[0], call.viewer.addresses[0])
        _ = request.withUnsafeBytes { call.viewer.agent.handle($0, from: gateway, to: viewer, at: now) }
        let bytes = withUnsafeTemporaryAllocation(byteCount: 1_500, alignment: 8) { buffer in
            call.viewer.agent.pollTransmit(into: buffer, at: now).map { Array(buffer[..<$0.byteCount]) }
        }
        return try #require(bytes)
    }

    private func take(_ bytes: [UInt8], _ call: Call, from: TransportAddress? = nil, at now: Instant)
        -> ICEDatagramResult
    {
        let source = from ?? call.viewer.addresses[0]
        return bytes.withUnsafeBytes {
            call.gateway.agent.handle($0, from: source, to: call.gateway.addresses[0], at: now)
        }
    }

    @Test func anAnswerNamesItsProbeAndCoversThoseBefore() throws {
        let call = try Call()
        #expect(probe(1, of: call, at: call.simulation.now) == nil, "there is no path yet")
        #expect(call.connect())
        let now = call.simulation.now
        let first = try #require(probe(100, of: call, at: now))
        let second = try #require(probe(200, of: call, at: now + .milliseconds(1)))
        let late = try answer(first, of: call, at: now + .milliseconds(4))
        let early = try answer(second, of: call, at: now + .milliseconds(5))
        #expect(call.gateway.agent.takeProbeAnswer() == nil)
        #expect(take(early, call, at: now + .milliseconds(9)) == .response)
        #expect(
            call.gateway.agent.takeProbeAnswer() == ICEProbeAnswer(number: 200, roundTripTime: .milliseconds(8)))
        #expect(call.gateway.agent.takeProbeAnswer() == nil)
        #expect(call.gateway.agent.roundTripTime == .milliseconds(8))
        #expect(take(late, call, at: now + .milliseconds(10)) == .ignored(.unknownTransaction))
        #expect(call.gateway.agent.takeProbeAnswer() == nil)
    }

    @Test func onlyThePeerCanAnswer() throws {
        let call = try Call()
        #expect(call.connect())
        let now = call.simulation.now
        let request = try #require(probe(7, of: call, at: now))
        let answer = try answer(request, of: call, at: now)
        let other = try #require(TransportAddress("198.51.100.99", port: 4_000))
        #expect(take(answer, call, from: other, at: now) == .ignored(.unknownTransaction))
        var forged = answer
        forged[forged.count - 12] ^= 1
        #expect(take(forged, call, at: now) != .response)
        #expect(call.gateway.agent.takeProbeAnswer() == nil)
        #expect(take(answer, call, at: now) == .response)
    }

    /// Consent lives on its own checks.
    @Test func probesWithoutAnAnswerChangeNothing() throws {
        let call = try Call()
        #expect(call.connect())
        for number in 0..<500 as Range<UInt64> {
            #expect(probe(number, of: call, at: call.simulation.now) != nil)
            if number % 100 == 0 { call.simulation.run(for: .seconds(10)) }
        }
        #expect(call.areConnected && call.gateway.eventCount == 1)
        let request = try #require(probe(501, of: call, at: call.simulation.now))
        let answer = try answer(request, of: call, at: call.simulation.now)
        call.gateway.agent.endProbes()
        #expect(take(answer, call, at: call.simulation.now) == .ignored(.unknownTransaction))
    }
}
