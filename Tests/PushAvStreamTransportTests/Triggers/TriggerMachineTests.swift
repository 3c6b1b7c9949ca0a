import HomeTypes
import PushAvStreamTransport
import Testing
import Transport

/// The specification's own tests of triggers, TC-PAVST 2.6, 2.7, 2.12 and 2.13, second by second in virtual time.
@Suite("When a connection records")
struct TriggerMachineTests {
    /// A machine that is called once a second, and when it wants to be.
    private struct Clocked {
        var machine: TriggerMachine
        var second = 0
        /// What happened, with the second.
        var log: [String] = []

        init(
            _ type: TransportTriggerType = .motion, initial: UInt16 = 5, augmentation: UInt16 = 5, maximum: UInt32 = 30,
            blind: UInt16 = 0, active: Bool = true, zones: [TransportZone]? = nil, sensitivity: UInt8? = nil
        ) {
            let isMotion = type == .motion
            let options = TransportTriggerOptions(
                triggerType: type, motionZones: isMotion ? .some(zones) : nil,
                motionSensitivity: isMotion ? .some(sensitivity) : nil,
                motionTimeControl: isMotion
                    ? TransportTimeControl(
                        initialDuration: initial, augmentationDuration: augmentation, maxDuration: maximum,
                        blindDuration: blind) : nil,
                maxPreRollLen: type == .continuous ? nil : 4_000)
            machine = TriggerMachine(TriggerSettings(options))
            if active { take(.stop(nil)) }
        }

        private var now: Instant { Instant.zero + .seconds(second) }

        mutating func take(_ input: TriggerMachine.Input) { record(machine.handle(input, at: now)) }

        mutating func handleDeadline() { record(machine.handleDeadline(at: now)) }

        private mutating func record(_ outputs: [TriggerMachine.Output]) {
            for output in outputs {
                switch output {
                case .begin(let begin):
                    let seconds = begin.until.map { ($0 - .zero).components.seconds }
                    log.append("\(second) begin \(begin.trigger.kind) until \(seconds.map(String.init) ?? "ever")")
                case .extend(let until, _): log.append("\(second) until \((until - .zero).components.seconds)")
                case .belongs: log.append("\(second) belongs")
                case .end(let reason): log.append("\(second) end \(reason)")
                }
            }
        }

        mutating func run(to end: Int) {
            while second < end {
                second += 1
                handleDeadline()
            }
        }

        mutating func motion(at second: Int, zone: UInt16? = nil, strength: UInt8? = nil, stay: String? = nil) {
            run(to: second)
            take(
                .motion(
                    MotionSignal(zone: zone, strength: strength, stay: stay),
                    RecordingTrigger(kind: .motion, words: "motion")))
        }

        mutating func command(at second: Int, _ time: TransportTimeControl? = nil) {
            run(to: second)
            take(.command(RecordingTrigger(kind: .command, reason: .userInitiated, words: "command"), time))
        }

        mutating func stop(at second: Int, _ reason: RecordingEnd.Reason?) {
            run(to: second)
            take(.stop(reason))
        }
    }

    @Test("What is always recorded begins with the status and ends with it (2.6)")
    func continuous() {
        var clocked = Clocked(.continuous, active: false)
        clocked.run(to: 10)
        #expect(clocked.log.isEmpty)
        clocked.stop(at: 10, nil)
        #expect(clocked.log == ["10 begin continuous until ever"])
        clocked.run(to: 100_000)
        clocked.motion(at: 100_001)
        clocked.stop(at: 100_002, .inactive)
        #expect(clocked.log == ["10 begin continuous until ever", "100001 belongs", "100002 end inactive"])
        #expect(clocked.machine.nextDeadline == nil)
    }

