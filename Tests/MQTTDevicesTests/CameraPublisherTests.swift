import Foundation
import Testing

@testable import MQTTDevices

@Suite struct CameraPublisherTests {
    private var publisher = CameraPublisher(settings: .init(acceptsCommands: true))
    private let camera = PublishedCamera(
        id: "d1", name: "Front door", isDoorbell: true, isOnline: true, detections: ["motion"], allowsRecording: true)

    @Test mutating func `a camera is described once, and only what changes is sent again`() throws {
        let first = publisher.update(camera)
        let description = try #require(first.first)
        #expect(description.topic == "homeassistant/device/gatehouse_d1/config")
        #expect(description.isRetained)
        let json = try JSONValue(parsing: description.payload)
        #expect(
            Set(json["components"]?.object?.keys.map { $0 } ?? []) == [
                "doorbell", "motion", "detection", "recording", "recording_active",
            ])
        #expect(publisher.update(camera).isEmpty)
        var moved = camera
        moved.activeDetections = ["motion"]
        #expect(
            publisher.update(moved).map { "\($0.topic) \(String(decoding: $0.payload, as: UTF8.self))" } == [
                "gatehouse/d1/motion ON"
            ])
        let press = publisher.event("press", at: "d1", .doorbell)
        #expect(press.map(\.topic) == ["gatehouse/d1/doorbell"])
        #expect(press.allSatisfy { !$0.isRetained }, "an old press must not ring")
        #expect(publisher.remove("d1").allSatisfy { $0.payload.isEmpty && $0.isRetained })
    }

    @Test mutating func `the descriptions are ones that this gateway would understand`() {
        var table = HomeOnTable(settings: .init(ownIdentifierPrefix: "other_"))
        for publication in publisher.update(camera) + publisher.everything {
            table.receive(publication.topic, String(decoding: publication.payload, as: UTF8.self))
        }
        table.settle()
        for publication in publisher.everything {
            table.receive(publication.topic, String(decoding: publication.payload, as: UTF8.self))
        }
        #expect(table.home.counts.refused.isEmpty)
        #expect(
            table.devices.first?.endpoints.flatMap(\.types) == [
                "OnOffPluginUnitDeviceType", "DoorbellDeviceType", "MotionSensorDeviceType",
            ])
        #expect(table.devices.first?.endpoints.first?.isReachable == true)
    }

    @Test mutating func `pictures are published where the config asks for them, and else taken away`() throws {
        let picture = "gatehouse/d1/picture"
        let first = publisher.update(camera)
        #expect(first.filter { $0.topic == picture }.map(\.payload) == [Data()], "one from an earlier time goes")
        #expect(publisher.picture([0xFF, 0xD8], at: "d1").isEmpty)
        var shown = CameraPublisher(settings: .init(publishesPictures: true))
        let description = try #require(shown.update(camera).first)
        let part = try #require(JSONValue(parsing: description.payload)["components"]?["picture"])
        #expect(part["platform"] == "image" && part["image_topic"] == "gatehouse/d1/picture")
        let published = shown.picture([0xFF, 0xD8], at: "d1")
        #expect(published.map(\.topic) == [picture] && published.allSatisfy { $0.isRetained })
        #expect(shown.picture([0xFF, 0xD8], at: "d2").isEmpty)
        #expect(shown.remove("d1").contains { $0.topic == picture && $0.payload.isEmpty })
    }

    @Test mutating func `only what the config allows is a command`() {
        _ = publisher.update(camera)
        let off = MQTTMessage(topic: "gatehouse/d1/recording/set", payload: Data("OFF".utf8))
        #expect(publisher.command(off) == .setRecording(cameraID: "d1", isAllowed: false))
        #expect(publisher.command(.init(topic: off.topic, payload: off.payload, isRetained: true)) == nil)
        #expect(publisher.command(.init(topic: off.topic, payload: Data("off?".utf8))) == nil)
        var silent = CameraPublisher(settings: .init())
        _ = silent.update(camera)
        #expect(silent.command(off) == nil)
        #expect(silent.commandTopics.isEmpty)
    }

    /// What the broker delivers of a message to one who subscribes later.
    private func kept(_ publication: MQTTPublication) -> MQTTMessage {
        MQTTMessage(topic: publication.topic, payload: publication.payload, isRetained: true)
    }

    @Test mutating func `a camera leaves nothing on the broker, and its description goes last`() {
        let published = publisher.update(camera).filter { !$0.payload.isEmpty }.map(\.topic)
        let removed = publisher.remove("d1")
        #expect(removed.allSatisfy { $0.payload.isEmpty && $0.isRetained })
        #expect(Set(published + ["gatehouse/d1/picture"]).isSubset(of: removed.map(\.topic)))
        // It may have detected persons in an earlier run.
        #expect(removed.contains { $0.topic == "gatehouse/d1/person" })
        #expect(removed.last?.topic == "homeassistant/device/gatehouse_d1/config")
    }

    @Test mutating func `a camera that left while the broker was away is removed when it is back`() throws {
        let description = kept(try #require(publisher.update(camera).first))
        let expected = publisher.remove("d1")
        let former = try #require(RetainedCamera(description, settings: publisher.settings, isMinted: { _ in true }))
        #expect(publisher.clear(former, isInHome: false) == expected)
        #expect(publisher.clear(former, isInHome: true).isEmpty)
        _ = publisher.update(camera)
        #expect(publisher.clear(former, isInHome: false).isEmpty, "it has just come back")
    }

    @Test mutating func `states below an earlier prefix are taken away, and the description stays`() throws {
        var before = CameraPublisher(settings: .init(topicPrefix: "my/house"))
        let description = kept(try #require(before.update(camera).first))
        _ = publisher.update(camera)
        let former = try #require(RetainedCamera(description, settings: publisher.settings, isMinted: { _ in true }))
        let states = before.remove("d1").dropLast()
        #expect(states.allSatisfy { $0.topic.hasPrefix("my/house/d1/") })
        #expect(publisher.clear(former, isInHome: true) == Array(states))
    }

    @Test mutating func `states below a former prefix are found by the topic that is cleared last`() throws {
        var before = CameraPublisher(settings: .init(topicPrefix: "my/house"))
        let published = before.update(camera)
        let state = kept(try #require(published.first { $0.topic == "my/house/d1/availability" }))
        let settings = CameraPublisher.Settings(formerPrefixes: ["my/house", "gatehouse"])
        #expect(settings.formerFilters == ["my/house/+/availability"])
        var now = CameraPublisher(settings: settings)
        _ = now.update(camera)
        let former = try #require(RetainedCamera(state: state, settings: settings, isMinted: { $0 == "d1" }))
        let states = before.remove("d1").dropLast()
        let cleared = now.clear(former, isInHome: true)
        #expect(cleared == Array(states))
        #expect(cleared.last?.topic == state.topic)
        _ = now.remove("d1")
        #expect(now.clear(former, isInHome: false).isEmpty, "it may be a camera of another gateway")
        var (news, end, present, other) = (state, state, state, state)
        news.isRetained = false
        end.payload = Data()
        present.topic = "gatehouse/d1/availability"
        other.topic = "my/house/lamp/availability"
        for message in [news, end, present, other] {
            #expect(RetainedCamera(state: message, settings: settings, isMinted: { $0 == "d1" }) == nil)
        }
    }

    /// The connection may have ended while they were cleared, and the camera may have left before the next one.
    @Test func `a camera that left leaves nothing below former prefixes, and its description goes last`() throws {
        var earlier = CameraPublisher(settings: .init(topicPrefix: "second"))
        let description = kept(try #require(earlier.update(camera).first))
        let settings = CameraPublisher.Settings(topicPrefix: "third", formerPrefixes: ["second", "first"])
        let now = CameraPublisher(settings: settings)
        let former = try #require(RetainedCamera(description, settings: settings, isMinted: { _ in true }))
        let removal = now.clear(former, isInHome: false)
        #expect(removal.allSatisfy { $0.payload.isEmpty && $0.isRetained })
        #expect(removal.last?.topic == description.topic)
        let cleared = removal.map(\.topic).filter { $0.hasSuffix("/d1/availability") }
        #expect(cleared.sorted() == ["first/d1/availability", "second/d1/availability", "third/d1/availability"])
    }

    @Test mutating func `states with a name that another program may use stay below former prefixes`() throws {
        let settings = CameraPublisher.Settings(formerPrefixes: ["zigbee2mqtt"])
        let description = kept(try #require(publisher.update(camera).first))
        let former = try #require(RetainedCamera(description, settings: settings, isMinted: { _ in false }))
        let now = CameraPublisher(settings: settings)
        #expect(now.clear(former, isInHome: false).allSatisfy { !$0.topic.hasPrefix("zigbee2mqtt/") })
    }

    /// `zigbee2mqtt/lamp/availability` is a topic of another program, whatever a description says.
    @Test mutating func `topics that may be another program's are not cleared`() throws {
        func former(_ prefix: String, isMinted: Bool) throws -> RetainedCamera? {
            var forger = CameraPublisher(settings: .init(topicPrefix: prefix))
            let description = kept(try #require(forger.update(camera).first))
            return RetainedCamera(description, settings: publisher.settings, isMinted: { _ in isMinted })
        }
        #expect(try former("zigbee2mqtt", isMinted: false) == nil)
        #expect(try former("$SYS", isMinted: true) == nil)
        #expect(try former("my/house", isMinted: true) != nil)
        #expect(try former("gatehouse", isMinted: false) != nil)
    }

    @Test mutating func `only a retained description of this gateway is one of its former cameras`() throws {
        var other = CameraPublisher(settings: .init(gateway: "gatehouse-2"))
        let own = try #require(publisher.update(camera).first)
        let foreign = try #require(other.update(camera).first)
        #expect(RetainedCamera(kept(own), settings: publisher.settings, isMinted: { _ in true }) != nil)
        #expect(RetainedCamera(kept(foreign), settings: publisher.settings, isMinted: { _ in true }) == nil)
        #expect(RetainedCamera(kept(foreign), settings: other.settings, isMinted: { _ in true }) != nil)
        var news = kept(own)
        news.isRetained = false
        let text = String(decoding: own.payload, as: UTF8.self)
        func altered(_ topic: String, _ payload: String) -> MQTTMessage {
            MQTTMessage(topic: topic, payload: Data(payload.utf8), isRetained: true)
        }
        for message in [
            news, altered(own.topic, ""), altered(own.topic, "{"),
            altered(own.topic, #"{"origin":{"name":"Gatehouse (gatehouse)"}}"#),
            altered("homeassistant/device/gatehouse_/config", text), altered("homeassistant/device/plug/config", text),
            altered("homeassistant/switch/gatehouse_d1/config", text),
            altered("homeassistant/device/gatehouse_d2/config", text),
            altered(own.topic, text.replacing("gatehouse/d1/availability", with: "gatehouse/d1/#")),
            altered(own.topic, text.replacing("gatehouse/d1/availability", with: "lamp/availability")),
        ] {
            let former = RetainedCamera(message, settings: publisher.settings, isMinted: { _ in true })
            #expect(former == nil, "\(message.topic)")
        }
    }

    @Test(arguments: [
        ("homeassistant/device/gatehouse_d1/config", true), ("homeassistant/device/lamp/config", true),
        ("homeassistant/device//config", true), ("homeassistant/device/a/b/config", false),
        ("homeassistant/device/config", false), ("homeassistant/device/a/config/", false),
        ("homeassistant/device/a/configs", false), ("homeassistant/light/a/config", false), ("", false),
    ])
    func `the filter of descriptions matches exactly one level`(topic: String, isMatched: Bool) {
        #expect(publisher.settings.isDescription(topic) == isMatched)
    }
}
