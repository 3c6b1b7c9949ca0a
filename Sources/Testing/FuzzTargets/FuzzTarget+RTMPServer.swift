import PacketFakes
import StreamFormats
import Transport

extension FuzzTarget {
    static let rtmpServer = FuzzTarget(
        "rtmp-server",
        "what an RTMP client sends behind its handshake: the same pictures however the bytes are split, and none of a stranger",
        maximumLength: 4096,
        dictionary: [
            "connect", "createStream", "releaseStream", "FCPublish", "publish", "live", "deleteStream", "FCUnpublish",
            "play", "@setDataFrame", "onMetaData", "videocodecid", "audiocodecid", "app", "flashVer", "fourCcList",
            "hvc1", "avc1", "?token=", "\u{0}\u{0}\u{9}",
        ],
        seeds: {
            var client = RTMPPublisherBytes(handshake: false)
            client.connect(to: "live", codecs: ["hvc1"])
            client.setChunkSize(300)
            client.publish("drive?token=a")
            client.metadata()
            client.describeVideo()
            client.describeAudio()
            client.picture(at: 0xFF_FFFF, length: 400)
            client.sound(at: 0xFF_FFFF + 5)
            var again = client
            again.unpublish("drive")
            again.publish("drive")
            again.describeAudio()
            again.sound(at: 0)
            var player = RTMPPublisherBytes(handshake: false)
            player.connect(to: "drive?token=a")
            player.message(4, [0, 6, 1, 2, 3, 4], stream: 0, channel: 2)
            player.command("play", 3, [.null, .text("drive")], stream: 1)
            return [[0, 20] + client.bytes, [0, 200] + again.bytes, [1, 9] + client.bytes, [0, 3] + player.bytes]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let isRefused = input.byte() & 1 == 1
        let size = Int(input.byte()) + 1
        let rest = input.rest()
        let whole = serve(rest, pieces: max(1, rest.count), isRefused: isRefused)
        let cut = serve(rest, pieces: size, isRefused: isRefused)
        try require(cut.units == whole.units, "pieces of \(size) bytes give other units")
        try require(cut.events == whole.events, "pieces of \(size) bytes give other events")
        try require(!isRefused || whole.units.isEmpty, "somebody who was refused brings pictures")
        // A start code may be longer than the length that it replaces, and key frames get the parameter sets.
        let longest = 3 * rest.count + 8192
        try require(whole.units.allSatisfy { $0.bytes.count <= longest }, "a unit is longer than the stream")
        try require(cut.written <= 1 << 20, "\(cut.written) bytes answer \(rest.count)")
    }

    private static func serve(
        _ bytes: UnsafeRawBufferPointer, pieces size: Int, isRefused: Bool
    ) -> (units: [StreamUnit], events: [RTMPServerEvent], written: Int) {
        var session = RTMPServerSession(random: .seeded(1))
        var (units, events, written): ([StreamUnit], [RTMPServerEvent], Int) = ([], [], 0)
        let handshake = RTMPPublisherBytes.handshake
        handshake.withUnsafeBytes { greeting in
            for piece in [greeting] + bytes.pieces(of: size) {
                guard session.wantsInput else { return }
                var hasFailed = false
                do throws(RTMPServerError) {
                    try session.handle(piece) { units.append($0) }
                } catch {
                    hasFailed = true
                }
                // What came before the failure counts, as it would with smaller pieces.
                while let event = session.pollEvent() {
                    events.append(event)
                    guard case .publish = event else { continue }
                    if isRefused { session.refuse(.denied, saying: "no") }
                    do throws(RTMPServerError) {
                        try session.accept { units.append($0) }
                    } catch {
                        hasFailed = true
                    }
                }
                written += session.takeOutput().count
                if hasFailed { return }
            }
        }
        return (units, events, written)
    }
}
