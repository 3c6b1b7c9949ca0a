import Codecs
import RTP
import SDP
import Testing

@Suite struct SpeechCodecTests {
    /// A second of a tone through an encoder; the payloads and the ticks of each.
    static func encode(
        _ codec: MediaCodec, frequency: Double = 440, seconds: Int = 1
    ) throws -> [(payload: [UInt8], ticks: Int)] {
        let encoder = try SpeechEncoders.make(for: codec)
        var tone = ToneGenerator(frequency: frequency)
        var packets: [(payload: [UInt8], ticks: Int)] = []
        for _ in 0..<50 * seconds {
            try tone.samples(960, amplitude: 8000).withUnsafeBufferPointer { samples in
                try encoder.encode(samples) { packets.append((Array($0), $1)) }
            }
        }
        #expect(packets.allSatisfy { $0.ticks == encoder.ticksPerPacket })
        #expect(encoder.clockRate == codec.clockRate)
        return packets
    }

    @Test(arguments: [
        MediaCodec(name: "opus", clockRate: 48_000, channels: 2),
        MediaCodec(name: "PCMU", clockRate: 8000), MediaCodec(name: "PCMA", clockRate: 8000),
        MediaCodec(name: "PCMA", clockRate: 16_000),
        MediaCodec(name: "L16", clockRate: 16_000), MediaCodec(name: "L16", clockRate: 44_100, channels: 2),
        MediaCodec(name: "PCM", clockRate: 48_000),
        MediaCodec(name: "G726-16", clockRate: 8000), MediaCodec(name: "G726-24", clockRate: 8000),
        MediaCodec(name: "G726-32", clockRate: 8000), MediaCodec(name: "G726-40", clockRate: 8000),
        MediaCodec(name: "AAL2-G726-32", clockRate: 8000),
        MediaCodec(name: "mpeg4-generic", clockRate: 8000), MediaCodec(name: "MPEG4-GENERIC", clockRate: 16_000),
        MediaCodec(name: "mpeg4-generic", clockRate: 48_000, channels: 2),
    ]) func aToneSurvivesEveryCodec(codec: MediaCodec) throws {
        let packets = try Self.encode(codec)
        let decoder = try SpeechDecoders.make(for: codec)
        var heard: [Int16] = []
        for packet in packets {
            heard += try decoder.decode(packet.payload)
        }
        #expect(packets.allSatisfy { $0.payload.count <= PayloadLimit.standard })
        // Filters and an encoder's look-ahead keep back two frames, which are a quarter of a second of AAC at 8 kHz.
        #expect(heard.count > 36_000 && heard.count <= 48_000, "\(heard.count) samples")
        let share = ToneDetector.share(of: 440, in: Array(heard[12_000...]), sampleRate: 48_000)
        #expect(share > (codec.name == "G726-16" ? 0.8 : 0.9), "\(codec.mapping) keeps \(share) of the tone")
        let loudest = heard[12_000...].max() ?? 0
        #expect((6500...10_000).contains(loudest), "\(codec.mapping) has a peak of \(loudest)")
    }

    @Test func adpcmWithTheOtherBitOrderIsAnotherStream() throws {
        let packets = try Self.encode(MediaCodec(name: "G726-32", clockRate: 8000))
        let swapped = try SpeechDecoders.make(for: MediaCodec(name: "AAL2-G726-32", clockRate: 8000))
        var heard: [Int16] = []
        for packet in packets {
            // Four bits a sample: the order within an octet turns around.
            heard += try swapped.decode(packet.payload.map { $0 << 4 | $0 >> 4 })
        }
        #expect(ToneDetector.share(of: 440, in: Array(heard[12_000...]), sampleRate: 48_000) > 0.9)
    }

    @Test func samplesInProcessorOrderHaveTheirLeastSignificantByteFirst() throws {
        let decoder = try SpeechDecoders.make(for: MediaCodec(name: "PCM", clockRate: 48_000))
        #expect(try decoder.decode([0x34, 0x12, 0xFF, 0x7F]) == [0x1234, 0x7FFF])
        let network = try SpeechDecoders.make(for: MediaCodec(name: "L16", clockRate: 48_000, channels: 2))
        #expect(try network.decode([0x10, 0x00, 0x20, 0x00, 0x01]) == [0x1800])
    }

    /// Units of AAC go in as the parts of several packets.
    @Test func aacInFragmentsIsHeard() throws {
        let codec = MediaCodec(
            name: "mpeg4-generic", clockRate: 16_000,
            formatParameters: FormatParameters(
                parsing: "mode=AAC-hbr;config=1408;sizelength=13;indexlength=3;indexdeltalength=3"))
        let decoder = try SpeechDecoders.make(for: codec)
        var heard: [Int16] = []
        for packet in try Self.encode(codec) {
            let (header, unit) = (Array(packet.payload[..<4]), Array(packet.payload[4...]))
            let middle = unit.count / 2
            heard += try decoder.decode(header + unit[..<middle])
            heard += try decoder.decode(header + unit[middle...])
        }
        #expect(ToneDetector.share(of: 440, in: Array(heard[12_000...]), sampleRate: 48_000) > 0.9)
    }

