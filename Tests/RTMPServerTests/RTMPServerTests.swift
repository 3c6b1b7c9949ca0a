import Cameras
import DatagramPort
import PacketFakes
import SDP
import Signalling
import StationFakes
import Stations
import Testing
import Transport

@testable import RTMPServer

/// These tests read from sockets and wait there. On a shared thread they would hold up what they wait for.
@Suite(.ownThread, .timeLimit(.minutes(10))) struct RTMPServerTests {
    @Test func `An encoder becomes the camera, and stops`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(RTMPPublisherBytes.asking().bytes)
        let answers = client.statuses(until: "NetStream.Publish.Start").map(\.code)
        #expect(answers.first == "NetConnection.Connect.Success")
        client.send(RTMPPublisherBytes.media())
        #expect(await yard.reaches(.flowing))
        #expect(yard.codecs == ["H264", "mpeg4-generic"])
        #expect(await yard.hasReceived(10))
        let counters = await yard.server.counters()
        #expect(counters.publishersStarted == 1 && counters.publishers == 1)
        var rest = RTMPPublisherBytes(handshake: false)
        rest.unpublish("yard")
        client.send(rest.bytes)
        #expect(await yard.waits(after: .stopped))
        #expect(await eventually { yard.ends == [.stopped] })
        // The connection stays for another stream.
        #expect(client.statuses(until: "NetStream.Unpublish.Success").last?.code == "NetStream.Unpublish.Success")
        client.send(RTMPPublisherBytes.again(video: false))
        #expect(await yard.reaches(.flowing))
        #expect(yard.codecs == ["mpeg4-generic"])
    }

    @Test(arguments: [(true, false, ["H264"]), (false, true, ["mpeg4-generic"])])
    func `A stream without sound or without pictures is a camera too`(
        video: Bool, audio: Bool, codecs: [String]
    ) async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media(video: video, audio: audio))
        #expect(await yard.reaches(.flowing))
        #expect(yard.codecs == codecs)
    }

    @Test func `Sound that is announced and does not come is waited for, but not for long`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        let client = try RTMPTestClient(to: yard.server.port)
        var media = RTMPPublisherBytes(handshake: false)
        media.metadata()
        media.describeVideo()
        // A second of the stream, whatever time it takes to arrive.
        for index in 0...26 as ClosedRange<UInt32> { media.picture(at: 40 * index) }
        client.send(RTMPPublisherBytes.asking().bytes + media.bytes)
        #expect(await yard.reaches(.flowing))
        #expect(yard.codecs == ["H264"])
        // It comes after all.
        media = RTMPPublisherBytes(handshake: false)
        media.describeAudio()
        client.send(media.bytes)
        // An announcement restarts the tracks, so there is one a second at most.
        let hasBoth = await eventually {
            var more = RTMPPublisherBytes(handshake: false)
            more.picture(at: 2_000)
            more.sound(at: 2_000)
            client.send(more.bytes)
            return yard.codecs == ["H264", "mpeg4-generic"]
        }
        #expect(hasBoth)
    }

    @Test func `Bytes that come one by one are a stream as well`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        let client = try RTMPTestClient(to: yard.server.port)
        let bytes = RTMPPublisherBytes.asking().bytes
        client.send(Array(bytes[..<3_000]))
        for byte in bytes[3_000...] { client.send([byte]) }
        for byte in RTMPPublisherBytes.media() { client.send([byte]) }
        #expect(await yard.reaches(.flowing))
    }

    @Test func `The newer publisher takes over, and the one before is informed`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        let first = try RTMPTestClient(to: yard.server.port)
        first.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        #expect(await yard.reaches(.flowing))
        let second = try RTMPTestClient(to: yard.server.port)
        second.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media(audio: false))
        let told = first.statuses().last
        #expect(told == RTMPTestClient.Status(code: "NetStream.Failed", words: PublisherEnd.replaced.words))
        #expect(await yard.reaches(.flowing))
        #expect(yard.codecs == ["H264"] && yard.ends == [.replaced])
        let counters = await yard.server.counters()
        #expect(counters.publishersStarted == 2)
    }

    @Test func `Encoders that take the camera from each other do so once a second at most`() async throws {
        let yard = try await PublishedYard { $0.closingTimeout = .milliseconds(50) }
        defer { yard.stop() }
        let publish = RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media()
        let first = try RTMPTestClient(to: yard.server.port)
        first.send(publish)
        #expect(await yard.reaches(.flowing))
        let second = try RTMPTestClient(to: yard.server.port)
        second.send(publish)
        let replaced = RTMPTestClient.Status(code: "NetStream.Failed", words: PublisherEnd.replaced.words)
        #expect(first.statuses().last == replaced)
        let third = try RTMPTestClient(to: yard.server.port)
        third.send(publish)
        let tooSoon = SignallingError.publishersChangeTooOften(device: "yard", wait: .seconds(1))
        let refused = third.statuses().last
        #expect(refused == RTMPTestClient.Status(code: "NetStream.Failed", words: tooSoon.words))
        // The camera keeps its publisher.
        #expect(yard.ends == [.replaced])
        yard.clock.withLock { $0 += .seconds(1) }
        let fourth = try RTMPTestClient(to: yard.server.port)
        fourth.send(publish)
        #expect(second.statuses().last == replaced)
        #expect(yard.ends == [.replaced, .replaced])
        // It is closed when nothing refers to it any more.
        withExtendedLifetime(fourth) {}
    }

    @Test func `A publisher whose connection ends is not the camera any more`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        #expect(await yard.reaches(.flowing))
        client.finish()
        #expect(await yard.waits(after: .connectionClosed))
        #expect(await eventually { yard.ends == [.disconnected] })
    }

    @Test func `A camera that is removed ends its publisher`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        #expect(await yard.reaches(.flowing))
        await yard.signalling.remove("yard")
        #expect(client.statuses().last?.code == "NetStream.Failed")
    }

    @Test func `The end of the gateway is said to a publisher`() async throws {
        let yard = try await PublishedYard()
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        #expect(await yard.reaches(.flowing))
        #expect(await yard.hasReceived(10))
        yard.stop()
        #expect(client.statuses().last?.words == RTMPPublisherEnd.shuttingDown.words)
    }
}

extension RTMPPublisherBytes {
    /// Another stream over the connection of one that has ended.
    static func again(video: Bool) -> [UInt8] {
        var client = RTMPPublisherBytes(handshake: false)
        client.publish("yard?token=right")
        return client.bytes + media(video: video, from: 10_000)
    }
}
