import Cameras
import DatagramPort
import Glibc
import RTP
import RTSP
import SDP
import Signalling
import StationFakes
import Testing
import Transport

@testable import RTSPServer

/// Programs that publish a camera. They wait on sockets, so they need a thread of their own.
@Suite(.ownThread, .timeLimit(.minutes(10)))
struct PublishingTests {
    private static let pictureLossIndication: [UInt8] = [206, 1]
    private static let receiverReport: [UInt8] = [201, 1]

    @Test func `picture, sound and clock of a program come to the camera, and reports to the program`() async throws {
        let house = try PublishingHouse()
        let client = try PublishingClient(house)
        try client.publish()
        let streams = await house.publishers.streams
        let stream = try #require(streams.first)
        #expect(stream.deviceID == "phone-id" && stream.protocolName == "RTSP")
        // The picture comes first, whatever the order of the description.
        #expect(stream.tracks.map(\.codec.name) == ["VP8", "opus"])
        let sink = house.publishers.sink
        for number in 1..<4 as Range<UInt16> {
            client.send(PublishingClient.packet(97, number, [UInt8(number)]), onChannel: 0)
            client.send(PublishingClient.packet(96, number), onChannel: 2)
        }
        client.send(PublishingClient.senderReport(seconds: 7), onChannel: 3)
        #expect(await eventually { sink.payloads(ofTrack: 0).count == 3 && sink.payloads(ofTrack: 1).count == 3 })
        #expect(sink.payloads(ofTrack: 1) == [[1], [2], [3]])
        #expect(await eventually { sink.state.withLock { $0.reports[0] } == UInt64(7) << 32 })
        // Each track is reported on its own channel.
        var reported: Set<UInt8> = []
        for _ in 0..<1_000 where reported.count < 2 {
            let packet = try client.nextPacket()
            #expect(controlPackets(in: packet.bytes).first == Self.receiverReport)
            reported.insert(packet.channel)
        }
        #expect(reported == [1, 3])
        let counters = await house.server.counters()
        #expect(counters.publishers == ["phone-id": 1] && counters.publishersStarted == 1)
        #expect(counters.packetsReceived == 6)
        #expect(try client.ask("TEARDOWN", "phone").status == 200)
        #expect(await eventually { await house.publishers.ends == [.stopped] })
        #expect(await house.server.counters().publishers.isEmpty)
    }

    @Test func `datagrams are put in order, and reports go to the RTCP port`() async throws {
        let house = try PublishingHouse()
        let client = try PublishingClient(house)
        try #require(try client.announce().status == 200)
        let (media, control) = try Self.datagramPair()
        defer {
            close(media.descriptor)
            close(control.descriptor)
        }
        let answer = try client.ask(
            "SETUP", "phone/streamid=1",
            ["Transport: RTP/AVP;unicast;client_port=\(media.port)-\(control.port);mode=record"])
        let ports = try #require(house.server.datagramPorts)
        #expect(answer.field("Transport")?.contains("server_port=\(ports.rtp)-\(ports.rtcp)") == true)
        #expect(try client.ask("RECORD", "phone").status == 200)
        let sink = house.publishers.sink
        #expect(await house.publishers.streams.first?.tracks.count == 1)
        let packets = ([1, 3, 2, 4] as [UInt16]).map { PublishingClient.packet(96, $0, [0x10, 0x10, UInt8($0)]) }
        Self.sendTogether(packets, from: media.descriptor, to: ports.rtp)
        #expect(await eventually { sink.payloads(ofTrack: 0).count == 4 })
        #expect(sink.payloads(ofTrack: 0).map(\.last) == [1, 2, 3, 4])
        Self.send(PublishingClient.senderReport(seconds: 9), from: control.descriptor, to: ports.rtcp)
        #expect(await eventually { sink.state.withLock { $0.reports[0] } == UInt64(9) << 32 })
        var report = [UInt8](repeating: 0, count: 1_500)
        let length = recv(control.descriptor, &report, report.count, 0)
        try #require(length > 0)
        #expect(controlPackets(in: Array(report[..<length])).first == Self.receiverReport)
        // What comes from another port is somebody else's.
        let (stranger, other) = try Self.datagramPair()
        defer {
            close(stranger.descriptor)
            close(other.descriptor)
        }
        Self.send(PublishingClient.packet(96, 5), from: stranger.descriptor, to: ports.rtp)
        Self.send(PublishingClient.packet(96, 5, [0x10, 0x10, 5]), from: media.descriptor, to: ports.rtp)
        #expect(await eventually { sink.payloads(ofTrack: 0).count == 5 })
        #expect(sink.payloads(ofTrack: 0).last == [0x10, 0x10, 5])
    }

