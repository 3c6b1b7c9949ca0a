import HTTPTypes
import HomeFakes
import Logging
import ServiceLifecycle
import SmartDeviceManagement
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

    /// A program that reads the state of the home, and then waits for an event that never comes.
    private struct Subscriber: Service {
        let feeds: EventFeeds
        let authorization: Authorization
        /// Whether the last pull was answered, without a message.
        let isAnswered = Locked(false)

        func run() async throws {
            while true {
                let messages = try await feeds.pull(
                    "feed", upTo: 9, waits: true, project: "home", base: "", for: authorization)
                if messages.isEmpty { break }
                let ids = messages.map(\.acknowledgement)
                await feeds.acknowledge(ids, of: "feed", for: authorization.principal)
            }
            isAnswered.withLock { $0 = true }
        }
    }

    @Test func `a program that waits for events is answered`() async throws {
        let gateway = try TestGateway()
        let owner = try #require(gateway.api.tokens.authorization(holding: TestGateway.token))
        let feeds = EventFeeds(gateway.hub, patience: .seconds(86_400))
        let subscriber = Subscriber(feeds: feeds, authorization: owner)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let services = ServiceGroup(configuration: .init(services: [subscriber], logger: logger))
        let running = Task { try await services.run() }
        #expect(await becomesTrue { await feeds.waitCount == 1 })
        await services.triggerGracefulShutdown()
        try await running.value
        #expect(subscriber.isAnswered.withLock { $0 })
        #expect(await feeds.waitCount == 0)
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
