import PacketFakes
import Testing
import Transport

@testable import StreamFormats

/// What a hostile client of the RTMP server may not do.
struct RTMPServerLimitTests {
    static let others: [([UInt8], String)] = [
        ([0x16, 3, 1], "TLS"), (Array("GET / HTTP/1.1\r\n".utf8), "RTMP"), ([6], "rtmpe"), ([0], "RTMP"),
    ]

    @Test(arguments: others)
    func `Something else than RTMP is refused at its first byte`(bytes: [UInt8], word: String) {
        var conversation = RTMPServerConversation()
        conversation.take(bytes)
        #expect(conversation.failure == .notRTMP(firstByte: bytes[0]) && conversation.output.isEmpty)
        #expect(conversation.failure?.description.contains(word) == true)
    }

    @Test func `A stranger's messages are short, and a publisher's may be as long as a picture`() {
        let length = RTMPServerSession.longestCommand + 1
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        var stranger = client
        stranger.picture(at: 0, length: length)
        var conversation = RTMPServerConversation()
        conversation.take(stranger.bytes)
        #expect(conversation.failure == .format(.tooLong(.message)))
        client.publish("yard")
        client.describeVideo()
        client.picture(at: 0, length: length)
        conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.failure == nil && conversation.units.count == 1)
        var publisher = RTMPPublisherBytes(handshake: false)
        publisher.raw([6, 0, 0, 0, 0xFF, 0xFF, 0xFF, 9, 1, 0, 0, 0])
        conversation.take(publisher.bytes)
        #expect(conversation.failure == .format(.tooLong(.message)))
    }

    @Test func `Unfinished messages and chunk streams are bounded`() {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        // Each message is announced with 65,536 bytes, and gets a chunk of 60,000.
        client.setChunkSize(60_000)
        for channel in 10..<14 as Range<UInt8> {
            client.raw([channel, 0, 0, 0, 1, 0, 0, 9, 1, 0, 0, 0] + [UInt8](repeating: 1, count: 60_000))
        }
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes, pieces: 1 << 16)
        #expect(conversation.failure == .format(.tooLong(.unfinishedMessages)))
        client = RTMPPublisherBytes()
        client.connect(to: "live")
        for channel in 10..<60 as Range<UInt8> { client.message(9, [1], channel: channel) }
        conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.failure == .format(.tooLong(.chunkStreams)))
    }

    @Test func `Values that are nested without end are not read`() {
        var client = RTMPPublisherBytes()
        client.message(20, [UInt8](repeating: 0x0A, count: 5) + [UInt8](repeating: 3, count: 60_000), stream: 0)
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.failure == .unreadableCommand)
    }

    @Test func `A client that asks without end and reads nothing is refused`() {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        for index in 0..<2_000 { client.command("createStream", Double(index + 2), [.null]) }
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes)
        #expect(conversation.failure == .unreadAnswers)
        // What is written stays bounded.
        #expect(conversation.output.count < 1 << 17)
        // With answers that are read, the same is no harm.
        conversation = RTMPServerConversation()
        conversation.take(client.bytes, pieces: 4_096)
        #expect(conversation.failure == nil)
    }

    @Test func `What comes before an answer to publish is bounded`() throws {
        var conversation = RTMPServerConversation(nil)
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        client.publish("yard")
        conversation.take(client.bytes)
        #expect(conversation.events.count == 1)
        let media = [UInt8](repeating: 0, count: 1 << 17)
        var failure: RTMPServerError?
        for _ in 0..<4 where failure == nil {
            do throws(RTMPServerError) {
                try media.withUnsafeBufferPointer { (bytes: UnsafeBufferPointer<UInt8>) throws(RTMPServerError) in
                    try conversation.session.handle(UnsafeRawBufferPointer(bytes)) { _ in }
                }
            } catch {
                failure = error
            }
        }
        #expect(failure == .tooEager)
    }

    @Test func `Somebody who does not publish sends little, and a publisher as much as it wants`() {
        func sound(_ count: Int) -> [UInt8] {
            var client = RTMPPublisherBytes(handshake: false)
            for index in 0..<count { client.sound(at: UInt32(20 * index)) }
            return client.bytes
        }
        // A frame has 17 bytes here.
        let plenty = RTMPServerSession.maximumUnpublished / 17 + 1
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        var conversation = RTMPServerConversation()
        conversation.take(client.bytes + sound(plenty), pieces: 4_096)
        #expect(conversation.failure == .tooEager && conversation.units.isEmpty)
        client.publish("yard")
        client.describeAudio()
        conversation = RTMPServerConversation()
        conversation.take(client.bytes + sound(2 * plenty), pieces: 4_096)
        #expect(conversation.failure == nil && conversation.units.count == 2 * plenty)
        // The limit starts again at the end of a stream.
        client = RTMPPublisherBytes(handshake: false)
        client.unpublish("yard")
        conversation.take(client.bytes + sound(plenty / 2), pieces: 4_096)
        #expect(conversation.failure == nil && !conversation.session.isOver)
        conversation.take(sound(plenty), pieces: 4_096)
        #expect(conversation.failure == .tooEager && conversation.units.count == 2 * plenty)
    }

    @Test func `A session of the wrong order is refused, and media of nobody is dropped`() {
        func failure(_ write: (inout RTMPPublisherBytes) -> Void) -> RTMPServerError? {
            var client = RTMPPublisherBytes()
            write(&client)
            var conversation = RTMPServerConversation()
            conversation.take(client.bytes)
            #expect(conversation.units.isEmpty)
            return conversation.failure
        }
        let early = ["createStream", "publish"].map { name in failure { $0.command(name, 1) } }
        let refused: [RTMPServerError?] = [.unexpected(command: "createStream"), .unexpected(command: "publish")]
        #expect(early == refused)
        let twice = failure { client in
            client.connect(to: "live")
            client.connect(to: "other")
        }
        #expect(twice == .unexpected(command: "connect"))
        let again = failure { client in
            client.connect(to: "live")
            client.publish("yard")
            client.publish("door")
        }
        #expect(again == .unexpected(command: "createStream"))
        let media = failure { client in
            client.connect(to: "live")
            client.describeVideo()
            client.picture(at: 0)
            client.unpublish("yard")
        }
        #expect(media == nil)
    }

    @Test func `Every order of messages ends in a refusal or a stream, and units come only from a publisher`() {
        let steps: [(inout RTMPPublisherBytes) -> Void] = [
            { $0.connect(to: "live") }, { $0.command("createStream", 2, [.null]) },
            { $0.command("publish", 3, [.null, .text("yard")], stream: 1) }, { $0.describeVideo() },
            { $0.picture(at: 0) }, { $0.unpublish("yard") },
        ]
        var orders: [[Int]] = [[]]
        for _ in steps.indices {
            orders = orders.flatMap { order in steps.indices.filter { !order.contains($0) }.map { order + [$0] } }
        }
        #expect(orders.count == 720)
        var streams = 0
        for order in orders {
            var client = RTMPPublisherBytes()
            for step in order { steps[step](&client) }
            var conversation = RTMPServerConversation()
            conversation.take(client.bytes, pieces: 97)
            guard !conversation.units.isEmpty else { continue }
            streams += 1
            let places = [0, 2, 3, 4].map { order.firstIndex(of: $0) ?? -1 }
            #expect(places == places.sorted(), "\(order) brought a picture")
        }
        #expect(streams > 0)
    }

    @Test func `Damaged sessions never trap, and bring no more than they hold`() {
        let bytes = RTMPPublisherBytes.session().bytes
        var random = RandomSource.seeded(21)
        var (refused, complete) = (0, 0)
        for _ in 0..<3_000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 3073..<damaged.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: damaged[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: damaged.remove(at: place)
                default: damaged.insert(UInt8.random(in: .min ... .max, using: &random), at: place)
                }
            }
            var conversation = RTMPServerConversation()
            conversation.take(damaged, pieces: Int.random(in: 1...2_000, using: &random))
            if conversation.failure != nil { refused += 1 } else { complete += 1 }
            #expect(conversation.units.allSatisfy { $0.bytes.count < damaged.count * 2 })
            #expect(conversation.output.count < 1 << 17 && conversation.events.count < damaged.count)
        }
        #expect(refused > 0 && complete > 0)
    }

    @Test func `A session reads the same however its bytes are split`() {
        let bytes = RTMPPublisherBytes.session(pictures: 8).bytes
        var whole = RTMPServerConversation()
        whole.take(bytes)
        var random = RandomSource.seeded(5)
        for _ in 0..<40 {
            var cut = RTMPServerConversation()
            cut.take(bytes, pieces: Int.random(in: 1...3_000, using: &random))
            #expect(cut.units == whole.units && cut.events == whole.events && cut.codes == whole.codes)
        }
    }
}
