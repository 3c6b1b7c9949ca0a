import FragmentedMP4
import MediaRelay
import RTP
import SDP
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("Sound from packets") struct SoundReaderTests {
    static let arrival = Instant(nanoseconds: 9_000_000_000)

    /// A batch of these payloads.
    static func batch(_ payloads: [[UInt8]], ticks: UInt32, from first: UInt16 = 65_535) throws -> TappedBatch {
        var pool = PacketBatchPool()
        for (number, payload) in payloads.enumerated() {
            payload.withUnsafeBytes {
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: 1_000 + UInt32(number) * ticks,
                        sequenceNumber: first &+ UInt16(number), payloadType: 97, flags: [.startsFrame, .keyFrame]),
                    payload: $0)
            }
        }
        let batch = pool.finish(arrival: arrival)
        return TappedBatch(
            batch: try #require(batch), firstPacket: 0, firstSequence: Int64(first),
            timestampOffset: 500, capture: arrival - .milliseconds(100))
    }

    private func read(_ codec: MediaCodec, _ payloads: [[UInt8]], ticks: UInt32) throws -> [RecordedSound] {
        var reader = try SoundReader(codec)
        var pieces: [RecordedSound] = []
        try reader.read(Self.batch(payloads, ticks: ticks)) { pieces.append($0) }
        return pieces
    }

    @Test("Opus comes out as it is") func opus() throws {
        let pieces = try read(.opus, [[0xFC, 1, 2], [], [0xFC, 3]], ticks: 960)
        #expect(pieces.map(\.data) == [[0xFC, 1, 2], [0xFC, 3]])
        #expect(pieces.map(\.timestamp) == [1_500, 3_420])
        #expect(pieces.map(\.duration) == [960, 960])
        #expect(pieces.map(\.capture) == [.milliseconds(-100), .milliseconds(-60)].map { Self.arrival + $0 })
    }

    @Test("AAC comes out unit by unit, each with its time") func aac() throws {
        let codec = MediaCodec(
            name: "MPEG4-GENERIC", clockRate: 16_000,
            formatParameters: [
                .init(name: "mode", value: "AAC-hbr"), .init(name: "config", value: "1408"),
                .init(name: "sizelength", value: "13"), .init(name: "indexlength", value: "3"),
                .init(name: "indexdeltalength", value: "3"),
            ])
        // Two units of three and two bytes.
        let payload: [UInt8] = [0, 32, 0, 3 << 3, 0, 2 << 3, 1, 2, 3, 4, 5]
        let pieces = try read(codec, [payload], ticks: 2_048)
        #expect(pieces.map(\.data) == [[1, 2, 3], [4, 5]])
        #expect(pieces.map(\.timestamp) == [1_500, 2_524])
        #expect(pieces.map(\.duration) == [1_024, 1_024])
        #expect(pieces[1].capture - pieces[0].capture == .milliseconds(64))
        #expect(pieces[0].description.codecName == "mp4a.40.2")
        #expect(pieces[0].description.timescale == 16_000)
    }

    @Test("A packet that holds half a day of sound has times, too") func aacOfManyUnits() throws {
        // AAC-LC of 1000 Hz: a unit of one byte lasts 1.024 seconds.
        let codec = MediaCodec(
            name: "MPEG4-GENERIC", clockRate: 192_000,
            formatParameters: [
                .init(name: "config", value: "178001F408"), .init(name: "constantsize", value: "1"),
            ])
        let pieces = try read(codec, [[UInt8](repeating: 7, count: 50_000)], ticks: 0)
        #expect(pieces.count == 50_000)
        #expect(pieces.last?.duration == 196_608)
        let first = try #require(pieces.first)
        let last = try #require(pieces.last)
        #expect(last.capture - first.capture == .milliseconds(49_999 * 1_024))
    }

    @Test("G.711 and linear sound come out as Opus on a line of 20 ms", arguments: ["PCMU", "PCMA", "L16", "G722"])
    func transcoded(name: String) throws {
        let rate = name == "L16" ? 16_000 : 8_000
        let size = name == "L16" ? 640 : 160
        let codec = MediaCodec(name: name, clockRate: rate)
        let payloads = (0..<50).map { _ in [UInt8](repeating: 0x55, count: size) }
        let pieces = try read(codec, payloads, ticks: UInt32(rate / 50))
        #expect((48...50).contains(pieces.count))
        #expect(pieces.allSatisfy { $0.duration == 960 && $0.description.codecName == "opus" })
        for (piece, next) in zip(pieces, pieces.dropFirst()) { #expect(next.timestamp - piece.timestamp == 960) }
    }

    @Test("Garbled sound brings nothing, and does no harm")
    func garbled() throws {
        var random = RandomSource.seeded(5)
        let codecs = [
            MediaCodec(name: "mpeg4-generic", clockRate: 16_000), MediaCodec(name: "MP4A-LATM", clockRate: 16_000),
            .opus,
        ]
        for codec in codecs {
            var reader = try SoundReader(codec)
            for _ in 0..<500 {
                let payload = (0..<Int(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                try reader.read(Self.batch([payload, payload], ticks: 960)) { piece in
                    #expect(!piece.data.isEmpty)
                }
            }
        }
    }
}
