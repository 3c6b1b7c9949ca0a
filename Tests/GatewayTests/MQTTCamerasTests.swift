import Foundation
import HomeFakes
import HomeTypes
import Logging
import PushAvStreamTransport
import Testing
import Transport

@testable import Gateway
@testable import HomeHub
@testable import MQTTDevices

/// The cameras of the home on a broker, without a broker.
@Suite struct MQTTCamerasTests {
    private let clock = Date(timeIntervalSince1970: 1_000)
    /// How much later than the home the publisher lives, in seconds.
    private let delay = Locked(0.0)
    private let camera = FakeCamera("door")
    private let sent = Locked<[MQTTPublication]>([])

    private func makeHub() -> HomeHub {
        HomeHub(
            devices: [.init(id: "door", name: "Door", kind: .doorbell)], drivers: [camera],
            signalling: FakeLiveView().services, now: { [clock] in clock })
    }

    private func makeCameras(
        _ hub: HomeHub, formerPrefixes: [String] = [], publishesPictures: Bool = false
    ) -> MQTTCameras {
        MQTTCameras(
            hub, settings: .init(formerPrefixes: formerPrefixes, publishesPictures: publishesPictures),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            pause: .milliseconds(1), now: { [clock, delay] in clock + delay.withLock { $0 } },
            send: { [sent] publication in sent.withLock { $0.append(publication) } }, listen: { _ in })
    }

    /// Waits until a message was sent, and returns all of them as text.
    private func texts(until isDone: ([String]) -> Bool) async -> [String] {
        var texts: [String] = []
        _ = await becomesTrue {
            texts = sent.withLock { $0 }.map { "\($0.topic) \(String(decoding: $0.payload, as: UTF8.self))" }
            return isDone(texts)
        }
        return texts
    }

    private static let press = #"gatehouse/door/doorbell {"event_type":"press"}"#

    @Test func `a press while the stream of the home was cut is published, unless it is long ago`() async {
        let hub = makeHub()
        let cameras = makeCameras(hub)
        let following = Task { await cameras.follow() }
        _ = await texts { $0.contains { $0.hasPrefix("gatehouse/door/availability") } }
        await hub.cutOffAndPress("door")
        #expect(await texts { $0.contains(Self.press) }.count { $0 == Self.press } == 1)
        // The publisher hears of the next one two minutes later.
        delay.withLock { $0 = 120 }
        await hub.cutOffAndPress("door")
        await hub.take(.began(device: "door", connection: 1, .init(kind: .command, words: "test"), number: 1))
        let texts = await texts { $0.contains("gatehouse/door/recording/active ON") }
        #expect(texts.contains("gatehouse/door/recording/active ON"))
        #expect(texts.count { $0 == Self.press } == 1)
        following.cancel()
        await following.value
    }

    @Test func `a press has a picture, where the config asks for pictures`() async {
        for isAsked in [false, true] {
            let hub = makeHub()
            let cameras = makeCameras(hub, publishesPictures: isAsked)
            let following = Task { await cameras.follow() }
            _ = await texts { $0.contains { $0.hasPrefix("gatehouse/door/availability") } }
            await hub.apply(.doorbellPressed(.init()), deviceID: "door")
            await hub.take(.began(device: "door", connection: 1, .init(kind: .command, words: "test"), number: 1))
            _ = await texts { texts in
                texts.contains("gatehouse/door/recording/active ON")
                    && (!isAsked || texts.contains { $0.hasPrefix("gatehouse/door/picture") })
            }
            let pictures = sent.withLock { $0.filter { $0.topic == "gatehouse/door/picture" && !$0.payload.isEmpty } }
            #expect(pictures.map(\.payload) == (isAsked ? [Data([0xFF, 0xD8, 0xFF, 0xD9])] : []))
            #expect(pictures.allSatisfy { $0.isRetained })
            let description = sent.withLock { $0.first { $0.topic.hasSuffix("/config") } }
            #expect(String(decoding: description?.payload ?? Data(), as: UTF8.self).contains("image_topic") == isAsked)
            sent.withLock { $0 = [] }
            following.cancel()
            await following.value
        }
    }

