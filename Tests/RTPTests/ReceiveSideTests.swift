import RTP
import Testing
import Transport

extension Instant {
    /// Milliseconds after the origin.
    static func ms(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }
}

@Suite struct ReceptionStatisticsTests {
    @Test func countsLossInTheIntervalAndInAll() {
        var statistics = ReceptionStatistics(clockRate: 90_000)
        #expect(!statistics.hasReceived)
        for number in 0..<100 where number % 4 != 3 || number == 99 {
            statistics.receive(
                sequenceNumber: UInt16(truncatingIfNeeded: 65_500 + number), timestamp: 0, payloadLength: 10, at: .zero)
        }
        let block = statistics.makeReportBlock(ssrc: 5, at: .zero)
        #expect(block.ssrc == 5)
        #expect(block.cumulativeLost == 24)
        #expect(block.fractionLost == UInt8(24 * 256 / 100))
        #expect(block.extendedHighestSequenceNumber == 0x1_0000 + 63)
        #expect(statistics.octetCount == 760)
        // Nothing was lost in the second interval.
        statistics.receive(sequenceNumber: 64, timestamp: 0, payloadLength: 10, at: .zero)
        let second = statistics.makeReportBlock(ssrc: 5, at: .zero)
        #expect(second.fractionLost == 0)
        #expect(second.cumulativeLost == 24)
    }

    @Test func duplicatesMakeTheLossNegative() {
        var statistics = ReceptionStatistics(clockRate: 8_000)
        for _ in 0..<3 { statistics.receive(sequenceNumber: 7, timestamp: 0, payloadLength: 1, at: .zero) }
        let block = statistics.makeReportBlock(ssrc: 1, at: .zero)
        #expect(block.cumulativeLost == -2)
        #expect(block.fractionLost == 0)
    }

    @Test func aSteadyStreamHasNoJitterAndAnUnsteadyOneHas() {
        var steady = ReceptionStatistics(clockRate: 8_000)
        var unsteady = ReceptionStatistics(clockRate: 8_000)
        for number in 0..<200 {
            let timestamp = UInt32.max - 5_000 &+ UInt32(number * 160)
            steady.receive(
                sequenceNumber: UInt16(number), timestamp: timestamp, payloadLength: 160, at: .ms(number * 20))
            unsteady.receive(
                sequenceNumber: UInt16(number), timestamp: timestamp, payloadLength: 160,
                at: .ms(number * 20 + (number % 2) * 10))
        }
        #expect(steady.jitter == .zero)
        // Each packet is 10 ms off the one before, so the running mean comes near that.
        #expect(unsteady.jitter > .milliseconds(9) && unsteady.jitter <= .milliseconds(10))
    }

    @Test func aNewStartNeedsTwoPacketsInARow() {
        var statistics = ReceptionStatistics(clockRate: 8_000)
        for number in 0..<10 {
            statistics.receive(sequenceNumber: UInt16(number), timestamp: 0, payloadLength: 1, at: .zero)
        }
        statistics.receive(sequenceNumber: 40_000, timestamp: 0, payloadLength: 1, at: .zero)
        #expect(statistics.restartCount == 0)
        #expect(statistics.lostCount == 0)
        statistics.receive(sequenceNumber: 40_001, timestamp: 0, payloadLength: 1, at: .zero)
        #expect(statistics.restartCount == 1)
        #expect(statistics.lostCount == 0)
        #expect(statistics.makeReportBlock(ssrc: 1, at: .zero).extendedHighestSequenceNumber == 40_001)
    }

    @Test func echoesTheLastSenderReport() {
        var statistics = ReceptionStatistics(clockRate: 8_000)
        statistics.receiveSenderReport(ntp: NTPTimestamp(rawValue: 0x1122_3344_5566_7788), at: .ms(1_000))
        let block = statistics.makeReportBlock(ssrc: 1, at: .ms(1_500))
        #expect(block.lastSenderReport == 0x3344_5566)
        #expect(block.delaySinceLastSenderReport == 0x8000)
    }
}

@Suite struct NackGeneratorTests {
    private func requests(_ generator: inout NackGenerator, at now: Instant) -> [UInt16] {
        var numbers: [UInt16] = []
        generator.takeRequests(at: now, into: &numbers)
        return numbers
    }

    @Test func asksForExactlyWhatIsMissing() {
        var generator = NackGenerator()
        #expect(generator.receive(sequenceNumber: 65_533, at: .zero) == .next)
        #expect(generator.receive(sequenceNumber: 2, at: .zero) == .gap(missing: 4))
        #expect(generator.receive(sequenceNumber: 3, at: .zero) == .next)
        #expect(generator.nextDeadline == .ms(5))
        #expect(requests(&generator, at: .ms(4)) == [])
        #expect(requests(&generator, at: .ms(5)) == [65_534, 65_535, 0, 1])
    }