    @Test("Motion begins a recording only while active, and is resumed within its initial duration (2.12)")
    func statusAndMotion() {
        var clocked = Clocked()
        clocked.motion(at: 1)
        clocked.run(to: 20)
        #expect(clocked.log == ["1 begin motion until 6", "6 end lengthReached"])
        clocked = Clocked(active: false)
        clocked.motion(at: 1)
        clocked.run(to: 3)
        #expect(clocked.log.isEmpty)
        clocked.stop(at: 3, nil)
        clocked.run(to: 20)
        #expect(clocked.log == ["3 begin motion until 6", "6 end lengthReached"])
        clocked = Clocked(active: false)
        clocked.motion(at: 1)
        clocked.stop(at: 6, nil)
        clocked.run(to: 20)
        #expect(clocked.log.isEmpty)
        // Off and on again within the initial duration.
        clocked = Clocked()
        clocked.motion(at: 1)
        clocked.stop(at: 2, .privacy)
        clocked.stop(at: 4, nil)
        clocked.run(to: 20)
        #expect(
            clocked.log == [
                "1 begin motion until 6", "2 end privacy", "4 begin motion until 6", "6 end lengthReached",
            ])
    }

    @Test("Motion extends what was begun by hand (2.13)")
    func manualAndMotion() {
        var clocked = Clocked(blind: 10)
        clocked.command(at: 1)
        clocked.motion(at: 3)
        clocked.run(to: 15)
        #expect(clocked.log == ["1 begin command until 6", "3 until 11", "11 end lengthReached"])
        // A recording that was begun by hand blinds nobody.
        clocked.motion(at: 16)
        clocked.run(to: 21)
        #expect(clocked.log.suffix(2) == ["16 begin motion until 21", "21 end lengthReached"])
        // One that motion began does, until 31, from its end on.
        clocked.motion(at: 30)
        #expect(clocked.log.count == 5)
        clocked.motion(at: 31)
        #expect(clocked.log.last == "31 begin motion until 36")
        // And commands are never blind.
        clocked.run(to: 36)
        clocked.command(at: 37)
        #expect(clocked.log.last == "37 begin command until 42")
    }

    @Test("The length is bounded, and motion during a recording begins no second one (2.13)")
    func maximum() {
        var clocked = Clocked(augmentation: 15, maximum: 10)
        clocked.motion(at: 0)
        clocked.motion(at: 2)
        clocked.motion(at: 7)
        clocked.run(to: 40)
        #expect(clocked.log == ["0 begin motion until 5", "2 until 10", "7 belongs", "10 end lengthReached"])
        clocked = Clocked(initial: 20, maximum: 10)
        clocked.motion(at: 0)
        #expect(clocked.log == ["0 begin motion until 10"])
    }

    @Test("After the first extension the next one waits for the length that was there before")
    func augmentation() {
        var clocked = Clocked(initial: 10, augmentation: 5, maximum: 60)
        clocked.motion(at: 0)
        clocked.motion(at: 2)
        clocked.motion(at: 9)
        clocked.motion(at: 10)
        clocked.motion(at: 14)
        clocked.motion(at: 15)
        clocked.run(to: 60)
        #expect(
            clocked.log == [
                "0 begin motion until 10", "2 until 15", "9 belongs", "10 until 20", "14 belongs", "15 until 25",
                "25 end lengthReached",
            ])
    }

    @Test("Motion that lasts extends the recording, and begins the next one after the blind time")
    func lastingMotion() {
        var clocked = Clocked(initial: 5, augmentation: 5, maximum: 12, blind: 10)
        clocked.motion(at: 0, stay: "a")
        clocked.run(to: 23)
        clocked.take(.motionEnded(stay: "a"))
        clocked.run(to: 60)
        #expect(
            clocked.log == [
                "0 begin motion until 5", "5 until 10", "10 until 12", "12 end lengthReached",
                "22 begin motion until 27", "27 end lengthReached",
            ])
        clocked = Clocked(initial: 5, augmentation: 0, maximum: 12)
        clocked.motion(at: 0, stay: "a")
        clocked.run(to: 7)
        clocked.take(.motionEnded(stay: "a"))
        clocked.run(to: 30)
        #expect(
            clocked.log == [
                "0 begin motion until 5", "5 end lengthReached", "5 begin motion until 10", "10 end lengthReached",
            ])
        // A machine that is called late, once, says the same.
        clocked = Clocked(initial: 5, augmentation: 5, maximum: 12, blind: 10)
        clocked.motion(at: 0, stay: "a")
        clocked.second = 1_000_000
        clocked.handleDeadline()
        #expect(clocked.log.last?.hasPrefix("1000000") == true)
        #expect(clocked.log.count > 10)
    }

    @Test("Motion that lasts is recorded on when a recording that a press or a command began may not be longer")
    func lastingMotionAfterPress() {
        let press = RecordingTrigger(kind: .command, reason: .doorbellPressed, words: "press")
        for input in [TriggerMachine.Input.press(press), .command(press, nil)] {
            var clocked = Clocked(initial: 5, augmentation: 5, maximum: 12, blind: 10)
            clocked.take(input)
            clocked.motion(at: 2, stay: "a")
            clocked.run(to: 20)
            clocked.take(.motionEnded(stay: "a"))
            clocked.run(to: 60)
            #expect(
                clocked.log == [
                    "0 begin command until 5", "2 until 10", "10 until 12", "12 end lengthReached",
                    "12 begin motion until 17", "17 until 22", "22 end lengthReached",
                ])
        }
    }

    @Test("Nothing that was captured before the connection became active belongs to its recordings")
    func notBefore() {
        func at(_ second: Int) -> Instant { .zero + .seconds(second) }
        func beginning(_ outputs: [TriggerMachine.Output]) -> TriggerMachine.Begin? {
            outputs.compactMap { if case .begin(let begin) = $0 { begin } else { nil } }.first
        }
        let motion = TriggerMachine.Input.motion(MotionSignal(), RecordingTrigger(kind: .motion, words: "motion"))
        var machine = Clocked(initial: 10, active: false).machine
        _ = machine.handle(.stop(nil), at: at(0))
        let first = beginning(machine.handle(motion, at: at(1)))
        #expect(first?.notBefore == at(0))
        _ = machine.handle(.stop(.inactive), at: at(2))
        let resumed = beginning(machine.handle(.stop(nil), at: at(8)))
        #expect(resumed?.triggeredAt == at(1))
        #expect(resumed?.notBefore == at(8))
        // Also the pre-roll of the next one.
        _ = machine.handleDeadline(at: at(11))
        let next = beginning(machine.handle(motion, at: at(11)))
        #expect(next?.notBefore == at(8))
        // What is cut goes on where it was cut.
        machine = Clocked(.continuous, active: false).machine
        let lasting = beginning(machine.handle(.stop(nil), at: at(3)))
        #expect(lasting?.notBefore == at(3))
        _ = machine.handle(.stop(.cut), at: at(9))
        let following = beginning(machine.handle(.stop(nil), at: at(9)))
        #expect(following?.notBefore == at(3))
    }

    @Test("Durations of a command are its own (2.7); a press takes the connection's")
    func commandsAndPresses() {
        var clocked = Clocked(.command)
        clocked.take(.press(RecordingTrigger(kind: .command, reason: .doorbellPressed, words: "press")))
        clocked.motion(at: 1)
        clocked.command(at: 2)
        #expect(clocked.log.isEmpty)
        let time = TransportTimeControl(
            initialDuration: 3, augmentationDuration: 1, maxDuration: 4, blindDuration: 100)
        clocked.command(at: 3, time)
        clocked.command(at: 4)
        clocked.run(to: 10)
        #expect(clocked.log == ["3 begin command until 6", "4 until 7", "7 end lengthReached"])
        clocked = Clocked(blind: 60)
        clocked.motion(at: 0)
        clocked.run(to: 10)
        clocked.take(.press(RecordingTrigger(kind: .command, reason: .doorbellPressed, words: "press")))
        #expect(clocked.log.last == "10 begin command until 15")
    }

    @Test("A camera that is switched off and on again is not blind any more")
    func blindUntilSwitched() {
        var clocked = Clocked(blind: 60)
        clocked.motion(at: 0)
        clocked.motion(at: 8)
        clocked.stop(at: 10, .inactive)
        clocked.stop(at: 12, nil)
        clocked.motion(at: 14)
        clocked.run(to: 20)
        #expect(
            clocked.log == [
                "0 begin motion until 5", "5 end lengthReached", "14 begin motion until 19", "19 end lengthReached",
            ])
    }

    @Test("Zones and sensitivities")
    func zones() {
        var clocked = Clocked(zones: [TransportZone(zone: 1, sensitivity: 2), TransportZone(zone: 2)], sensitivity: 5)
        clocked.motion(at: 1)
        clocked.motion(at: 1, zone: 3)
        clocked.motion(at: 1, zone: 1, strength: 8)
        clocked.motion(at: 1, zone: 2, strength: 5)
        #expect(clocked.log.isEmpty)
        clocked.motion(at: 2, zone: 1, strength: 9)
        #expect(clocked.log == ["2 begin motion until 7"])
        clocked.run(to: 10)
        clocked.motion(at: 10, zone: 2, strength: 6)
        #expect(clocked.log.last == "10 begin motion until 15")
        clocked = Clocked(zones: [TransportZone(zone: nil)])
        clocked.motion(at: 1, zone: 1)
        #expect(clocked.log.isEmpty)
        clocked.motion(at: 1)
        #expect(clocked.log.count == 1)
        clocked = Clocked(zones: [])
        clocked.motion(at: 1, zone: 7)
        #expect(clocked.log.count == 1)
    }

    @Test("A change of the kind of trigger takes effect at once")
    func changes() {
        var clocked = Clocked()
        clocked.motion(at: 1)
        clocked.take(.settings(TriggerSettings(Fixture.trigger(.continuous))))
        clocked.run(to: 50)
        clocked.take(.settings(TriggerSettings(Fixture.trigger(.motion))))
        #expect(
            clocked.log == [
                "1 begin motion until 6", "1 end cut", "1 begin continuous until ever", "50 end cut",
            ])
        clocked.stop(at: 51, .removed)
        clocked.motion(at: 52)
        #expect(clocked.log.count == 4)
    }
}
