import Testing
import Transport

@testable import TURN

// Tests of a process's end need Swift 6.2.
#if compiler(>=6.2) && DEBUG
    @Suite struct TURNDrainingTests {
        @Test func `a driver that does not take what the client has to say is a mistake`() async {
            await #expect(processExitsWith: .failure) {
                var client = TURNClient(
                    configuration: TURNConfiguration(username: "u", password: "p"), random: .seeded(1), now: .zero)
                // The first request has not been sent.
                client.handleDeadline(at: .zero)
            }
        }

        @Test func `a driver that takes everything may go on`() {
            var client = TURNClient(
                configuration: TURNConfiguration(username: "u", password: "p"), random: .seeded(1), now: .zero)
            var buffer = [UInt8](repeating: 0, count: 4096)
            while buffer.withUnsafeMutableBytes({ client.pollTransmit(into: $0, at: .zero) }) != nil {}
            let isDrained = client.isDrained
            #expect(isDrained)
            client.handleDeadline(at: .zero)
        }
    }
#endif
