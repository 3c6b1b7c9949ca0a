import Cameras
import Codecs
import Glibc
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling

/// A talker's packets come late, in another order, or not at all.
@Suite struct TalkbackLossTests {
    /// A speaker that keeps what it plays.
    private final class Recorder: CameraSpeaker {
        private let played = Locked<[Int16]>([])
        var samples: [Int16] { played.withLock { $0 } }
        var delivery: SpeakerDelivery { SpeakerDelivery() }
        func begin(_ report: @escaping @Sendable (SpeakerState) -> Void) {}
        func play(_ samples: UnsafeBufferPointer<Int16>) {
            let new = Array(samples)
            played.withLock { $0 += new }
        }
        func end() {}
    }

    private static let frame = Duration.milliseconds(20)

    /// Something like speech: syllables of vowels with a moving pitch, hissing beginnings, and pauses.
    private static func speech(seconds: Int, rate: Int) -> [Int16] {
        var random = RandomSource.seeded(42)
        var phase = 0.0
        return (0..<seconds * rate).map { index in
            let time = Double(index) / Double(rate)
            let place = time.truncatingRemainder(dividingBy: 0.28) / 0.28
            guard place < 0.8 else { return 0 }
            let noise = Double(Int16(truncatingIfNeeded: random.next())) / 32_768
            if place < 0.12 { return Int16(noise * 1500) }
            phase += (120 + 25 * sin(time * 3)) / Double(rate)
            let weights = Int(time / 0.28) % 2 == 0 ? [1, 0.8, 0.6, 0.2, 0.1] : [1, 0.3, 0.1, 0.5, 0.4]
            let vowel = weights.enumerated().reduce(0.0) { sum, one in
                sum + one.element * sin(2 * .pi * phase * Double(one.offset + 1))
            }
            return Int16(3500 * vowel * sin(.pi * (place - 0.12) / 0.68) + noise * 60)
        }
    }

    /// The packets of a microphone.
    private static func packets(_ codec: MediaCodec, seconds: Int, expectedLoss: Int) throws -> [[UInt8]] {
        guard codec.isNamed("opus") else {
            let sound = speech(seconds: seconds, rate: 8000)
            return stride(from: 0, to: sound.count, by: 160).map { start in
                sound[start..<start + 160].map(G711.muLaw.encode)
            }
        }
        var configuration = OpusEncoder.Configuration()
        configuration.carriesRedundancy = true
        var encoder = try OpusEncoder(configuration)
        try encoder.setExpectedLoss(percent: expectedLoss)
        let sound = speech(seconds: seconds, rate: 48_000)
        return try stride(from: 0, to: sound.count, by: 960).map { try encoder.encode(Array(sound[$0..<$0 + 960])) }
    }

    /// What a decoder makes of packets that arrive in this order, each 20 ms after the one before.
    private static func play(
        _ packets: [[UInt8]], _ order: [Int], _ codec: MediaCodec
    ) throws -> (sound: [Int16], counts: TalkbackDecoder.Counts) {
        let recorder = Recorder()
        let decoder = try TalkbackDecoder(speaker: recorder, codecs: [111: codec])
        var now = Instant.zero
        for number in order {
            now += frame
            if let deadline = decoder.nextDeadline, deadline <= now { decoder.handleDeadline(at: deadline) }
            packets[number].withUnsafeBytes {
                decoder.receive(
                    $0, payloadType: 111, sequenceNumber: UInt16(truncatingIfNeeded: 65_500 + number),
                    timestamp: UInt32(number * 960), at: now)
            }
        }
        while let deadline = decoder.nextDeadline { decoder.handleDeadline(at: deadline) }
        return (recorder.samples, decoder.counts)
    }

    @Test(arguments: [MediaCodec.opus, .pcmu])
    func packetsInAnotherOrderAreNotLost(codec: MediaCodec) throws {
        let packets = try Self.packets(codec, seconds: 4, expectedLoss: 10)
        let whole = try Self.play(packets, Array(packets.indices), codec)
        // Groups of four in any order: the last one is 60 ms late at the most.
        var random = RandomSource.seeded(3)
        var order: [Int] = []
        for start in stride(from: 0, to: packets.count, by: 4) {
            var group = Array(start..<start + 4)
            // The first packet of all says where the stream begins.
            let first = start == 0 ? group.removeFirst() : nil
            for index in group.indices.dropFirst().reversed() {
                group.swapAt(index, Int(random.next() % UInt64(index + 1)))
            }
            order += (first.map { [$0] } ?? []) + group
        }
        #expect(order != order.sorted())
        let reordered = try Self.play(packets, order, codec)
        #expect(reordered.counts.lost == 0 && reordered.counts.received == UInt64(packets.count))
        #expect(reordered.sound == whole.sound)
    }

