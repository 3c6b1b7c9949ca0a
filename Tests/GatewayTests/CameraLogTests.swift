import HomeTypes
import Testing
import Transport

@testable import Gateway

/// What of days of a camera's life reaches the log, in virtual time.
@Suite struct CameraLogTests {
    private final class World {
        var log = CameraLog()
        var now = Instant.zero
        var lines: [CameraLog.Line] = []

        func pass(_ seconds: Int) { now += .seconds(seconds) }
        func record(_ status: CameraSourceStatus) { lines += log.record(CameraLog.Condition(status), at: now) }
        func down(_ reason: String, attempts: SourceTrouble.Attempts? = nil) {
            record(CameraSourceStatus(state: .backingOff, trouble: SourceTrouble(reason, attempts: attempts)))
        }
        func up() {
            record(CameraSourceStatus(state: .flowing, tracks: [.init(kind: "video", codec: "H264")]))
        }
        func take() -> [CameraLog.Line] {
            defer { lines = [] }
            return lines
        }
    }

    @Test func anOutageIsOneLineAndItsEndAnother() {
        let world = World()
        world.record(CameraSourceStatus(state: .connecting))
        world.up()
        #expect(world.take() == [.init(.up, tracks: "H264")])
        world.pass(3600)
        world.down("connection refused", attempts: .next(seconds: 1))
        for seconds in 2...20 {
            world.pass(2)
            world.record(CameraSourceStatus(state: .connecting))
            world.down("connection refused", attempts: .next(seconds: seconds))
        }
        #expect(world.take() == [.init(.down, reason: "connection refused", duration: .seconds(3600))])
        world.pass(4)
        world.up()
        world.up()
        #expect(world.take() == [.init(.back, duration: .seconds(42), tracks: "H264")])
    }

    @Test func anotherReasonAndGivingUpAreLoggedOnce() {
        let world = World()
        world.down("no route to host")
        for _ in 0..<3 {
            world.pass(30)
            world.down("the camera refuses the password")
            world.down("no route to host")
            world.record(
                CameraSourceStatus(
                    state: .givenUp, trouble: SourceTrouble("the camera refuses the password", attempts: .failed(4))))
        }
        #expect(
            world.take() == [
                .init(.down, reason: "no route to host"),
                .init(.stillDown, reason: "the camera refuses the password", duration: .seconds(30)),
                .init(.givenUp, reason: "the camera refuses the password", duration: .seconds(30)),
            ])
    }

    /// Nothing is cut out of what a camera wrote, whatever it looks like.
    @Test func theReasonIsLoggedAsItIs() {
        let world = World()
        world.down("busy; the next try is in the morning", attempts: .next(seconds: 3))
        #expect(world.take() == [.init(.down, reason: "busy; the next try is in the morning")])
        let silence = SourceTrouble("no answer", attempts: .next(seconds: 9))
        let events = EventSourceStatus(state: .backingOff, trouble: silence)
        #expect(CameraLog.Condition(events) == .down(reason: "no answer", isGivenUp: false))
    }

    @Test func aCameraThatMakesUpReasonsFillsNoLog() {
        let world = World()
        for number in 0..<1000 {
            world.pass(1)
            world.down("reason \(number)")
        }
        #expect(world.take().count == CameraLog.reasonsToTell)
    }

    @Test func aCameraThatComesAndGoesIsCounted() {
        let world = World()
        world.up()
        // An hour of an outage each ten seconds.
        for _ in 0..<360 {
            world.pass(5)
            world.down("connection reset")
            world.pass(5)
            world.up()
        }
        let lines = world.take()
        #expect(lines.count <= 2 * CameraLog.outagesToTell + 1 + 7, "\(lines.count) lines in an hour")
        #expect(lines.count { $0.kind == .unstable } >= 5)
        let counted = lines.filter { $0.kind == .unstable }.compactMap(\.outages).reduce(0, +)
        #expect((280...366).contains(counted), "\(counted) outages are counted")
        // When it has become steady, the next outage is a line of its own again.
        world.pass(3600)
        world.down("connection reset")
        #expect(world.take().map(\.kind) == [.down])
    }

    @Test func aLongOutageOfAnUnsteadyCameraIsLogged() {
        let world = World()
        world.up()
        for _ in 0..<8 {
            world.pass(5)
            world.down("connection reset")
            world.pass(5)
            world.up()
        }
        _ = world.take()
        world.pass(5)
        world.down("connection reset")
        #expect(world.take().isEmpty)
        world.pass(61)
        world.down("no route to host")
        #expect(world.take() == [.init(.down, reason: "no route to host")])
        world.pass(60)
        world.up()
        #expect(world.take().map(\.kind) == [.back])
    }

    @Test func aCameraThatIsNotPulledIsNotAnOutage() {
        let world = World()
        for _ in 0..<10 {
            world.up()
            world.pass(60)
            world.record(CameraSourceStatus(state: .idle))
            world.pass(60)
        }
        #expect(world.take().map(\.kind) == [.up])
    }

    @Test(arguments: [
        (Duration.milliseconds(340), "340 ms"), (.seconds(42), "42 s"), (.seconds(60), "1 min"),
        (.seconds(200), "3 min 20 s"), (.seconds(7500), "2 h 5 min"), (.seconds(273_600), "3 d 4 h"),
    ])
    func durationsAreWrittenAsPeopleSayThem(duration: Duration, words: String) {
        #expect(duration.inWords == words)
    }
}