    @Test func aReorderedPacketIsNotAskedFor() {
        var generator = NackGenerator()
        _ = generator.receive(sequenceNumber: 10, at: .zero)
        _ = generator.receive(sequenceNumber: 12, at: .zero)
        #expect(generator.receive(sequenceNumber: 11, at: .ms(3)) == .recovered(requests: 0))
        #expect(requests(&generator, at: .ms(100)) == [])
        #expect(generator.nextDeadline == nil)
    }

    @Test func waitsForARoundTripBeforeItAsksAgain() {
        var generator = NackGenerator()
        generator.roundTripTime = .milliseconds(80)
        _ = generator.receive(sequenceNumber: 10, at: .zero)
        _ = generator.receive(sequenceNumber: 12, at: .zero)
        #expect(requests(&generator, at: .ms(5)) == [11])
        #expect(generator.nextDeadline == .ms(105))
        #expect(requests(&generator, at: .ms(104)) == [])
        #expect(requests(&generator, at: .ms(105)) == [11])
        #expect(generator.receive(sequenceNumber: 11, at: .ms(150)) == .recovered(requests: 2))
        #expect(generator.receive(sequenceNumber: 11, at: .ms(150)) == .old)
        #expect(generator.requestCount == 2)
        #expect(generator.recoveredCount == 1)
    }

    @Test func givesUpPacketsThatWouldComeTooLate() {
        var generator = NackGenerator(configuration: .init(maximumAge: .milliseconds(200)))
        _ = generator.receive(sequenceNumber: 10, at: .zero)
        _ = generator.receive(sequenceNumber: 12, at: .zero)
        #expect(requests(&generator, at: .ms(199)) == [11])
        #expect(generator.nextDeadline == .ms(200))
        #expect(requests(&generator, at: .ms(200)) == [])
        #expect(generator.abandonedCount == 1)
        #expect(generator.missingCount == 0)
        #expect(generator.receive(sequenceNumber: 11, at: .ms(201)) == .old)
    }

    @Test func limitsItsRequests() {
        var generator = NackGenerator(configuration: .init(maximumAge: .seconds(60), maximumRequests: 3))
        _ = generator.receive(sequenceNumber: 10, at: .zero)
        _ = generator.receive(sequenceNumber: 12, at: .zero)
        var asked = 0
        for time in stride(from: 0, to: 30_000, by: 10) { asked += requests(&generator, at: .ms(time)).count }
        #expect(asked == 3)
    }

    @Test func aLossTooLargeIsGivenUpAtOnce() {
        var generator = NackGenerator(configuration: .init(maximumMissing: 100))
        _ = generator.receive(sequenceNumber: 0, at: .zero)
        #expect(generator.receive(sequenceNumber: 101, at: .zero) == .gap(missing: 100))
        #expect(generator.receive(sequenceNumber: 103, at: .zero) == .tooManyMissing)
        #expect(generator.missingCount == 0)
        #expect(generator.abandonedCount == 101)
        #expect(generator.receive(sequenceNumber: 104, at: .zero) == .next)
    }

    @Test func whatComesBeforeAKeyFrameCanBeGivenUp() {
        var generator = NackGenerator()
        _ = generator.receive(sequenceNumber: 65_530, at: .zero)
        _ = generator.receive(sequenceNumber: 5, at: .zero)
        generator.abandon(before: 2)
        #expect(requests(&generator, at: .ms(10)) == [2, 3, 4])
    }

    @Test func staysBoundedForRandomNumbers() {
        var random = RandomSource.seeded(9)
        var generator = NackGenerator()
        for step in 0..<20_000 {
            _ = generator.receive(sequenceNumber: UInt16.random(in: 0...65_535, using: &random), at: .ms(step))
            #expect(generator.missingCount <= generator.configuration.maximumMissing)
            if step % 50 == 0 { _ = requests(&generator, at: .ms(step)) }
        }
    }
}

@Suite struct RTPClockTests {
    @Test func relatesTimestampsToTheWallClock() throws {
        var clock = RTPClock(clockRate: 90_000)
        #expect(clock.ntp(of: 0) == nil)
        #expect(clock.timestamp(at: NTPTimestamp(rawValue: 0)) == nil)
        let start = NTPTimestamp(unixNanoseconds: 1_767_225_600_000_000_000)
        clock.update(ntp: start, timestamp: 0xFFFF_FF00)
        let later = try #require(clock.ntp(of: 0xFFFF_FF00 &+ 90_000))
        #expect(abs(later.since(start).inMilliseconds - 1_000) < 0.001)
        let earlier = try #require(clock.ntp(of: 0xFFFF_FF00 &- 45_000))
        #expect(abs(earlier.since(start).inMilliseconds + 500) < 0.001)
        #expect(clock.timestamp(at: start.advanced(by: .seconds(2))) == 0xFFFF_FF00 &+ 180_000)
    }
}
