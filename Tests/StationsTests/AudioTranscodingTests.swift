import Codecs
import MediaRelay
import RTP
import SDP
import StationFakes
import Testing
import Transport

@testable import Stations

/// A camera that sends G.711, as a tap on its track sees it.
struct TappedTelephone: ~Copyable {
    private var pool = PacketBatchPool()
    private var tone = ToneGenerator(frequency: 440, sampleRate: 8_000)
    private(set) var sequence: Int64 = 0
    var timestamp: Double = 0xFFFF_FF00
    var now = Instant.zero + .seconds(10)
    /// The moments at which the packets' first samples were heard.
    private(set) var start: Instant?

    /// The peak value of the tone.
    var amplitude = 10_000.0

    /// The next packet of 20 ms. The clock of the sound chip is fast by `skew`.
    mutating func next(skew: Double = 0, isLost: Bool = false) -> TappedBatch {
        let payload = tone.samples(160, amplitude: amplitude).map { G711.aLaw.encode($0) }
        let stamp = UInt32(truncatingIfNeeded: Int64(timestamp))
        payload.withUnsafeBytes {
            pool.append(
                PacketBatch.Packet(
                    offset: 0, length: 0, timestamp: stamp, sequenceNumber: UInt16(truncatingIfNeeded: sequence),
                    payloadType: 8, flags: [.startsFrame, .keyFrame]),
                payload: $0)
        }
        let capture = now
        // The timestamps follow the gateway's clock.
        let seconds = 0.02 / (1 + skew)
        timestamp += seconds * 8_000
        now += .nanoseconds(Int64(seconds * 1e9))
        guard let batch = pool.finish(arrival: now) else { preconditionFailure("one packet was added") }
        defer { sequence += 1 }
        return TappedBatch(
            batch: batch, firstPacket: 0, firstSequence: sequence, timestampOffset: 0, capture: capture)
    }
}

@Suite(.ownThread) struct AudioTranscodingTests {
    private func transcoding() throws -> AudioTranscoding {
        try AudioTranscoding(codec: .pcma, firstTimestamp: 5_000, firstSequenceNumber: 65_530)
    }

