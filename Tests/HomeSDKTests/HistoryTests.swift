import Foundation
import GatewayClient
import GatewayProcess
import HomeTypes
import Testing

@testable import HomeSDK

/// The history of a structure, read from a real gateway.
@Suite struct HistoryTests {
    /// Says in a word what an item is.
    private struct Words: HistoryItemVisitor {
        func visitCameraEvent(_ item: HistoryItem, event: String) -> String { "saw \(event)" }
        func visitPress(_ item: HistoryItem) -> String { "pressed" }
        func visitStateChange(_ item: HistoryItem, _ change: HistoryStateChange) -> String {
            "\(change.trait?.name ?? "").\(change.attribute)"
        }
        func visitRecording(_ item: HistoryItem, recordingID: String?) -> String { "recorded" }
        func visitUnknown(_ item: HistoryItem) -> String { "unknown" }
    }

    @Test(.timeLimit(.minutes(10))) func `a structure's history is queried with filters and read in pages`()
        async throws
    {
        let gateway = try GatewayProcess(
            sections: """
                "cameras": [{"id": "door", "name": "Door", "type": "doorbell", "source": "builtin:doorbell"}],
                "devices": {"lamp": {"name": "Lamp", "type": "OnOffLight"}}
                """)
        defer { gateway.stop() }
        let connection = GatewayConnection(url: gateway.address, token: gateway.token)
        let home = Home(connection, HomeClientConfiguration())
        let devices = try await home.devices().list()
        let lamp = try #require(devices.first { $0.name == "Lamp" })
        let structure = try #require(try await home.structures().list().first)
        for command in ["on", "off", "on"] {
            _ = try await connection.post(
                "/v1/devices/lamp/traits/OnOff/commands/\(command)", contentType: "application/json",
                body: Data("{}".utf8))
        }
        try await connection.send(Google.DoorbellPressTrait.press(), to: "door")

        let pages = structure.history.query().objects([lamp.id]).date(start: .distantPast, end: nil).execute(
            pageSize: 2)
        // A constant: the iterator is a reference.
        let iterator = pages.makeAsyncIterator()
        var items: [HistoryItem] = []
        while let page = try await iterator.next() {
            #expect(page.items.count <= 2)
            items += page.items
        }
        #expect(items.map { $0.accept(Words()) } == ["OnOff.onOff", "OnOff.onOff", "OnOff.onOff"])
        #expect(items.first?.source == .device(lamp, id: lamp.id, endpoint: 1))
        #expect(Set(items.map(\.id)).count == 3)
        // Two readers of one iterator share the pages.
        let shared = pages.makeAsyncIterator()
        async let one = shared.next()
        async let other = shared.next()
        let shown = try await [one, other].flatMap { $0?.items ?? [] }
        #expect(shown.count == 3 && Set(shown.map(\.id)).count == 3)

        // The press comes from the camera's own thread.
        var presses: [HistoryItem] = []
        for _ in 0..<10_000 where presses.isEmpty {
            for try await page in structure.history.query().cameraEvents("EVENT_TYPE_DOORBELL").execute(pageSize: 10) {
                presses += page.items
            }
        }
        #expect(presses.map { $0.accept(Words()) } == ["pressed"])
        #expect(presses.first?.cameraEvent?.eventTracks.first?.eventTypes == [.doorbell])
        // Apps call it once for each kind that somebody has chosen.
        let both = structure.history.query().cameraEvents("EVENT_TYPE_DOORBELL").cameraEvents("EVENT_TYPE_MOTION")
        var found = 0
        for try await page in both.execute(pageSize: UInt(10)) { found += page.items.count }
        #expect(found == presses.count)
        let filters = try await structure.history.fetchApplicableFilters()
        #expect(filters.objects.contains(lamp.id))
        #expect(filters.cameraEvents.contains("EVENT_TYPE_DOORBELL"))
        for try await page in structure.history.query().objects([String]()).execute(pageSize: 10) {
            Issue.record("no device, and yet \(page.items.count) items")
        }
        await #expect(throws: HomeError.self) {
            for try await _ in structure.history.query().objects(["attic"]).execute(pageSize: 10) {}
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an item has the picture and the clip of its moment, where something was recorded`()
        async throws
    {
        let gateway = try GatewayProcess(
            sections: """
                "cameras": [{"id": "door", "name": "Door", "type": "doorbell", "source": "builtin:doorbell"}],
                "recording": {"trigger": "continuous"},
                "devices": {"lamp": {"name": "Lamp", "type": "OnOffLight"}}
                """)
        defer { gateway.stop() }
        let home = Home(GatewayConnection(url: gateway.address, token: gateway.token), HomeClientConfiguration())
        let door = try #require(try await home.devices().list().first { $0.name == "Door" })
        let lamp = try #require(try await home.devices().list().first { $0.name == "Lamp" })
        let structure = try #require(try await home.structures().list().first)
        try await lamp.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait?.on()

        func first(_ kind: HistoryItem.Kind) async throws -> HistoryItem? {
            for try await page in structure.history.query().kinds(kind).execute(pageSize: 10) {
                #expect(page.items.allSatisfy { $0.kind == kind })
                if let item = page.items.first { return item }
            }
            return nil
        }
        // A press before the recording has begun has no picture, and what was recorded takes a moment to reach the disk.
        for _ in 0..<20_000 {
            if try await first(.recording) != nil { break }
        }
        try await home.model.connection.send(Google.DoorbellPressTrait.press(), to: door.id)
        var press: HistoryItem?
        for _ in 0..<20_000 {
            press = try await first(.press)
            if press?.cameraEvent?.mediaUrl?.previewUrl != nil { break }
        }
        let item = try #require(press)
        let media = try #require(item.cameraEvent?.mediaUrl)
        #expect(media.preview_url == media.previewUrl && media.thumbnail_url == media.thumbnailUrl)
        let picture = try #require(try await item.thumbnail())
        #expect(picture.starts(with: [0xFF, 0xD8]))
        let clip = try #require(try await item.clip())
        #expect(clip.count > 1_000 && String(decoding: clip[4..<8], as: UTF8.self) == "ftyp")
        let file = FileManager.default.temporaryDirectory.appending(path: "clip-\(UUID().uuidString).mp4")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await item.saveClip(to: file))
        #expect(try Data(contentsOf: file).starts(with: clip.prefix(8)))

        let change = try #require(try await first(.stateChange))
        #expect(try await change.thumbnail() == nil)
        #expect(try await change.clip() == nil)
        #expect(try await !change.saveClip(to: file))
        for try await page in structure.history.query().cameraEvents().kinds(.stateChange).execute(pageSize: 10) {
            Issue.record("no camera event is a change of state, and yet \(page.items.count) items")
        }
    }
}
