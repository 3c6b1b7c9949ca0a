import HTTPTypes
import HomeFakes
import Logging
import ServiceLifecycle
import Testing
import Transport

@testable import Gateway
@testable import PushAvStreamTransport

/// A gateway that ends while clients wait for something that may take long. They do not hold the end up.
@Suite(.timeLimit(.minutes(10))) struct EndingGatewayTests {
    /// A player of a playlist that waits for a part that never comes.
    private struct Player: Service {
        let use: LiveWindows.Use
        /// Whether the part was there.
        let answer = Locked<Bool?>(nil)

        func run() async throws {
            let isThere = try await GatewayAPI.wait(for: use, segment: 0, part: 0, atMost: .seconds(86_400))
            answer.withLock { $0 = isThere }
        }
    }

    @Test func `a request that waits for the end of a clip is answered`() async throws {
        let gateway = try TestGateway()
        await gateway.liveView.playWithoutEnd()
        try await gateway.run { client in
            async let answer = client.get("/v1/devices/door/speaker?wait=20")
            #expect(await becomesTrue { await gateway.liveView.clipWaits == 1 })
            await client.end()
            let status = try await answer.status
            #expect(status == .ok)
        }
    }

    @Test func `a player that waits for a part of a live stream is answered`() async throws {
        let window = LiveWindow(LiveSubscription {})
        let player = Player(use: .init(window: window, watcher: try LiveWatchers().add("anna", watching: "door")))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let services = ServiceGroup(configuration: .init(services: [player], logger: logger))
        let running = Task { try await services.run() }
        #expect(await becomesTrue { window.waitCount == 1 })
        await services.triggerGracefulShutdown()
        try await running.value
        #expect(player.answer.withLock { $0 } == false)
    }
}
