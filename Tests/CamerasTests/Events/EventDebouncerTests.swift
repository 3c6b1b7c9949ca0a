import Testing
import Transport

@testable import Cameras

/// A debouncer in virtual time, and its output in short words.
struct DebouncerWorld {
    var debouncer = EventDebouncer()
    var now = Instant(nanoseconds: 0)

    private func words(_ events: [CameraEvent]) -> [String] {
        events.map { event in
            switch event {
            case .buttonPressed: "press"
            case .detection(let detection): "\(detection.kind) \(detection.phase)"
            default: "?"
            }
        }
    }

    /// Lets the time pass, with all deadlines in between.
    mutating func wait(_ duration: Duration) -> [String] {
        let end = now + duration
        var events: [CameraEvent] = []
        for _ in 0..<10_000 {
            guard let deadline = debouncer.nextDeadline, deadline <= end else { break }
            now = max(now, deadline)
            events += debouncer.handleDeadline(at: now, wallTime: wallTime)
        }
        now = end
        events += debouncer.handleDeadline(at: now, wallTime: wallTime)
        return words(events)
    }

    private var wallTime: WallTime {
        WallTime(millisecondsSince1970: (now - Instant(nanoseconds: 0)).wholeNanoseconds / 1_000_000)
    }

    mutating func say(_ isActive: Bool?, sensor: String = "a", isInitial: Bool = false) -> [String] {
        say(.motion, isActive, sensor: sensor, isInitial: isInitial)
    }

    mutating func say(
        _ kind: CameraDetection.Kind, _ isActive: Bool?, sensor: String = "a", isInitial: Bool = false
    ) -> [String] {
        words(
            debouncer.handle(
                SensorReading(
                    subject: .detection(kind), sensor: "\(sensor)#\(kind)", isActive: isActive, isInitial: isInitial),
                at: now, wallTime: wallTime))
    }

    /// Ends what is present.
    mutating func end() -> [String] { words(debouncer.endStays(wallTime: wallTime)) }

    mutating func press(_ isActive: Bool? = true, sensor: String = "b", isInitial: Bool = false) -> [String] {
        words(
            debouncer.handle(
                SensorReading(
                    subject: .button(ButtonPress()), sensor: sensor, isActive: isActive, isInitial: isInitial),
                at: now, wallTime: wallTime))
    }
}

@Suite struct EventDebouncerTests {
    @Test func eachBeginningAndEachEndIsReportedOnce() {
        var world = DebouncerWorld()
        #expect(world.say(true) == ["motion began"])
        for _ in 0..<10 {
            #expect(world.wait(.seconds(1)) == [])
            #expect(world.say(true) == [])
        }
        #expect(world.say(false) == [])
        #expect(world.wait(.seconds(1)) == [])
        #expect(world.wait(.seconds(2)) == ["motion ended"])
        #expect(world.say(false) == [])
        #expect(world.wait(.seconds(1000)) == [])
    }

    @Test func aFlappingSensorIsOneDetection() {
        var world = DebouncerWorld()
        #expect(world.say(true) == ["motion began"])
        for _ in 0..<20 {
            #expect(world.say(false) == [])
            #expect(world.wait(.milliseconds(500)) == [])
            #expect(world.say(true) == [])
            #expect(world.wait(.milliseconds(500)) == [])
        }
        #expect(world.say(false) == [])
        #expect(world.wait(.seconds(3)) == ["motion ended"])
    }

    @Test func severalSensorsOfOneKindAreOneDetection() {
        var world = DebouncerWorld()
        #expect(world.say(true, sensor: "cells") == ["motion began"])
        #expect(world.say(true, sensor: "alarm") == [])
        #expect(world.say(false, sensor: "cells") == [])
        #expect(world.wait(.seconds(5)) == [])
        #expect(world.say(false, sensor: "alarm") == [])
        #expect(world.wait(.seconds(5)) == ["motion ended"])
    }

    @Test func theInitialStateIsNotAnEvent() {
        var world = DebouncerWorld()
        #expect(world.say(true, isInitial: true) == [])
        #expect(world.press(true, isInitial: true) == [])
        // A sensor that was active all along repeats itself.
        #expect(world.say(true) == [])
        #expect(world.press(true) == [])
        #expect(world.say(false) == [])
        #expect(world.press(false) == [])
        #expect(world.say(true) == ["motion began"])
        #expect(world.press(true) == ["press"])
        // A new subscription finds the state again.
        #expect(world.say(true, isInitial: true) == [])
        #expect(world.say(false, isInitial: true) == [])
        #expect(world.wait(.seconds(5)) == ["motion ended"])
    }

    @Test func aSensorThatNeverSaysFalseEndsByItselfAndCountsAgain() {
        var world = DebouncerWorld()
        #expect(world.say(true) == ["motion began"])
        #expect(world.wait(.seconds(299)) == [])
        #expect(world.wait(.seconds(2)) == ["motion ended"])
        #expect(world.say(true) == ["motion began"])
    }

