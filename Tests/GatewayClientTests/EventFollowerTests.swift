import HomeTypes
import Synchronization
import Testing

@testable import GatewayClient

/// How long a client waits for a gateway that is away, in virtual time.
@Suite struct EventFollowerTests {
    /// A gateway whose streams a test describes one by one. After the last of them it refuses.
    private final class Gateway: Sendable {
        enum Stream: Sendable {
            /// It sends its state, is silent for a while, and ends.
            case ends(after: Duration)
            /// It cannot be reached, which takes a while to find out.
            case fails(after: Duration)
        }

        private let streams: [Stream]
        private let count = Atomic(0)
        private let elapsed = Atomic<Int64>(0)
        private let begin = ContinuousClock.now

        init(_ streams: [Stream]) { self.streams = streams }

        /// How many streams were requested.
        var requested: Int { count.load(ordering: .relaxed) }

        var now: ContinuousClock.Instant { begin + .milliseconds(elapsed.load(ordering: .relaxed)) }

        private func pass(_ time: Duration) {
            elapsed.wrappingAdd(time.components.seconds * 1_000, ordering: .relaxed)
        }

        func read(
            _ cursor: String?, _ onOpen: () -> Void, _ onItem: (EventStreamReader.Item) -> Void
        ) throws(HomeError) {
            let index = count.wrappingAdd(1, ordering: .relaxed).oldValue
            guard index < streams.count else { throw .permissionDenied("refused") }
            switch streams[index] {
            case .ends(let time):
                onOpen()
                onItem(.event(GatewayEvent(name: "structure", id: "\(index)", data: "{}")))
                pass(time)
            case .fails(let time):
                pass(time)
                throw .unavailable("away")
            }
        }
    }

    /// Follows a gateway with a patience of 15 seconds until that fails.
    private func failure(_ gateway: Gateway) async -> HomeError? {
        var follower = EventFollower(
            address: "http://a", after: nil, patience: .seconds(15),
            backOff: BackOff(first: .milliseconds(1), longest: .milliseconds(1)), now: { gateway.now },
            read: { (cursor, onOpen, onItem) async throws(HomeError) in
                try gateway.read(cursor, onOpen, onItem)
            })
        do throws(HomeError) {
            try await follower.run { _ in }
            return nil
        } catch {
            return error
        }
    }

    @Test func `a gateway that restarts long after its last heartbeat is not away for long`() async {
        let gateway = Gateway([.ends(after: .seconds(15)), .ends(after: .seconds(45)), .ends(after: .zero)])
        #expect(await failure(gateway)?.code == .permissionDenied)
        #expect(gateway.requested == 4)
    }

    @Test func `a gateway that is away for longer than the patience is given up`() async {
        let away = [Gateway.Stream](repeating: .fails(after: .seconds(4)), count: 10)
        let gateway = Gateway([.ends(after: .seconds(60))] + away)
        #expect(await failure(gateway)?.code == .unavailable)
        // The fourth attempt ends after 16 seconds.
        #expect(gateway.requested == 5)
    }
}