    @Test func aPacketThatComesTwiceIsPlayedOnce() throws {
        let packets = try Self.packets(.opus, seconds: 1, expectedLoss: 0)
        let whole = try Self.play(packets, Array(packets.indices), .opus)
        let doubled = try Self.play(packets, packets.indices.flatMap { [$0, $0] }, .opus)
        #expect(doubled.sound == whole.sound && doubled.counts.received == UInt64(packets.count))
    }

    @Test func whatDoesNotComeInTimeIsGivenUp() throws {
        let packets = try Self.packets(.pcmu, seconds: 1, expectedLoss: 0)
        let recorder = Recorder()
        let decoder = try TalkbackDecoder(speaker: recorder, codecs: [0: .pcmu])
        func receive(_ number: Int, at now: Instant) {
            packets[number].withUnsafeBytes {
                decoder.receive($0, payloadType: 0, sequenceNumber: UInt16(number), timestamp: 0, at: now)
            }
        }
        receive(0, at: .zero)
        #expect(decoder.nextDeadline == nil)
        receive(2, at: .zero + .milliseconds(40))
        #expect(recorder.samples.count == 960)
        let deadline = try #require(decoder.nextDeadline)
        #expect(deadline == Instant.zero + (.milliseconds(40) + TalkbackDecoder.patience))
        decoder.handleDeadline(at: deadline)
        #expect(recorder.samples.count == 3 * 960 && decoder.nextDeadline == nil)
        #expect(decoder.counts.lost == 1 && decoder.counts.samplesConcealed == 960)
        // It comes after all: its place has been filled.
        receive(1, at: deadline + .milliseconds(1))
        #expect(recorder.samples.count == 3 * 960 && decoder.counts.received == 2)
    }

    @Test func aLongGapIsAPause() throws {
        let packets = try Self.packets(.opus, seconds: 2, expectedLoss: 0)
        let order = Array(packets.indices.prefix(20)) + Array(packets.indices.dropFirst(60))
        let result = try Self.play(packets, order, .opus)
        #expect(result.counts.lost == 40)
        #expect(result.counts.samplesConcealed == 960, "its beginning is faded out")
        #expect(result.sound.count == (order.count + 1) * 960)
    }

    /// A lossy uplink: what is lost is restored or concealed, and the speech keeps its time.
    @Test(
        arguments: [MediaCodec.opus, .pcmu], [5, 10, 20])
    func speechSurvivesALossyUplink(codec: MediaCodec, loss: Int) throws {
        let seconds = 60
        let packets = try Self.packets(codec, seconds: seconds, expectedLoss: loss)
        let whole = try Self.play(packets, Array(packets.indices), codec)
        var random = RandomSource.seeded(UInt64(loss))
        let order = packets.indices.filter { number in
            number == 0 || number == packets.count - 1 || Int(random.next() % 100) >= loss
        }
        let lossy = try Self.play(packets, Array(order), codec)
        let lost = packets.count - order.count
        #expect(lossy.counts.lost == UInt64(lost))
        #expect(lossy.sound.count == whole.sound.count, "no gap is left, and nothing is played late")
        let restored = Double(lossy.counts.samplesRestored) / 960
        let concealed = Double(lossy.counts.samplesConcealed) / 960
        #expect(restored + concealed == Double(lost))
        // Restored from redundancy: most that are followed by a packet.
        if codec.isNamed("opus") { #expect(restored > Double(lost) * 0.5) } else { #expect(restored == 0) }
        // The loudness of each 20 ms is about what it was: what was loud is not gone.
        func loudness(_ sound: [Int16]) -> [Double] {
            stride(from: 0, to: sound.count, by: 960).map { start in
                sound[start..<start + 960].reduce(0.0) { $0 + Double($1) * Double($1) } / 960
            }
        }
        let pairs = zip(loudness(whole.sound), loudness(lossy.sound)).filter { $0.0 > 40_000 }
        let gone = pairs.count { $0.1 < $0.0 / 10 }
        let share = Double(gone) / Double(pairs.count)
        print(
            "\(codec.name), \(loss) % loss: \(lost) of \(packets.count) packets lost, \(Int(restored)) restored, "
                + "\(Int(concealed)) concealed; \(gone) of \(pairs.count) loud frames gone")
        #expect(share < Double(loss) / 100 / 3)
    }
}
