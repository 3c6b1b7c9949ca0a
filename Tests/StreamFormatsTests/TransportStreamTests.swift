import PacketFakes
import Testing

@testable import StreamFormats

struct TransportStreamTests {
    static let keyFrame: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0, 30, 1, 0, 0, 0, 1, 0x68, 1, 2, 0, 0, 0, 1, 0x65, 0x88]
    static let wrap = Int64(1) << 33

    static func read(_ bytes: [UInt8], pieces size: Int = 188) throws -> (units: [StreamUnit], TransportStreamDemuxer) {
        var demuxer = TransportStreamDemuxer()
        var units: [StreamUnit] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { piece in
                try demuxer.append(piece) { units.append($0) }
            }
        }
        demuxer.finish { units.append($0) }
        return (units, demuxer)
    }

    static func sample() -> TransportStreamBytes {
        var stream = TransportStreamBytes()
        for index in 0..<Int64(6) {
            let picture = keyFrame + [UInt8](repeating: UInt8(index + 1), count: 400)
            // The clock wraps between the third picture and the fourth, and pictures are shown later than decoded.
            let decoding = (wrap - 7000 + index * 3000) % wrap
            stream.unit(picture, of: 256, presentation: (decoding + 6000) % wrap, decoding: decoding)
            let sound = (0..<2).flatMap { TransportStreamBytes.adts([UInt8(index), $0, 7]) }
            stream.unit(sound, of: 257, presentation: decoding)
        }
        return stream
    }

    @Test(arguments: [1, 5, 188, 1000, 100_000])
    func `Pictures and sound come whole, and their clock goes on after it has wrapped`(size: Int) throws {
        let (units, demuxer) = try Self.read(Self.sample().bytes, pieces: size)
        #expect(demuxer.tracks.map(\.codec) == [.h264(parameterSets: []), .aac(config: [0x11, 0x88])])
        #expect(!demuxer.awaitsTracks && demuxer.leftOut.isEmpty)
        let pictures = units.filter { $0.track == 0 }
        #expect(pictures.map(\.decoding) == (0..<6).map { Self.wrap - 7000 + $0 * 3000 })
        #expect(pictures.allSatisfy { $0.presentation == $0.decoding + 6000 && $0.bytes.starts(with: Self.keyFrame) })
        let sound = units.filter { $0.track == 1 }
        #expect(sound.map(\.bytes) == (0..<6).flatMap { [[$0, 0, 7], [$0, 1, 7]] })
        // The second frame of a packet begins 1024 samples after the first.
        #expect(sound[1].presentation - sound[0].presentation == 1920)
        #expect(sound[6].presentation == Self.wrap + 2000)
    }

    @Test func `A picture with a missing packet is left out, and the next is whole`() throws {
        var stream = TransportStreamBytes()
        stream.unit(Self.keyFrame, of: 256, presentation: 0)
        var broken = stream
        broken.unit(Self.keyFrame + [UInt8](repeating: 5, count: 600), of: 256, presentation: 3000)
        let missing = stream.bytes.count + 188
        var bytes = broken.bytes
        bytes.removeSubrange(missing..<missing + 188)
        var rest = broken
        let before = rest.bytes.count
        rest.unit(Self.keyFrame, of: 256, presentation: 6000)
        bytes += rest.bytes[before...]
        #expect(try Self.read(bytes).units.map(\.presentation) == [0, 6000])
    }

    @Test func `Codecs that are not supported are named`() throws {
        let stream = TransportStreamBytes([.init(identifier: 300, type: 0x02), .init(identifier: 301, type: 0x03)])
        let demuxer = try Self.read(stream.bytes).1
        #expect(demuxer.leftOut == [.codec(.mpeg2Video), .codec(.mpegAudio)] && demuxer.tracks.isEmpty)
    }

    @Test func `Bytes of another format are refused after a while`() {
        #expect(throws: StreamFormatError.notOfFormat(.transportStream)) {
            _ = try Self.read([UInt8](repeating: 0x20, count: 70_000))
        }
    }

    @Test func `Damaged bytes never trap, and units keep their bounds`() throws {
        let bytes = Self.sample().bytes
        var state: UInt64 = 7
        for _ in 0..<2_000 {
            var damaged = bytes
            for _ in 0..<6 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                damaged[Int(state >> 33) % damaged.count] = UInt8(truncatingIfNeeded: state >> 20)
            }
            let (units, demuxer) = try Self.read(damaged, pieces: 600)
            #expect(units.allSatisfy { demuxer.tracks.indices.contains($0.track) && $0.bytes.count < damaged.count })
        }
    }
}
