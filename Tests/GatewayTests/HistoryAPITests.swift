import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import PushAvStreamTransport
import RecordingFakes
import Testing

@testable import Gateway

/// The history over HTTP: filters, pages, permissions and links.
@Suite struct HistoryAPITests {
    /// A gateway whose doorbell was pressed and has seen a person.
    private func prepared() async throws -> TestGateway {
        let gateway = try TestGateway()
        gateway.camera.send(.doorbellPressed(.init()))
        gateway.camera.send(.detection(.init(kind: .person, phase: .momentary, eventSessionId: "s")))
        gateway.camera.finish()
        await gateway.hub.run()
        return gateway
    }

    @Test func `the history is read in pages and narrowed by filters`() async throws {
        let gateway = try await prepared()
        try await gateway.run { client in
            let first = try await client.get("/v1/history?pageSize=1").decoded(HistoryRecordPage.self)
            #expect(first.items.map(\.event) == ["Person"])
            let cursor = try #require(first.cursor)
            let second = try await client.get("/v1/history?pageSize=1&cursor=\(cursor)").decoded(HistoryRecordPage.self)
            #expect(second.items.map(\.event) == ["DoorbellPressed"])
            #expect(second.cursor == nil)
            for (query, count) in [
                ("kind=press", 1), ("kind=press,cameraEvent", 2), ("kind=recording", 0), ("event=Person", 1),
                ("device=door", 2), ("device=yard", 0), ("device=door,yard", 2), ("since=1970-01-01T00:16:41Z", 0),
                ("until=1970-01-01T00:16:41Z", 2),
            ] {
                let page = try await client.get("/v1/history?\(query)").decoded(HistoryRecordPage.self)
                #expect(page.items.count == count, "\(query)")
            }
            let filters = try await client.get("/v1/history/filters").decoded(HistoryContents.self)
            #expect(filters.devices == ["door"] && filters.events == ["DoorbellPressed", "Person"])
        }
    }

    @Test func `a query that cannot be answered says what is wrong with it`() async throws {
        let gateway = try await prepared()
        try await gateway.run { client in
            for (query, code): (String, HomeError.Code) in [
                ("kind=party", .invalidArgument), ("pageSize=0", .invalidArgument), ("pageSize=201", .invalidArgument),
                ("since=soon", .invalidArgument),
                ("cursor=x", .invalidArgument), ("device=attic", .notFound), ("room=attic", .notFound),
                ("structure=attic", .notFound),
            ] {
                let response = try await client.get("/v1/history?\(query)")
                #expect(response.failure?.code == code, "\(query): \(response.text)")
            }
        }
    }

    @Test func `a token reads only of what it was granted`() async throws {
        let gateway = try await prepared()
        let tokens: [(String, Access.Grant, Int)] = [
            ("gatehouse_all", .init([.read]), 2), ("gatehouse_door", .init([.read], deviceID: "door"), 2),
            ("gatehouse_yard", .init([.read], deviceID: "yard"), 0), ("gatehouse_control", .init([.control]), 0),
        ]
        for (token, grant, _) in tokens { try await gateway.addToken(token, named: token, Access([grant])) }
        try await gateway.run { client in
            for (token, _, count) in tokens {
                let page = try await client.send(.get, "/v1/history", token: token).decoded(HistoryRecordPage.self)
                #expect(page.items.count == count, "\(token)")
                let filters = try await client.send(.get, "/v1/history/filters", token: token)
                #expect(try filters.decoded(HistoryContents.self).devices.isEmpty == (count == 0), "\(token)")
            }
            let hidden = try await client.send(.get, "/v1/history?device=door", token: "gatehouse_yard")
            #expect(hidden.status == .notFound)
            let forbidden = try await client.send(.get, "/v1/history?device=door", token: "gatehouse_control")
            #expect(forbidden.status == .forbidden)
        }
    }

    @Test func `an item has a picture and a clip where a recording shows its moment, for those who may see it`()
        async throws
    {
        let folder = try TemporaryFolder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: RecordingTests.start, seconds: 4, keyFrames: PreparedRecordings.keyFrames(4))
        func item(_ offset: Double, _ kind: HistoryRecord.Kind = .cameraEvent) -> HistoryRecord {
            HistoryRecord(
                id: "h", kind: kind, deviceID: "door",
                timestamp: Date(timeIntervalSince1970: Double(RecordingTests.start) / 1_000 + offset))
        }
        let items = [item(1), item(30), item(-2, .recording)]
        let access = RecordingAccess(store: recordings.store)
        let linked = await HistoryLinks(recordings: access) { $0 == "door" }.added(to: items)
        #expect(linked[0].thumbnail?.hasPrefix("/v1/devices/door/recordings/thumbnail.jpg?at=") == true)
        #expect(linked[0].clip?.hasPrefix("/v1/devices/door/recordings/export.mp4?from=") == true)
        #expect(linked[0].recordingID != nil)
        #expect(linked[1] == items[1])
        #expect(linked[2].recordingID == linked[0].recordingID)
        #expect(await HistoryLinks(recordings: access) { _ in false }.added(to: items) == items)
        #expect(await HistoryLinks(recordings: nil) { _ in true }.added(to: items) == items)
        let gateway = try TestGateway(recordings: access)
        try await gateway.run { client in
            let path = try #require(linked[0].thumbnail)
            #expect(try await client.get(path).status == .ok)
            #expect(try await client.get(try #require(linked[0].clip)).status == .ok)
        }
    }

    @Test func `the grants of a device that is decommissioned go away`() async throws {
        let gateway = try TestGateway()
        try await gateway.addToken("gatehouse_one", named: "one", Access([.init([.read], deviceID: "door")]))
        try await gateway.addToken(
            "gatehouse_two", named: "two", Access([.init([.read], deviceID: "door"), .init([.read], deviceID: "yard")]))
        #expect(gateway.api.tokens.tokens(forDevice: "door").map(\.record.name) == ["one", "two"])
        try await gateway.api.tokens.removeGrants(forDevice: "door")
        #expect(gateway.api.tokens.authorization(holding: "gatehouse_one") == nil)
        let left = try #require(gateway.api.tokens.authorization(holding: "gatehouse_two"))
        #expect(left.access.grants.map(\.deviceID) == ["yard"])
    }
}
