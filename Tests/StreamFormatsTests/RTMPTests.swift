import Testing
import Transport

@testable import StreamFormats

struct RTMPTests {
    /// `avcC` with one parameter set of each kind.
    static let configuration: [UInt8] = [1, 0x42, 0, 30, 0xFF, 0xE1, 0, 4, 0x67, 0x42, 0, 30, 1, 0, 2, 0x68, 1]
    static let picture: [UInt8] = [0x17, 1, 0, 0, 40, 0, 0, 0, 2, 0x65, 9]
    static let sound: [UInt8] = [0xAF, 1, 5, 6]

    /// A message of RTMP in chunks of 128 bytes.
    static func message(_ type: UInt8, _ bytes: [UInt8], time: UInt32 = 0, stream: UInt8 = 1) -> [UInt8] {
        let isExtended = time >= 0xFF_FFFF
        let short = isExtended ? 0xFF_FFFF : time
        func big(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * (count - 1 - $0))) }
        }
        var output = [5] + big(short, 3) + big(UInt32(bytes.count), 3) + [type, stream, 0, 0, 0]
        let extended = isExtended ? big(time, 4) : []
        output += extended
        for start in stride(from: 0, to: bytes.count, by: 128) {
            if start > 0 { output += [0xC5] + extended }
            output += bytes[start..<min(start + 128, bytes.count)]
        }
        return output
    }

    /// A server's side up to its agreement to play.
    static let agreement: [UInt8] =
        [3] + [UInt8](repeating: 7, count: 3072)
        + message(5, [0, 0x26, 0x25, 0xA0], stream: 0)
        + message(20, [AMF0Value.string("_result"), .number(1), .object([]), .object([])].encoded, stream: 0)
        + message(20, [AMF0Value.string("_result"), .number(2), .null, .number(1)].encoded, stream: 0)

    static func play(_ bytes: [UInt8], pieces size: Int) throws -> (RTMPClient, [StreamUnit], sent: [UInt8]) {
        var random = RandomSource.seeded(1)
        var client = RTMPClient(
            RTMPAddress(host: "camera", port: nil, path: "/live/gate?key=1", isSecure: false), random: &random)
        var units: [StreamUnit] = []
        var sent = client.takeOutput()
        for start in stride(from: 0, to: bytes.count, by: size) {
            try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { piece in
                try client.handle(piece) { units.append($0) }
            }
            sent += client.takeOutput()
        }
        return (client, units, sent)
    }

    @Test(arguments: [1, 700, 100_000])
    func `A stream is asked for and taken apart`(size: Int) throws {
        var bytes = Self.agreement
        bytes += Self.message(9, [0x17, 0, 0, 0, 0] + Self.configuration)
        bytes += Self.message(8, [0xAF, 0, 0x11, 0x88])
        // The time wraps after 50 days.
        let end: UInt32 = 0xFFFF_FFFF - 10
        bytes += Self.message(9, Self.picture + [0, 0, 1, 0] + [UInt8](repeating: 1, count: 256), time: end)
        bytes += Self.message(8, Self.sound, time: 13)
        let (client, units, sent) = try Self.play(bytes, pieces: size)
        #expect(client.isPlaying && !client.awaitsTracks)
        #expect(sent.count > 3073 && String(decoding: sent, as: UTF8.self).contains("gate?key=1"))
        #expect(units.count == 2 && units[0].presentation - units[0].decoding == 40 * 90)
        let sets: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0, 30, 0, 0, 0, 1, 0x68, 1]
        #expect(units[0].bytes.starts(with: sets + [0, 0, 0, 1, 0x65, 9]))
        #expect(units[1].bytes == [5, 6] && units[1].decoding - units[0].decoding == 24 * 90)
        #expect(client.tracks.map(\.codec.isVideo) == [true, false])
    }

    @Test func `A refusal is passed on in the server's words`() {
        let status = [
            AMF0Value.string("onStatus"), .number(0), .null,
            .object([
                .init(name: "level", value: .string("error")),
                .init(name: "code", value: .string("NetStream.Play.StreamNotFound")),
                .init(name: "description", value: .string("no such stream\n\u{7}")),
            ]),
        ].encoded
        #expect(throws: StreamFormatError.refused(.said("no such stream"))) {
            _ = try Self.play(Self.agreement + Self.message(20, status, stream: 0), pieces: 500)
        }
        #expect(throws: StreamFormatError.notOfFormat(.rtmp)) { _ = try Self.play([0x48, 0x54], pieces: 1) }
    }

    @Test func `Damaged bytes never trap, and nothing grows without bound`() {
        let bytes =
            Self.agreement + Self.message(9, [0x17, 0, 0, 0, 0] + Self.configuration) + Self.message(9, Self.picture)
        var state: UInt64 = 11
        var refused = 0
        for _ in 0..<3_000 {
            var damaged = bytes
            for _ in 0..<8 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let place = 3073 + Int(state >> 33) % (damaged.count - 3073)
                damaged[place] = UInt8(truncatingIfNeeded: state >> 20)
            }
            if let units = try? Self.play(damaged, pieces: 900).1 {
                #expect(units.allSatisfy { $0.bytes.count < damaged.count * 2 })
            } else {
                refused += 1
            }
        }
        #expect(refused > 0 && refused < 3_000)
    }

    @Test(arguments: [
        ("/live/gate?key=1", "live", "gate?key=1"),
        ("/bcs/channel0_main.bcs?channel=0&user=a", "bcs", "channel0_main.bcs?channel=0&user=a"),
        ("/gate", "gate", ""), ("/a/b/c", "a/b", "c"), ("", "", ""), ("/gate?path=/a/b", "gate", "?path=/a/b"),
    ])
    func `An address has an application and a stream`(path: String, application: String, stream: String) {
        let address = RTMPAddress(host: "2001:db8::5", port: 1936, path: path, isSecure: false)
        #expect(address.application == application && address.stream == stream)
        #expect(!"\(address)".contains("?") && "\(address)".hasPrefix("rtmp://[2001:db8::5]:1936/"))
    }

    @Test func `FLV over HTTP has the same tags`() throws {
        func tag(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
            [type, 0, 0, UInt8(body.count), 0, 0, 20, 0, 0, 0, 0] + body + [0, 0, 0, UInt8(body.count + 11)]
        }
        let bytes: [UInt8] =
            [0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 9, 0, 0, 0, 0] + tag(9, [0x17, 0, 0, 0, 0] + Self.configuration)
            + tag(9, Self.picture) + tag(8, [0x72, 1, 2, 3])
        for size in [1, 10, 1000] {
            var demuxer = FLVDemuxer()
            var units: [StreamUnit] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { piece in
                    try demuxer.append(piece) { units.append($0) }
                }
            }
            #expect(units.map(\.decoding) == [1800, 1800] && units[1].bytes == [1, 2, 3])
            #expect(demuxer.tracks.last?.codec == .pcma(channels: 1))
        }
    }
}
