import HomeTypes
import Synchronization
import Testing
import Transport

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
        /// The cursors with which the streams were requested.
        let cursors = Locked<[String?]>([])
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
            cursors.withLock { $0.append(cursor) }
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

    private func makeFollower(_ gateway: Gateway, patience: Duration?) -> EventFollower {
        EventFollower(
            address: "http://a", after: nil, patience: patience,
            backOff: BackOff(first: .milliseconds(1), longest: .milliseconds(1)), now: { gateway.now },
            read: { (cursor, onOpen, onItem) async throws(HomeError) in
                try gateway.read(cursor, onOpen, onItem)
            })
    }

    /// Follows a gateway with a patience of 15 seconds until that fails.
    private func failure(_ gateway: Gateway) async -> HomeError? {
        var follower = makeFollower(gateway, patience: .seconds(15))
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

    /// `gatehouse events` fails at once if it has never reached the gateway. After that it waits for as long as it takes.
    @Test func `a follower that has given up continues where it was, with more patience`() async {
        let gateway = Gateway([
            .ends(after: .zero), .fails(after: .seconds(3_600)), .fails(after: .seconds(3_600)), .ends(after: .zero),
        ])
        var follower = makeFollower(gateway, patience: .zero)
        var reports: [EventFollower.Report] = []
        var codes: [HomeError.Code] = []
        for patience in [Duration.zero, nil] {
            follower.patience = patience
            do throws(HomeError) {
                try await follower.run { reports.append($0) }
            } catch {
                codes.append(error.code)
            }
        }
        #expect(codes == [.unavailable, .permissionDenied])
        #expect(gateway.cursors.withLock { $0 } == [nil, "0", "0", "0", "3"])
        let updates = reports.compactMap { report -> EventFeed.Update? in
            if case .update(let update) = report { return update }
            return nil
        }
        let events = ["0", "3"].map { GatewayEvent(name: "structure", id: $0, data: "{}") }
        #expect(updates == [.state([events[0]]), .change(events[1])])
    }
}
