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
}
