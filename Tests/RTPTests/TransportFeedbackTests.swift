import RTP
import Testing
import Transport

@Suite struct TransportFeedbackTests {
    private static let lost = Int64.min

    /// All that a generator reports at a time: the arrivals by sequence number, in units of 250 µs.
    private func reported(_ generator: inout TransportFeedbackGenerator, maximumLength: Int = 1_000) -> [UInt16: Int64]
    {
        var result: [UInt16: Int64] = [:]
        for _ in 0..<100 {
            let before = result.count
            var more = false
            let bytes = written {
                more = generator.writeFeedback(
                    senderSSRC: 1, mediaSSRC: 2, maximumLength: maximumLength, into: &$0)
            }
            guard more else {
                #expect(bytes.isEmpty)
                return result
            }
            #expect(bytes.count <= maximumLength)
            #expect(bytes.count % 4 == 0)
            bytes.withUnsafeBytes {
                var packets = RTCPPackets($0)
                guard case .transportFeedback(let feedback) = packets.next() else {
                    Issue.record("the report cannot be read")
                    return
                }
                #expect(packets.next() == nil)
                #expect(packets.problem == nil)
                for status in feedback { result[status.sequenceNumber] = status.arrival ?? Self.lost }
            }
            #expect(result.count > before)
        }
        Issue.record("the reports do not end")
        return result
    }

    /// Browsers fill the message up to whole words with one to three octets, which is not a multiple of four.
    @Test(arguments: 1...4) func aMessageWithAnyPaddingIsRead(arrivals: Int) {
        let padding = (4 - (22 + arrivals) % 4) % 4
        let words = (22 + arrivals + padding) / 4
        var bytes: [UInt8] = [padding > 0 ? 0xAF : 0x8F, 205, 0, UInt8(words - 1)]
        bytes += hex("00 00 00 01 00 00 00 02 00 07 00")
        bytes += [UInt8(arrivals)] + hex("00 00 01 00 20") + [UInt8(arrivals)]
        bytes += [UInt8](repeating: 4, count: arrivals)
        if padding > 0 { bytes += [UInt8](repeating: 0, count: padding - 1) + [UInt8(padding)] }
        // A request for a key frame follows.
        let all = bytes + written { $0.writePictureLossIndication(senderSSRC: 1, mediaSSRC: 2) }
        all.withUnsafeBytes {
            var packets = RTCPPackets($0)
            guard case .transportFeedback(let feedback) = packets.next() else {
                Issue.record("the message cannot be read")
                return
            }
            let numbers: [UInt16] = (0..<arrivals).map { UInt16(7 + $0) }
            let times: [Int64?] = (0..<arrivals).map { Int64(260 + 4 * $0) }
            #expect(feedback.map(\.sequenceNumber) == numbers)
            #expect(feedback.map(\.arrival) == times)
            guard case .pictureLossIndication(1, 2) = packets.next() else {
                Issue.record("what follows cannot be read")
                return
            }
            #expect(packets.next() == nil && packets.problem == nil)
        }
        // Those that the generator writes look alike.
        var generator = TransportFeedbackGenerator()
        for number in 0..<arrivals {
            generator.receive(transportSequenceNumber: UInt16(7 + number), at: .ms(65 + number))
        }
        let made = written { _ = generator.writeFeedback(senderSSRC: 1, mediaSSRC: 2, into: &$0) }
        #expect(made.prefix(16) == bytes.prefix(16) && made.suffix(padding) == bytes.suffix(padding))
    }

    @Test func reportsArrivalsAndLosses() {
        var generator = TransportFeedbackGenerator(interval: .milliseconds(50))
        #expect(generator.nextDeadline == nil)
        // The numbers start above the middle of their circle, which must not be a special case.
        generator.receive(transportSequenceNumber: 40_000, at: .ms(1_000))
        generator.receive(transportSequenceNumber: 40_001, at: .ms(1_001))
        generator.receive(transportSequenceNumber: 40_004, at: .ms(1_100))
        #expect(generator.nextDeadline == .ms(1_050))
        let result = reported(&generator)
        #expect(result == [40_000: 4_000, 40_001: 4_004, 40_002: Self.lost, 40_003: Self.lost, 40_004: 4_400])
        #expect(generator.nextDeadline == nil)
        #expect(reported(&generator).isEmpty)
    }

    @Test func reportsGoOnOverTheWrapAndFromOneToTheNext() {
        var generator = TransportFeedbackGenerator()
        generator.receive(transportSequenceNumber: 65_534, at: .ms(10))
        generator.receive(transportSequenceNumber: 65_535, at: .ms(11))
        #expect(reported(&generator).keys.sorted() == [65_534, 65_535])
        generator.receive(transportSequenceNumber: 1, at: .ms(12))
        #expect(reported(&generator) == [0: Self.lost, 1: 48])
    }