    @Test func `a key frame is asked for as the description permits, and not otherwise`() async throws {
        let house = try PublishingHouse()
        let client = try PublishingClient(house)
        try client.publish()
        client.send(PublishingClient.packet(96, 1), onChannel: 2)
        #expect(await eventually { house.publishers.sink.payloads(ofTrack: 0).count == 1 })
        house.publishers.source.requestKeyFrame(track: 0)
        var found = false
        for _ in 0..<1_000 where !found {
            let packet = try client.nextPacket()
            found = packet.channel == 3 && controlPackets(in: packet.bytes).contains(Self.pictureLossIndication)
        }
        #expect(found)
        // A program that names no feedback gets reports without requests.
        let plain = try PublishingClient(house)
        let description = PublishingClient.description.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("rtcp-fb") }.joined(separator: "\n")
        try #require(try plain.announce("phone", description).status == 200)
        let transport = ["Transport: RTP/AVP/TCP;unicast;interleaved=2-3;mode=record"]
        try #require(try plain.ask("SETUP", "phone/streamid=1", transport).status == 200)
        try #require(try plain.ask("RECORD", "phone").status == 200)
        plain.send(PublishingClient.packet(96, 1), onChannel: 2)
        #expect(await eventually { house.publishers.sink.payloads(ofTrack: 0).count == 2 })
        house.publishers.source.requestKeyFrame(track: 0)
        for _ in 0..<3 {
            let packet = try plain.nextPacket()
            #expect(!controlPackets(in: packet.bytes).contains(Self.pictureLossIndication))
        }
    }

    @Test func `the next program takes the camera over, and the connection of the one before ends`() async throws {
        let house = try PublishingHouse()
        let first = try PublishingClient(house)
        try first.publish()
        let second = try PublishingClient(house)
        try second.publish()
        #expect(first.isClosedByServer())
        #expect(await house.publishers.ends == [.replaced])
        second.send(PublishingClient.packet(96, 1), onChannel: 2)
        #expect(await eventually { house.publishers.sink.payloads(ofTrack: 0).count == 1 })
        // What a protocol of another kind takes over ends it as well.
        await house.publishers.end(because: .replaced)
        #expect(second.isClosedByServer())
    }

    @Test func `a connection that goes ends what it publishes at once, and a lost right ends the connection`()
        async throws
    {
        let house = try PublishingHouse()
        let first = try PublishingClient(house)
        try first.publish()
        first.disconnect()
        #expect(await eventually { await house.publishers.ends == [.disconnected] })
        let second = try PublishingClient(house)
        try second.publish()
        await house.publishers.endPublishers(of: "", unless: { _ in false })
        #expect(second.isClosedByServer())
        #expect(await house.publishers.ends == [.disconnected, .accessEnded])
    }

    @Test func `who may not publish, or where nobody can, learns why`() async throws {
        let house = try PublishingHouse()
        let client = try PublishingClient(house)
        let pulled = try client.announce("door")
        #expect(pulled.status == 405 && pulled.reason.contains("source: publisher"), "\(pulled.head)")
        #expect(pulled.field("Allow")?.contains("DESCRIBE") == true)
        let unknown = try client.announce("attic")
        #expect(unknown.status == 404 && unknown.reason.contains("attic"))
        house.mayPublish.withLock { $0 = false }
        let forbidden = try client.announce()
        #expect(forbidden.status == 403 && forbidden.reason.contains("scope media"))
        // The right may go between the announcement and the beginning.
        house.mayPublish.withLock { $0 = true }
        #expect(try client.announce().status == 200)
        let transport = ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1;mode=record"]
        #expect(try client.ask("SETUP", "phone/streamid=1", transport).status == 200)
        house.mayPublish.withLock { $0 = false }
        #expect(try client.ask("RECORD", "phone").status == 403)
        house.mayPublish.withLock { $0 = true }
        await house.publishers.refuse(.stopped(device: "phone-id"))
        let stopped = try client.ask("RECORD", "phone")
        #expect(stopped.status == 503 && stopped.reason == "phone has been stopped")
        await house.publishers.refuse(nil)
        #expect(try client.ask("RECORD", "phone").status == 200)
        let refusals: [(camera: String, error: SignallingError)] = [
            ("door", .takesNoPublisher(device: "door")), ("attic", .unknownDevice("attic")),
            ("phone", .mayNotPublish(device: "phone")), ("phone-id", .mayNotPublish(device: "phone")),
            ("phone-id", .stopped(device: "phone")),
        ]
        let expected = refusals.map { camera, error in
            RTSPServerNews.refusedPublisher(camera: camera, host: "127.0.0.1", refusal: .failed(error), count: 1)
        }
        let refused = house.news.withLock { $0 }.filter { if case .refusedPublisher = $0 { true } else { false } }
        #expect(refused == expected)
    }

    @Test func `a description that cannot be used is refused with the reason`() throws {
        let house = try PublishingHouse()
        let client = try PublishingClient(house)
        let unreadable = try client.announce("phone", "hello")
        #expect(unreadable.status == 400 && unreadable.reason.hasPrefix("the session description cannot be read"))
        let mp3 = try client.announce("phone", "v=0\ns=x\nm=audio 0 RTP/AVP 14\na=control:streamid=0\n")
        #expect(mp3.status == 415 && mp3.reason.hasPrefix("no track can be used: audio (m-line 1)"), "\(mp3.head)")
        let many = "v=0\ns=x\n" + (0..<9).map { "m=video 0 RTP/AVP 96\na=control:\($0)\n" }.joined()
        #expect(try client.announce("phone", many).status == 400)
        #expect(try client.announce("phone", "v=0\ns=x\n").status == 415)
        let faults = house.news.withLock { $0 }.map { news -> AnnouncementFault? in
            guard case .refusedPublisher("phone", _, .announcement(let fault), 1) = news else { return nil }
            return fault
        }
        guard faults.count == 4, case .unreadable? = faults[0],
            case .nothingUsable(let notes)? = faults[1], case .notPulled(.audio, mediaIndex: 0, .noCodec)? = notes.first
        else {
            Issue.record("other faults are reported: \(faults)")
            return
        }
        #expect(notes.count == 1 && faults[2] == .tooManyTracks(9) && faults[3] == .nothingUsable([]))
        // The connection goes on.
        #expect(try client.announce().status == 200)
    }

    @Test func `what cannot be used of a description is set up and dropped, and what is not set up is ignored`()
        async throws
    {
        let house = try PublishingHouse()
        let client = try PublishingClient(house)
        let description = """
            v=0
            s=x
            m=video 0 RTP/AVP 96
            a=rtpmap:96 VP8/90000
            a=sendonly
            a=control:streamid=0
            m=audio 0 RTP/AVP 14
            a=control:streamid=1
            m=audio 0 RTP/AVP 97
            a=rtpmap:97 opus/48000/2
            a=sendonly
            a=control:streamid=2

            """
        #expect(try client.announce("phone", description).status == 200)
        for (index, channels) in ["0-1", "2-3"].enumerated() {
            let answer = try client.ask(
                "SETUP", "phone/streamid=\(index)",
                ["Transport: RTP/AVP/TCP;unicast;interleaved=\(channels);mode=record"])
            #expect(answer.status == 200)
        }
        // Before RECORD nothing is taken.
        client.send(PublishingClient.packet(96, 1), onChannel: 0)
        #expect(try client.ask("RECORD", "phone").status == 200)
        let leftOut = house.news.withLock { $0 }.compactMap { news -> [CameraNote]? in
            if case .publishing("phone-id", _, _, overUDP: false, let notes) = news { notes } else { nil }
        }
        guard case .notPulled(.audio, mediaIndex: 1, .noCodec)? = leftOut.first?.first else {
            Issue.record("what is left out is reported as \(leftOut)")
            return
        }
        #expect(leftOut.map(\.count) == [1])
        let tracks = await house.publishers.streams.first?.tracks.map(\.codec.name)
        #expect(tracks == ["VP8"])
        client.send(PublishingClient.packet(14, 1), onChannel: 2)
        client.send(PublishingClient.packet(97, 1), onChannel: 4)
        client.send(PublishingClient.packet(100, 2), onChannel: 0)
        client.send([1, 2, 3], onChannel: 0)
        client.send([], onChannel: 0)
        client.send(PublishingClient.packet(96, 3, [0x10, 0x10, 3]), onChannel: 0)
        let sink = house.publishers.sink
        #expect(await eventually { !sink.payloads(ofTrack: 0).isEmpty })
        #expect(sink.payloads(ofTrack: 0) == [[0x10, 0x10, 3]])
        #expect(await house.server.counters().packetsReceived == 1)
        // A change of the source counts once its second packet has come, and then from the first one on.
        client.send(PublishingClient.packet(96, 90, ssrc: 66, [0x10, 0x10, 90]), onChannel: 0)
        client.send(PublishingClient.packet(96, 4, [0x10, 0x10, 4]), onChannel: 0)
        client.send(PublishingClient.packet(96, 91, ssrc: 66, [0x10, 0x10, 91]), onChannel: 0)
        client.send(PublishingClient.packet(96, 50, ssrc: 77, [0x10, 0x10, 50]), onChannel: 0)
        client.send(PublishingClient.packet(96, 51, ssrc: 77, [0x10, 0x10, 51]), onChannel: 0)
        #expect(await eventually { sink.payloads(ofTrack: 0).last == [0x10, 0x10, 51] })
        #expect(sink.payloads(ofTrack: 0).map(\.last) == [3, 4, 50, 51])
    }

    @Test func `who announces and does not record loses the connection`() throws {
        let house = try PublishingHouse { $0.session.recordTimeout = .milliseconds(50) }
        let client = try PublishingClient(house)
        #expect(try client.announce().status == 200)
        #expect(client.isClosedByServer())
    }

    @Test func `a server without a gate takes no publisher`() throws {
        let house = try PublishingHouse { $0.publishing = nil }
        let client = try PublishingClient(house)
        #expect(try client.announce().status == 405)
        #expect(try client.ask("OPTIONS", "phone").field("Public")?.contains("ANNOUNCE") == false)
    }

    // MARK: Datagrams

    /// An even port of this host, and the one after it.
    static func datagramPair() throws -> (
        media: (descriptor: Int32, port: UInt16), control: (descriptor: Int32, port: UInt16)
    ) {
        for _ in 0..<64 {
            let media = try bind(to: 0)
            if media.port & 1 == 0, let control = try? bind(to: media.port + 1) { return (media, control) }
            close(media.descriptor)
        }
        throw PublishingClient.Broken()
    }

    private static func bind(to port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = loopback(port)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            throw PublishingClient.Broken()
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let named = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        try #require(named == 0)
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        try #require(setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size) == 0)
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Sends datagrams of one length. Where the kernel can cut them from one message, the test cannot be interrupted between
    /// them: the server waits 80 ms for one that is missing.
    private static func sendTogether(_ packets: [[UInt8]], from descriptor: Int32, to port: UInt16) {
        // SOL_UDP and UDP_SEGMENT of <linux/udp.h>, which Swift does not import.
        let (level, option): (Int32, Int32) = (17, 103)
        let size = socklen_t(MemoryLayout<Int32>.size)
        var length = Int32(packets.first?.count ?? 0)
        guard setsockopt(descriptor, level, option, &length, size) == 0 else {
            for packet in packets { send(packet, from: descriptor, to: port) }
            return
        }
        send(Array(packets.joined()), from: descriptor, to: port)
        length = 0
        #expect(setsockopt(descriptor, level, option, &length, size) == 0)
    }

    private static func send(_ packet: [UInt8], from descriptor: Int32, to port: UInt16) {
        var address = loopback(port)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, packet, packet.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(sent == packet.count)
    }
}
