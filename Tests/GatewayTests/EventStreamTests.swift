import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import NIOConcurrencyHelpers
import Testing

@testable import Gateway

@Suite struct EventStreamTests {
    @Test func theStreamReportsTheStateAndThenTheChanges() async throws {
        let gateway = try TestGateway()
        let text = try await gateway.run { client in
            async let response = client.get("/v1/events")
            #expect(await becomesTrue { await gateway.hub.watcherCount > 0 })
            gateway.camera.send(FakeCamera.flowing)
            gateway.camera.send(.doorbellPressed(.init(complementaryToneId: "a\nb")))
            gateway.camera.finish()
            await gateway.hub.run()
            await gateway.hub.sendHeartbeat()
            await gateway.hub.finishChanges()
            let whole = try await response
            #expect(whole.headers[.contentType] == "text/event-stream")
            return whole.text
        }
        let all = text.split(separator: "\n\n").map { $0.split(separator: "\n") }
        // On a slow machine the time of a further heartbeat may come at any place.
        let parts = all.filter { $0 != [": still here"] }
        #expect(all.count > parts.count)
        #expect(parts.first == ["retry: 2000"])
        try #require(
            parts.dropFirst().map { $0[0] } == [
                "event: structure", "event: device", "event: device", "event: device", "event: DoorbellPressed",
            ])
        // Each event is three lines: what a person named cannot break the framing. Only with the last of the state does
        // a client have a place to return to.
        #expect(parts[1].count == 2 && parts[1][1].hasPrefix("data: "))
        #expect(parts[3...5].allSatisfy { $0.count == 3 && $0[1].hasPrefix("id: ") && $0[2].hasPrefix("data: ") })
        let press = try JSONDecoder().decode([String: String].self, from: Data(parts[5][2].dropFirst(6).utf8))
        #expect(press["deviceID"] == "door")
        #expect(press["timestamp"] == "1970-01-01T00:16:40Z")
        #expect(press["complementaryToneId"] == "a\nb")
    }

    @Test func aClientThatLeavesIsForgotten() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            // The stream of a watcher that is dropped without being read.
            do { _ = try await gateway.hub.changes(principal: "owner") }
            #expect(await becomesTrue { await gateway.hub.watcherCount == 0 })
            #expect(try await client.get("/healthz").status == .ok)
        }
    }

    /// A client that comes back by itself knows better than the address that it began with.
    @Test(arguments: [(0, nil), (nil, 0), (0, 1), (nil, 2)] as [(Int?, Int?)])
    func aClientThatReturnsGetsWhatItMissedByHeaderOrByAddress(address: Int?, header: Int?) async throws {
        let gateway = try TestGateway()
        for priority in 0..<3 { gateway.camera.send(.doorbellPressed(.init(priority: Int64(priority)))) }
        gateway.camera.finish()
        await gateway.hub.run()
        let places = try await gateway.hub.events(of: "door").map(\.id).reversed() as [String]
        let text = try await gateway.run { client in
            var headers: HTTPFields = [:]
            if let header { headers[try #require(HTTPField.Name("Last-Event-ID"))] = places[header] }
            let path = "/v1/events" + (address.map { "?after=\(places[$0])" } ?? "")
            async let response = client.send(.get, path, headers: headers)
            #expect(await becomesTrue { await gateway.hub.watcherCount > 0 })
            await gateway.hub.finishChanges()
            return try await response.text
        }
        let names = text.split(separator: "\n").filter { $0.hasPrefix("event: ") }
        #expect(names == Array(repeating: "event: DoorbellPressed", count: 2 - (header ?? address ?? 0)))
    }

    @Test func aWatcherThatReadsTooSlowlyIsCutOffOnceAndTheConnectionIsTold() async throws {
        let gateway = try TestGateway()
        let cuts = NIOLockedValueBox(0)
        let events = try await gateway.hub.changes(principal: "owner", onCutOff: { cuts.withLockedValue { $0 += 1 } })
        #expect(await gateway.hub.watcherCount == 1)
        for _ in 0..<300 { await gateway.hub.sendHeartbeat() }
        #expect(cuts.withLockedValue { $0 } == 1)
        #expect(await gateway.hub.watcherCount == 0)
        withExtendedLifetime(events) {}
    }
}