    @Test func `a camera that left unnoticed is removed, once the home has its cameras`() async throws {
        let hub = makeHub()
        let cameras = makeCameras(hub)
        // What an earlier run has published.
        var earlier = CameraPublisher(settings: .init())
        let former = try ["door", "gone"].map { id in
            let published = earlier.update(.init(id: id, name: id, isDoorbell: true, isOnline: true))
            let description = try #require(published.first)
            return try #require(
                RetainedCamera(
                    .init(topic: description.topic, payload: description.payload, isRetained: true), settings: .init(),
                    isMinted: { _ in false }))
        }
        await cameras.take(former)
        #expect(sent.withLock { $0 }.isEmpty)
        let removals = (gone: earlier.remove("gone"), door: earlier.remove("door"))
        await cameras.homeIsComplete()
        #expect(sent.withLock { $0 } == removals.gone)
        // The next config does not have the other one.
        await hub.setDevices([], drivers: [])
        await cameras.homeIsComplete()
        await cameras.homeIsComplete()
        #expect(sent.withLock { $0 } == removals.gone + removals.door)
    }

    @Test func `states below an earlier prefix are cleared again at the next connection`() async throws {
        let hub = makeHub()
        let cameras = makeCameras(hub)
        var earlier = CameraPublisher(settings: .init(topicPrefix: "my/house"))
        let published = earlier.update(.init(id: "door", name: "Door", isDoorbell: true, isOnline: true))
        let description = try #require(published.first)
        let former = try #require(
            RetainedCamera(
                .init(topic: description.topic, payload: description.payload, isRetained: true), settings: .init(),
                isMinted: { _ in true }))
        let states = Array(earlier.remove("door").dropLast())
        await cameras.homeIsComplete()
        await cameras.take([former])
        #expect(sent.withLock { $0 } == states)
        sent.withLock { $0 = [] }
        // The connection may have ended before the broker got them, and it has only the new description then.
        await cameras.publishEverything()
        #expect(sent.withLock { Array($0.dropFirst()) } == states)
    }

    /// What the broker retains below an earlier prefix.
    private func states(of id: String) throws -> RetainedCamera {
        let message = MQTTMessage(
            topic: "my/house/\(id)/availability", payload: Data("online".utf8), isRetained: true)
        return try #require(
            RetainedCamera(state: message, settings: .init(formerPrefixes: ["my/house"]), isMinted: { _ in true }))
    }

    @Test func `states below an earlier prefix are cleared again after their camera has left`() async throws {
        let hub = makeHub()
        let cameras = makeCameras(hub)
        await cameras.homeIsComplete()
        await cameras.take([try states(of: "door")])
        let cleared = sent.withLock { $0 }
        #expect(cleared.last?.topic == "my/house/door/availability")
        sent.withLock { $0 = [] }
        // The connection may have ended before the broker got them. Nothing describes the camera any more.
        await hub.setDevices([], drivers: [])
        await cameras.publishEverything()
        #expect(sent.withLock { Array($0.dropFirst()) } == cleared)
    }

    @Test func `states that are nobody's do not keep a camera that left on the broker`() async throws {
        let hub = makeHub()
        let cameras = makeCameras(hub)
        await cameras.homeIsComplete()
        let strangers = try (0..<MQTTCameras.mostRetained).map { try states(of: "other-\($0)") }
        await cameras.take(strangers)
        #expect(sent.withLock { $0 }.isEmpty)
        var earlier = CameraPublisher(settings: .init())
        let published = earlier.update(.init(id: "gone", name: "Gone", isDoorbell: true, isOnline: true))
        let description = try #require(published.first)
        let former = try #require(
            RetainedCamera(
                .init(topic: description.topic, payload: description.payload, isRetained: true), settings: .init(),
                isMinted: { _ in false }))
        await cameras.take([former])
        let removal = earlier.remove("gone")
        #expect(sent.withLock { $0 } == removal)
    }

    @Test func `a camera that left is removed when its states came before its description`() async throws {
        let hub = makeHub()
        let cameras = makeCameras(hub)
        await cameras.homeIsComplete()
        await cameras.take([try states(of: "gone")])
        #expect(sent.withLock { $0 }.isEmpty)
        var earlier = CameraPublisher(settings: .init(topicPrefix: "my/house"))
        let published = earlier.update(.init(id: "gone", name: "Gone", isDoorbell: true, isOnline: true))
        let description = try #require(published.first)
        let former = try #require(
            RetainedCamera(
                .init(topic: description.topic, payload: description.payload, isRetained: true), settings: .init(),
                isMinted: { _ in true }))
        await cameras.take([former])
        let removal = earlier.remove("gone")
        #expect(sent.withLock { $0.filter { !$0.topic.hasPrefix("gatehouse/gone/") } } == removal)
    }

    @Test func `a camera that leaves takes along what is left below earlier prefixes`() async {
        let id = "d" + String(repeating: "0", count: 32)
        let hub = HomeHub(
            devices: [.init(id: id, name: "Door", kind: .doorbell)], drivers: [FakeCamera(id)],
            signalling: FakeLiveView().services)
        let cameras = makeCameras(hub, formerPrefixes: ["my/house"])
        let following = Task { await cameras.follow() }
        _ = await texts { $0.contains { $0.hasPrefix("gatehouse/\(id)/availability") } }
        await hub.setDevices([], drivers: [])
        let end = "homeassistant/device/gatehouse_\(id)/config "
        let texts = await texts { $0.contains(end) }
        #expect(texts.contains("my/house/\(id)/availability "))
        #expect(texts.last == end)
        following.cancel()
        await following.value
    }

    @Test func `without a store, a camera that leaves takes along nothing below earlier prefixes`() async {
        // Its identifier is its key, which another program may use there too.
        let hub = makeHub()
        let cameras = makeCameras(hub, formerPrefixes: ["zigbee2mqtt"])
        let following = Task { await cameras.follow() }
        _ = await texts { $0.contains { $0.hasPrefix("gatehouse/door/availability") } }
        await hub.setDevices([], drivers: [])
        let end = "homeassistant/device/gatehouse_door/config "
        let texts = await texts { $0.contains(end) }
        #expect(texts.contains("gatehouse/door/availability "))
        #expect(texts.last == end)
        #expect(!texts.contains { $0.hasPrefix("zigbee2mqtt/") })
        following.cancel()
        await following.value
    }

    @Test func `a camera that leaves at once after a new connection leaves nothing on the broker`() async {
        let hub = makeHub()
        let cameras = makeCameras(hub)
        let following = Task { await cameras.follow() }
        _ = await texts { $0.contains { $0.hasPrefix("gatehouse/door/availability") } }
        sent.withLock { $0 = [] }
        async let connection: Void = cameras.publishEverything()
        await hub.setDevices([], drivers: [])
        await connection
        let end = "homeassistant/device/gatehouse_door/config "
        _ = await texts { $0.contains(end) }
        // What the broker retains in the end.
        var retained: [String: Data] = [:]
        for publication in sent.withLock({ $0 }) where publication.isRetained {
            retained[publication.topic] = publication.payload
        }
        #expect(retained.filter { !$0.value.isEmpty }.keys.sorted() == ["gatehouse/status"])
        following.cancel()
        await following.value
    }

    @Test func `a broker that is configured while a camera records learns of it`() async {
        let hub = makeHub()
        await hub.take(.began(device: "door", connection: 1, .init(kind: .command, words: "test"), number: 1))
        await hub.take(.began(device: "door", connection: 2, .init(kind: .command, words: "test"), number: 1))
        let cameras = makeCameras(hub)
        let following = Task { await cameras.follow() }
        let (on, off) = ("gatehouse/door/recording/active ON", "gatehouse/door/recording/active OFF")
        #expect(await texts { $0.contains(on) }.contains(on))
        // Another connection still records.
        await hub.take(.ended(device: "door", connection: 1, number: 1, .lengthReached))
        await hub.apply(.doorbellPressed(.init()), deviceID: "door")
        #expect(await !texts { $0.contains(Self.press) }.contains(off))
        await hub.take(.ended(device: "door", connection: 2, number: 1, .lengthReached))
        #expect(await texts { $0.contains(off) }.contains(off))
        following.cancel()
        await following.value
    }
}

extension HomeHub {
    /// Ends the publisher's stream, and has the button pressed before it can open another.
    fileprivate func cutOffAndPress(_ deviceID: String) {
        log.removeReaders(of: MQTTCameras.principal)
        apply(.doorbellPressed(.init()), deviceID: deviceID)
    }
}
