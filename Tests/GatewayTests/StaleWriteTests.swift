import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Testing

@testable import Gateway

/// Writes by clients that have read an older state.
@Suite struct StaleWriteTests {
    private static let json = "application/json"

    /// Writes with the tag that was read, which succeeds, and once more with the same tag, which does not.
    private func checkTags(
        _ client: TestGateway.Client, _ path: String, method: HTTPRequest.Method = .patch, _ first: String,
        _ second: String
    ) async throws {
        let read = try await client.get(path)
        let tag = try #require(read.headers[.eTag])
        #expect(try await client.get(path).headers[.eTag] == tag)
        let written = try await client.send(method, path, first, type: Self.json, headers: [.ifMatch: tag])
        #expect(written.status == .ok, "\(written.text)")
        let newTag = try #require(written.headers[.eTag])
        #expect(newTag != tag)
        let before = try await client.get(path)
        #expect(before.headers[.eTag] == newTag)
        for stale in [tag, "\"nothing\"", "W/\(newTag)"] {
            let refused = try await client.send(method, path, second, type: Self.json, headers: [.ifMatch: stale])
            #expect(refused.status == .conflict && refused.failure?.code == .aborted, "\(refused.text)")
        }
        let odd = try await client.send(method, path, second, type: Self.json, headers: [.ifMatch: "\"1\", \"2\""])
        #expect(odd.status == .badRequest)
        #expect(try await client.get(path).text == before.text)
        #expect(try await client.send(method, path, second, type: Self.json, headers: [.ifMatch: "*"]).status == .ok)
        #expect(try await client.send(method, path, first, type: Self.json).status == .ok)
    }

    @Test func `a device that somebody else has renamed or moved is not renamed by a stale write`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            try await checkTags(client, "/v1/devices/door", #"{"name":"Gate"}"#, #"{"name":"Other"}"#)
            // Its state is not what the tag is about.
            let tag = try await client.get("/v1/devices/door").headers[.eTag]
            gateway.camera.send(.eventSource(.init(state: .connecting)))
            gateway.camera.finish()
            await gateway.hub.run()
            #expect(try await client.get("/v1/devices/door").headers[.eTag] == tag)
        }
    }

    @Test func `attributes that have changed since they were read are not overwritten`() async throws {
        let gateway = try TestGateway()
        let thermostat = try VirtualDevice(
            id: "thermostat", name: "Thermostat", types: [ThermostatDeviceType.self], store: MemorySharedStore())
        await gateway.hub.setDevices([thermostat.description()], drivers: [thermostat], of: .virtual)
        let path = "/v1/devices/thermostat/traits/Thermostat"
        try await gateway.run { client in
            try await checkTags(
                client, path, #"{"occupiedHeatingSetpoint":2100}"#, #"{"occupiedHeatingSetpoint":2200}"#)
        }
        // Of many writers at once that have read the same, one succeeds. The test's client would send one after the other.
        let hub = gateway.hub
        let version = HomeHub.version(of: try await hub.trait("Thermostat", of: "thermostat"))
        let refusals = await withTaskGroup(of: HomeError.Code?.self) { group in
            for index in 0..<8 {
                group.addTask {
                    do throws(HomeError) {
                        _ = try await hub.update(
                            "Thermostat", of: "thermostat",
                            body: Data(#"{"occupiedHeatingSetpoint":\#(2_150 + index)}"#.utf8),
                            by: Caller(principal: "owner"), ifVersion: version)
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            return await group.reduce(into: [HomeError.Code?]()) { $0.append($1) }
        }
        #expect(version != nil && refusals.count { $0 == nil } == 1 && refusals.count { $0 == .aborted } == 7)
    }

    @Test func `a camera's settings that somebody else has changed are not overwritten or removed`() async throws {
        let gateway = try TestGateway { $0.cameras = [] }
        try await gateway.run { client in
            let path = "/v1/cameras/gate"
            let made = try await client.send(
                .put, path, #"{"name":"Gate","source":"rtsp://user:secret@192.0.2.9/a"}"#, type: Self.json)
            #expect(made.status == .created && made.headers[.eTag] != nil)
            try await checkTags(client, path, #"{"name":"North gate"}"#, #"{"name":"South gate"}"#)
            try await checkTags(
                client, path, method: .put, #"{"name":"A","source":"rtsp://192.0.2.9/a"}"#,
                #"{"name":"B","source":"rtsp://192.0.2.9/b"}"#)
            let stale = try await client.send(.delete, path, headers: [.ifMatch: "\"0\""])
            #expect(stale.failure?.code == .aborted)
            let tag = try #require(try await client.get(path).headers[.eTag])
            #expect(try await client.send(.delete, path, headers: [.ifMatch: tag]).status == .noContent)
            let gone = try await client.send(
                .put, path, #"{"name":"A","source":"rtsp://192.0.2.9/a"}"#, type: Self.json, headers: [.ifMatch: tag])
            #expect(gone.status == .notFound)
        }
    }
}
