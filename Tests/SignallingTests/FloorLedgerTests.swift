import Testing
import Transport

@testable import Signalling
@testable import Stations

/// The floor on virtual time.
@Suite struct FloorLedgerTests {
    static func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

    @Test func oneTalkerHasACameraAtATime() throws {
        var floor = FloorLedger()
        try floor.take(deviceID: "door", talker: .session("a"), at: .zero)
        try floor.take(deviceID: "door", talker: .session("a"), at: .zero)
        try floor.take(deviceID: "yard", talker: .session("b"), at: .zero)
        for other in [FloorLedger.Talker.session("b"), .clip("c"), .clip("a")] {
            #expect(throws: SignallingError.floorTaken(device: "door", by: .session)) {
                try floor.take(deviceID: "door", talker: other, at: .zero)
            }
        }
        #expect(floor.release(.session("a")) == "door")
        #expect(floor.release(.session("a")) == nil)
        try floor.take(deviceID: "door", talker: .clip("c"), at: .zero)
        #expect(floor.holder(of: "door") == .clip("c"))
    }

    @Test func aTalkerKeepsTheFloorBySound() throws {
        var floor = FloorLedger(patience: .seconds(5))
        let talker = FloorLedger.Talker.session("a")
        try floor.take(deviceID: "door", talker: talker, at: .zero)
        #expect(floor.nextExpiry == Self.at(5))
        for second in 1..<600 {
            floor.record(talker, heardAt: Self.at(second))
            #expect(floor.expired(at: Self.at(second + 4)).isEmpty)
        }
        // A late record of an earlier time removes nothing.
        floor.record(talker, heardAt: Self.at(3))
        #expect(floor.expired(at: Self.at(603)).isEmpty)
        #expect(floor.expired(at: Self.at(604)) == [talker])
    }

    @Test func aClipEndsByItself() throws {
        var floor = FloorLedger()
        try floor.take(deviceID: "door", talker: .clip("c"), at: .zero)
        #expect(floor.expired(at: Self.at(100_000)).isEmpty)
        #expect(floor.nextExpiry == .distantFuture)
    }
}

@Suite struct VoiceActivityTests {
    static func packet(_ amplitude: Int16) -> [Int16] { (0..<960).map { $0 % 2 == 0 ? amplitude : -amplitude } }

    /// Feeds packets of 20 ms and answers for each whether somebody speaks.
    static func hear(_ amplitudes: [Int16], _ activity: inout VoiceActivity) -> [Bool] {
        amplitudes.enumerated().map { index, amplitude in
            packet(amplitude).withUnsafeBufferPointer {
                activity.hear($0, at: .zero + .milliseconds(20 * index))
            }
        }
    }

    @Test func speechIsDistinguishedFromTheRoom() {
        var activity = VoiceActivity(hold: .milliseconds(200))
        let room = [Int16](repeating: 60, count: 50)
        let speech = [Int16](repeating: 3000, count: 25)
        let heard = Self.hear(room + speech + room, &activity)
        #expect(heard[..<50].allSatisfy { !$0 })
        #expect(heard[50..<75].allSatisfy { $0 })
        // A tenth of a second after the last word it still holds; after the hold it does not.
        #expect(heard[80] && !heard[86])
    }

    @Test func aLoudRoomIsNotSpeechForLong() {
        var activity = VoiceActivity(hold: .milliseconds(200))
        let heard = Self.hear([Int16](repeating: 1500, count: 500), &activity)
        #expect(heard.dropFirst(10).allSatisfy { !$0 }, "what is always there is the room")
        // Speech above it is heard all the same.
        var more = activity
        #expect(Self.packet(7000).withUnsafeBufferPointer { more.hear($0, at: .zero + .seconds(11)) })
    }

    @Test func silenceIsNotSpeech() {
        var activity = VoiceActivity(hold: .milliseconds(200))
        #expect(Self.hear([Int16](repeating: 0, count: 100), &activity).allSatisfy { !$0 })
    }
}