    @Test func packetsStepBy960AndContainTheSound() throws {
        var transcoding = try transcoding()
        var camera = TappedTelephone()
        var packets: [(timestamp: UInt32, sequence: UInt16)] = []
        var decoder = try OpusDecoder()
        var heard: [Int16] = []
        for _ in 0..<100 {
            guard let batch = try transcoding.transcode(camera.next()).batch else { continue }
            for packet in batch.packets {
                packets.append((packet.timestamp, packet.sequenceNumber))
                heard += try decoder.decode(Array(batch.payload(of: packet)))
            }
        }
        #expect((98...100).contains(packets.count))
        for (before, after) in zip(packets, packets.dropFirst()) {
            #expect(after.timestamp &- before.timestamp == 960)
            #expect(after.sequence &- before.sequence == 1)
        }
        let end = Array(heard.suffix(24_000))
        let tone = try #require(
            end.withUnsafeBufferPointer { ToneDetector.dominantTone(in: $0, sampleRate: 48_000) })
        #expect(abs(tone.frequency - 440) < 10)
    }

    /// The capture times that a viewer gets stay equal to the camera's. One minute of a clock that is ten times worse
    /// than any real one replaces ten minutes of a bad clock. `SampleLineTests` runs the ten minutes, without decoder
    /// and encoder.
    @Test(arguments: [-3_000e-6, 3_000e-6]) func delayAndDriftStayBounded(skew: Double) throws {
        var transcoding = try transcoding()
        var camera = TappedTelephone()
        var worst = 0.0
        var last: UInt32?
        var first: (timestamp: UInt32, instant: Instant)?
        for _ in 0..<3_000 {
            let output = try transcoding.transcode(camera.next(skew: skew))
            for packet in output.batch?.packets ?? [] {
                if let last { #expect(packet.timestamp &- last == 960) }
                last = packet.timestamp
            }
            guard let capture = output.capture else { continue }
            guard let first else {
                first = capture
                continue
            }
            let ticks = Double(capture.timestamp &- first.timestamp) / 48
            worst = max(worst, abs(ticks - (capture.instant - first.instant).inMilliseconds))
        }
        #expect(worst < 15, "in milliseconds, against 180 without correction")
    }

    @Test func lostPacketsBecomeSilenceAndALongGapAStep() throws {
        var transcoding = try transcoding()
        var camera = TappedTelephone()
        var timestamps: [UInt32] = []
        var markers = 0
        for number in 0..<400 {
            let tapped = camera.next()
            // 60 ms are lost, and later two seconds.
            if (100..<103).contains(number) || (200..<300).contains(number) { continue }
            let packets = try transcoding.transcode(tapped).batch?.packets ?? []
            timestamps += packets.map(\.timestamp)
            markers += packets.count { $0.flags.contains(.marker) }
        }
        let steps = zip(timestamps, timestamps.dropFirst()).map { $1 &- $0 }
        #expect(steps.filter { $0 != 960 }.count == 1)
        #expect(steps.allSatisfy { $0.isMultiple(of: 960) })
        #expect(steps.max() ?? 0 > 90_000)
        #expect(markers == 2)
        #expect(transcoding.counters.steps == 1)
    }

    @Test func whatCannotBeDecodedIsCountedAndDoesNotEndIt() throws {
        var transcoding = try AudioTranscoding(
            codec: MediaCodec(name: "opus", clockRate: 48_000, channels: 2), firstTimestamp: 0,
            firstSequenceNumber: 0)
        var camera = TappedTelephone()
        for _ in 0..<20 { _ = try transcoding.transcode(camera.next()) }
        #expect(transcoding.counters.failures > 0)
        try transcoding.restart(codec: .pcma)
        for _ in 0..<20 { _ = try transcoding.transcode(camera.next()) }
        #expect(transcoding.failuresInARow == 0)
    }

    /// Only where listeners lose packets do the packets carry redundancy.
    @Test func packetsCarryRedundancyWhereListenersLosePackets() throws {
        var transcoding = try transcoding()
        var camera = TappedTelephone()
        func redundant(_ count: Int) throws -> (packets: Int, redundant: Int) {
            var result = (packets: 0, redundant: 0)
            for number in 0..<count {
                // Redundancy is for what the encoder takes for speech, which comes and goes.
                camera.amplitude = number % 12 < 8 ? 10_000 : 50
                guard let batch = try transcoding.transcode(camera.next()).batch else { continue }
                for packet in batch.packets {
                    result.packets += 1
                    if OpusPacket.hasRedundancy(batch.payload(of: packet)) { result.redundant += 1 }
                }
            }
            return result
        }
        #expect(try redundant(100).redundant == 0)
        try transcoding.expectLoss(percent: 15)
        let lossy = try redundant(100)
        #expect(lossy.redundant > lossy.packets / 3, "\(lossy)")
        try transcoding.expectLoss(percent: 0)
        _ = try redundant(5)
        #expect(try redundant(100).redundant == 0)
    }

    @Test func theWorstRecentReportCounts() {
        var loss = ExpectedLoss()
        let start = Instant.zero + .seconds(100)
        #expect(loss.percent(at: start) == 0)
        loss.record(0.02, at: start)
        loss.record(0.12, at: start + .seconds(1))
        loss.record(0.03, at: start + .seconds(2))
        #expect(loss.percent(at: start + .seconds(3)) == 12)
        loss.record(0.03, at: start + .seconds(17))
        #expect(loss.percent(at: start + .seconds(18)) == 12)
        loss.record(0.03, at: start + .seconds(34))
        #expect(loss.percent(at: start + .seconds(35)) == 3)
        #expect(loss.percent(at: start + .seconds(90)) == 0)
        // A claim that cannot be true costs the others little.
        loss.record(1, at: start + .seconds(91))
        #expect(loss.percent(at: start + .seconds(91)) == 25)
    }
}