    @Test func whatComesLateIsReportedAgain() {
        var generator = TransportFeedbackGenerator()
        generator.receive(transportSequenceNumber: 1, at: .ms(10))
        generator.receive(transportSequenceNumber: 3, at: .ms(11))
        #expect(reported(&generator)[2] == Self.lost)
        generator.receive(transportSequenceNumber: 2, at: .ms(12))
        #expect(reported(&generator) == [2: 48, 3: 44])
    }

    @Test func aDuplicateChangesNothing() {
        var generator = TransportFeedbackGenerator()
        generator.receive(transportSequenceNumber: 1, at: .ms(10))
        generator.receive(transportSequenceNumber: 1, at: .ms(20))
        #expect(reported(&generator) == [1: 40])
    }

    @Test func aPauseOfManySecondsTakesTwoReports() {
        var generator = TransportFeedbackGenerator()
        generator.receive(transportSequenceNumber: 1, at: .ms(0))
        generator.receive(transportSequenceNumber: 2, at: .ms(20_000))
        #expect(reported(&generator) == [1: 0, 2: 80_000])
    }

    @Test func aJumpForgetsWhatIsBehindIt() {
        var generator = TransportFeedbackGenerator()
        generator.receive(transportSequenceNumber: 1, at: .ms(0))
        generator.receive(transportSequenceNumber: 20_000, at: .ms(1))
        #expect(reported(&generator) == [20_000: 4])
    }

    @Test func everyPatternSurvivesTheRoundTrip() {
        var random = RandomSource.seeded(11)
        for round in 0..<150 {
            var generator = TransportFeedbackGenerator()
            var expected: [UInt16: Int64] = [:]
            var number = UInt16.random(in: 0...65_535, using: &random)
            var time: Int64 = Int64.random(in: 0...1_000_000_000_000, using: &random)
            let lossy = UInt64(round % 10)
            let burst = round % 3 == 0
            var lost: [UInt16] = []
            for step in 0..<400 {
                number &+= 1
                if step > 0, UInt64.random(in: 0..<10, using: &random) < (burst && step % 100 < 30 ? 10 : lossy / 2) {
                    lost.append(number)
                    continue
                }
                // What is lost at the very end is not known to be lost.
                for absent in lost { expected[absent] = Self.lost }
                lost = []
                time += Int64.random(in: -2_000_000...(step % 20 == 0 ? 100_000_000 : 3_000_000), using: &random)
                generator.receive(transportSequenceNumber: number, at: Instant(nanoseconds: time))
                expected[number] = time / 250_000
            }
            // The reference time has 24 bits, which these times do not fill.
            #expect(reported(&generator, maximumLength: round % 2 == 0 ? 1_000 : 120) == expected)
        }
    }

    @Test func readsEveryKindOfChunk() {
        // A run of two received, a run of none, one-bit statuses, two-bit statuses with a negative time, and a run again.
        let bytes = hex(
            """
            8f cd 00 09 00 00 00 01 00 00 00 02 00 64 00 19 ff ff fe 07
            20 02 00 00 98 00 e0 00 20 02
            01 02 03 04 ff 38 06 07 00 00
            """)
        bytes.withUnsafeBytes {
            var packets = RTCPPackets($0)
            guard case .transportFeedback(let feedback) = packets.next() else {
                Issue.record("cannot be read")
                return
            }
            #expect(feedback.referenceTime == -2)
            #expect(feedback.feedbackCount == 7)
            #expect(feedback.statusCount == 25)
            let arrived = feedback.filter { $0.arrival != nil }
            #expect(arrived.map(\.sequenceNumber) == [100, 101, 103, 104, 116, 123, 124])
            #expect(arrived.map { ($0.arrival ?? 0) + 512 } == [1, 3, 6, 10, -190, -184, -177])
        }
    }

    @Test func refusesReservedStatusesAndMissingArrivals() {
        for text in [
            // The reserved status; an arrival that is not there; chunks that do not cover the packets.
            "8f cd 00 05 00 00 00 01 00 00 00 02 00 64 00 01 00 00 00 00 60 01 00 00",
            "8f cd 00 05 00 00 00 01 00 00 00 02 00 64 00 03 00 00 00 00 20 03 01 02",
            "8f cd 00 05 00 00 00 01 00 00 00 02 00 64 ff ff 00 00 00 00 20 01 01 00",
            "8f cd 00 04 00 00 00 01 00 00 00 02 00 64 00 01 00 00 00 00",
        ] {
            hex(text).withUnsafeBytes {
                var packets = RTCPPackets($0)
                guard case .malformed(205, 15, _) = packets.next() else {
                    Issue.record("read although malformed: \(text)")
                    return
                }
            }
        }
    }
}
