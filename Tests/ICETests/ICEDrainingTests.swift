import ICE
import Testing
import Transport

// Tests of a process's end need Swift 6.2.
#if compiler(>=6.2) && DEBUG
    @Suite struct ICEDrainingTests {
        /// An agent whose peer has no candidate and sends no checks: it has failed, and says so.
        private static func failed() -> ICEAgent {
            var random = RandomSource.seeded(3)
            let (own, other) = (ICECredentials(using: &random), ICECredentials(using: &random))
            var configuration = ICEConfiguration(
                role: .controlling, localCredentials: own, remoteCredentials: other,
                addresses: ICEAddresses(hosts: [TransportAddress(ipv4: 0xC633_6401, port: 5000)]))
            configuration.remoteIsLite = true
            var agent = ICEAgent(configuration: configuration, random: random, now: .zero)
            agent.endOfRemoteCandidates()
            return agent
        }

        @Test func `a driver that does not take an event before the next input is a mistake`() async {
            await #expect(processExitsWith: .failure) {
                var agent = ICEDrainingTests.failed()
                agent.handleDeadline(at: .zero)
            }
        }

        @Test func `a driver that takes every event may go on`() {
            var agent = Self.failed()
            let before = agent.isDrained
            var events: [ICEEvent] = []
            while let event = agent.pollEvent() { events.append(event) }
            agent.handleDeadline(at: .zero)
            #expect(!before && events == [.failed(.noCandidates)])
        }
    }
#endif
