import HomeTypes
import SDP
import Testing
import Transport

@testable import Gateway
@testable import PushAvStreamTransport

/// Who has which window of a live stream, and for how long. Time is virtual.
@Suite struct LiveWindowsTests {
    private final class Camera: Sendable {}

    private let clock = Locked(Instant.zero)
    private let watchers = LiveWatchers()
    private let camera = Camera()

    private var key: LiveWindows.Key { .init(station: ObjectIdentifier(camera), stream: .main, hasSound: true) }

    private func makeWindows() -> LiveWindows { LiveWindows { [clock] in clock.withLock { $0 } } }

    private func use(_ windows: LiveWindows, by principal: String) throws -> LiveWindows.Use {
        try windows.window(
            key, of: principal, place: { try watchers.add(principal, watching: "door") },
            watch: { LiveSubscription {} })
    }

    private func pass(_ seconds: Int) { clock.withLock { $0 = $0 + .seconds(seconds) } }

    @Test func `those who ask for the same share one window, and each has one place`() throws {
        let windows = makeWindows()
        let first = try use(windows, by: "anna").window
        #expect(try use(windows, by: "ben").window === first)
        #expect(try use(windows, by: "anna").window === first)
        #expect(watchers.count == 2)
    }

    @Test func `a window lasts as long as somebody asks for it`() throws {
        let windows = makeWindows()
        let window = try use(windows, by: "anna").window
        _ = try use(windows, by: "ben")
        pass(15)
        _ = try use(windows, by: "anna")
        pass(10)
        windows.endUnused(key, window)
        #expect(!window.subscription.hasEnded && watchers.count == 1)
        pass(15)
        windows.endUnused(key, window)
        #expect(window.subscription.hasEnded && watchers.count == 0)
    }

    @Test func `nothing more goes to a principal whose right was taken away`() throws {
        let windows = makeWindows()
        let anna = try use(windows, by: "anna")
        let ben = try use(windows, by: "ben")
        watchers.end(of: "anna") { _ in false }
        #expect(throws: HomeError.self) { try anna.check() }
        try ben.check()
        // With the right comes another place.
        try use(windows, by: "anna").check()
        #expect(throws: HomeError.self) { try anna.check() }
    }

    @Test func `a player that waits for a part learns at once that the camera has gone`() async throws {
        let anna = try use(makeWindows(), by: "anna")
        let waiting = Task { try await GatewayAPI.wait(for: anna, segment: 0, part: 0, atMost: .seconds(3_600)) }
        #expect(await becomesTrue { anna.window.waitCount == 1 })
        anna.window.subscription.end()
        let failure = await #expect(throws: HomeError.self) { try await waiting.value }
        #expect(failure == .unavailable("the camera's stream has ended"))
    }

    @Test func `a window that has ended is followed by another`() async throws {
        let windows = makeWindows()
        let first = try use(windows, by: "anna")
        first.window.subscription.end()
        await first.window.run()
        #expect(throws: HomeError.self) { try first.check() }
        #expect(try use(windows, by: "anna").window !== first.window)
    }
}