    @Test func aStuckSensorEndsAndIsNotHeardBeforeItHasBeenInactive() {
        var world = DebouncerWorld()
        #expect(world.say(true) == ["motion began"])
        var events: [String] = []
        for _ in 0..<100 {
            events += world.wait(.seconds(60))
            events += world.say(true)
        }
        #expect(events == ["motion ended"])
        #expect(world.say(false) == [])
        #expect(world.say(true) == ["motion began"])
    }

    @Test func sensorsThatAreGoneMakeRoomForOthers() {
        var world = DebouncerWorld()
        // Every other one never says that it has ended.
        for number in 0..<200 {
            #expect(world.say(true, sensor: "rule \(number)") == ["motion began"])
            if number.isMultiple(of: 2) { #expect(world.say(false, sensor: "rule \(number)") == []) }
            #expect(world.wait(.seconds(301)) == ["motion ended"])
        }
    }

    @Test func sensorsThatAreActiveKeepTheirPlaces() {
        var world = DebouncerWorld()
        let most = EventDebouncer.Configuration().maximumSensors
        #expect(world.say(true, sensor: "rule 1") == ["motion began"])
        for number in 2...most { #expect(world.say(true, sensor: "rule \(number)") == []) }
        #expect(world.say(.person, true, sensor: "further") == [])
        #expect(world.say(false, sensor: "rule 1") == [])
        #expect(world.say(.person, true, sensor: "further") == ["person began"])
        #expect(world.say(.person, false, sensor: "further") == [])
        #expect(world.wait(.seconds(3)) == ["person ended"])
        for number in 2...most { #expect(world.say(false, sensor: "rule \(number)") == []) }
        #expect(world.wait(.seconds(3)) == ["motion ended"])
    }

    @Test func aPressIsOnePressHoweverOftenItIsRepeated() {
        var world = DebouncerWorld()
        #expect(world.press() == ["press"])
        for _ in 0..<5 {
            #expect(world.wait(.milliseconds(200)) == [])
            #expect(world.press() == [])
        }
        // The contact bounces.
        #expect(world.press(false) == [])
        #expect(world.press(true) == [])
        #expect(world.press(false) == [])
        #expect(world.wait(.seconds(3)) == [])
        #expect(world.press(true) == ["press"])
        // The same press by another way, such as the webhook beside ONVIF.
        #expect(world.press(nil, sensor: "webhook") == [])
        #expect(world.wait(.seconds(4)) == [])
        #expect(world.press(nil, sensor: "webhook") == ["press"])
    }

    @Test func aButtonThatIsNeverReleasedCanBePressedAgain() {
        var world = DebouncerWorld()
        #expect(world.press() == ["press"])
        _ = world.wait(.seconds(11))
        #expect(world.press() == ["press"])
    }

    @Test func momentaryEventsAreNotReportedTooOften() {
        var world = DebouncerWorld()
        #expect(world.say(nil) == ["motion momentary"])
        #expect(world.say(nil) == [])
        #expect(world.say(.person, nil) == ["person momentary"])
        _ = world.wait(.seconds(5))
        #expect(world.say(nil) == ["motion momentary"])
        #expect(world.say(true) == ["motion began"])
        _ = world.wait(.seconds(10))
        #expect(world.say(nil) == [])
    }

    @Test func aHostileCameraCannotFillTheMemory() {
        var world = DebouncerWorld()
        var events: [String] = []
        for index in 0..<10_000 { events += world.say(true, sensor: "s\(index)") }
        #expect(events == ["motion began"])
        #expect(world.debouncer.activeKinds == [.motion])
    }

    @Test func anySequenceOfReadingsAlternatesBeginningsAndEnds() {
        var random = RandomSource.seeded(5)
        var world = DebouncerWorld()
        var active: Set<String> = []
        for _ in 0..<20_000 {
            let kind: CameraDetection.Kind = Bool.random(using: &random) ? .motion : .person
            let isActive: Bool? = [true, false, nil][Int.random(in: 0..<3, using: &random)]
            var events = world.say(
                kind, isActive, sensor: "\(Int.random(in: 0..<3, using: &random))",
                isInitial: Int.random(in: 0..<8, using: &random) == 0)
            events += world.wait(.milliseconds(Int64.random(in: 0..<3000, using: &random)))
            for event in events {
                let words = event.split(separator: " ")
                switch words[1] {
                case "began": #expect(active.insert(String(words[0])).inserted)
                case "ended": #expect(active.remove(String(words[0])) != nil)
                default: #expect(!active.contains(String(words[0])))
                }
            }
        }
    }

    @Test func everyStayCanBeEndedAtOnce() {
        var world = DebouncerWorld()
        #expect(world.end() == [])
        #expect(world.say(true) == ["motion began"])
        #expect(world.say(.person, true) == ["person began"])
        // One that is about to end counts, too.
        #expect(world.say(.person, false) == [])
        #expect(world.end().sorted() == ["motion ended", "person ended"])
        #expect(world.debouncer.nextDeadline == nil && world.debouncer.activeKinds == [])
        #expect(world.wait(.seconds(4_000)) == [])
    }
}