    @Test(.enabled(if: FFmpegSamples.isInstalled)) func latmFromFFmpegIsHeard() throws {
        var tone = ToneGenerator(frequency: 440, sampleRate: 16_000)
        let raw = tone.samples(16_000, amplitude: 8000).flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        let stream = try FFmpegSamples.run(
            raw, ["-f", "s16le", "-ar", "16000", "-ac", "1"], ["-c:a", "aac", "-f", "latm"])
        let decoder = try SpeechDecoders.make(for: MediaCodec(name: "MP4A-LATM", clockRate: 16_000))
        var heard: [Int16] = []
        var offset = 0
        // Each element follows 11 bits of synchronisation and 13 of length.
        while offset + 3 < stream.count, stream[offset] == 0x56 {
            let length = Int(stream[offset + 1] & 0x1F) << 8 | Int(stream[offset + 2])
            heard += try decoder.decode(Array(stream[offset + 3..<min(offset + 3 + length, stream.count)]))
            offset += 3 + length
        }
        #expect(heard.count > 44_000)
        #expect(ToneDetector.share(of: 440, in: Array(heard[12_000..<40_000]), sampleRate: 48_000) > 0.9)
    }

    @Test(.enabled(if: FFmpegSamples.isInstalled)) func g722FromFFmpegIsHeard() throws {
        var tone = ToneGenerator(frequency: 440, sampleRate: 16_000)
        let raw = tone.samples(16_000, amplitude: 8000).flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        let coded = try FFmpegSamples.run(
            raw, ["-f", "s16le", "-ar", "16000", "-ac", "1"], ["-c:a", "g722", "-f", "g722"])
        #expect(coded.count == 8000)
        let decoder = try SpeechDecoders.make(for: MediaCodec(name: "G722", clockRate: 8000))
        var heard: [Int16] = []
        for start in stride(from: 0, to: coded.count, by: 160) {
            heard += try decoder.decode(Array(coded[start..<min(start + 160, coded.count)]))
        }
        #expect(heard.count > 47_000 && heard.count <= 48_000)
        #expect(ToneDetector.share(of: 440, in: Array(heard[12_000...]), sampleRate: 48_000) > 0.9)
        #expect(throws: CodecError.self) {
            try SpeechDecoders.make(for: MediaCodec(name: "G722", clockRate: 8000, channels: 2))
        }
    }

    @Test func whatCannotBeEncodedSaysWhy() {
        func make(_ name: String, _ parameters: String = "") -> String {
            reason {
                _ = try SpeechDecoders.make(
                    for: MediaCodec(
                        name: name, clockRate: 8000, formatParameters: FormatParameters(parsing: parameters)))
            }
        }
        #expect(make("G729").contains("is not one of opus"))
        #expect(make("mpeg4-generic", "mode=CELP-vbr").contains("celp-vbr is not AAC"))
        #expect(make("MP4A-LATM", "cpresent=0;config=zz").contains("config=zz cannot be read"))
        #expect(reason { _ = try SpeechDecoders.make(for: MediaCodec(name: "L16", clockRate: 1)) }.contains("1 Hz"))
        #expect(reason { _ = try SpeechEncoders.make(for: MediaCodec(name: "GSM", clockRate: 8000)) }.contains("GSM"))
    }

    @Test(arguments: ["mpeg4-generic", "MP4A-LATM", "L16", "PCMA", "G722", "G726-24", "opus"])
    func damagedSoundNeverTrapsAndNothingGrows(name: String) throws {
        var random = SplitMix(state: 23)
        let codec = MediaCodec(
            name: name, clockRate: name == "opus" ? 48_000 : 8000, formatParameters: FormatParameters(parsing: ""))
        // Nothing makes G.722 here, and any byte is two samples of it.
        let source =
            name == "G722"
            ? MediaCodec.pcma : name == "MP4A-LATM" ? MediaCodec(name: "mpeg4-generic", clockRate: 8000) : codec
        let packets = try Self.encode(source)
        let decoder = try SpeechDecoders.make(for: codec)
        for _ in 0..<1500 {
            var payload = packets[Int(random.next() % UInt64(packets.count))].payload
            for _ in 0..<(1 + random.next() % 5) {
                payload[Int(random.next() % UInt64(payload.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            if random.next() % 3 == 0 { payload.removeLast(Int(random.next() % UInt64(payload.count))) }
            if random.next() % 9 == 0 { decoder.recordLoss() }
            let count = (try? decoder.decode(payload))?.count ?? 0
            #expect(count < 400_000)
        }
    }
}
