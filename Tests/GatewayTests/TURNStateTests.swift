import MediaRelay
import TURN
import Testing
import Transport

@Suite struct TURNStateTests {
    @Test func `a server that is silent is not offered to viewers`() {
        let relayed = [TransportAddress(ipv4: 0xCB00_7101, port: 50_000)]
        var state = TURNState(server: TransportAddress(ipv4: 0xCB00_7102, port: 3478))
        state.record(allocated: relayed, isSilent: false)
        #expect(state.relayedAddresses == relayed && !state.isSilent)
        state.record(allocated: relayed, isSilent: true)
        #expect(state.relayedAddresses.isEmpty && state.isSilent)
        #expect(state.failure == nil, "it is not given up yet")
        state.record(allocated: relayed, isSilent: false)
        #expect(state.relayedAddresses == relayed && !state.isSilent)
        state.record(allocated: relayed, isSilent: true)
        state.record(.noAnswer)
        #expect(state.relayedAddresses.isEmpty && state.failure == .noAnswer && !state.isSilent)
    }
}
