import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Testing

@testable import Gateway

@Suite struct StructureAPITests {
    static let json = "application/json"

    private func home(_ client: TestGateway.Client) async throws -> StructureSnapshot {
        let list = try await client.get("/v1/structures").decoded(GatewayAPI.StructureList.self)
        return try #require(list.structures.first)
    }

    @Test func structuresAndRoomsAreMadeChangedAndRemoved() async throws {
        try await TestGateway().run { client in
            let made = try await client.send(
                .post, "/v1/structures", #"{"name":"Cabin","latitude":60.2,"longitude":25,"address":null}"#,
                type: Self.json)
            #expect(made.status == .created && made.headers[.eTag] == "\"1\"")
            let cabin = try made.decoded(StructureSnapshot.self)
            let path = "/v1/structures/\(cabin.id)"
            #expect(made.headers[.location] == path && cabin.latitude == 60.2 && cabin.address == nil)

            let room = try await client.send(.post, path + "/rooms", #"{"name":"Porch"}"#, type: Self.json)
            #expect(room.status == .created)
            let porch = try room.decoded(RoomSnapshot.self)
            let moved = try await client.send(
                .patch, "/v1/devices/door", #"{"roomID":"\#(porch.id)","name":"Bell"}"#, type: Self.json)
            #expect(try moved.decoded(DeviceSnapshot.self).structureID == cabin.id)
            #expect(try await client.get("/v1/devices/door").decoded(DeviceSnapshot.self).name == "Bell")

            let refused = try await client.send(.delete, path)
            #expect(refused.status == .conflict && refused.failure?.message.contains("door") == true)
            #expect(try await client.send(.delete, "/v1/rooms/\(porch.id)").status == .noContent)
            let back = try await client.send(
                .patch, "/v1/devices/door", #"{"structureID":"\#(try await home(client).id)","name":null}"#,
                type: Self.json)
            #expect(try back.decoded(DeviceSnapshot.self).name == "Front door")
            #expect(try await client.send(.delete, path).status == .noContent)
            #expect(try await client.get(path).status == .notFound)
        }
    }

    @Test func aStaleETagChangesNothing() async throws {
        try await TestGateway().run { client in
            let path = "/v1/structures/\(try await home(client).id)"
            let tag = try #require(try await client.get(path).headers[.eTag])
            func rename(_ name: String, _ condition: String) async throws -> TestResponse {
                try await client.send(
                    .patch, path, #"{"name":"\#(name)"}"#, type: Self.json, headers: [.ifMatch: condition])
            }
            #expect(try await rename("House", tag).status == .ok)
            for condition in [tag, "\"x\"", "\"99\"", "W/\(tag)"] {
                let stale = try await rename("Barn", condition)
                #expect(stale.status == .conflict && stale.failure?.code == .aborted, "\(condition)")
            }
            #expect(try await rename("Barn", "\"1\", \"2\"").status == .badRequest)
            #expect(try await client.send(.delete, path, headers: [.ifMatch: tag]).failure?.code == .aborted)
            #expect(try await rename("Barn", "*").status == .ok)
        }
    }

    @Test func aRepeatedPostMakesOneObject() async throws {
        try await TestGateway().run { client in
            let key: HTTPFields = [try #require(HTTPField.Name("Idempotency-Key")): "\"one\""]
            func post(_ path: String, _ body: String) async throws -> TestResponse {
                try await client.send(.post, path, body, type: Self.json, headers: key)
            }
            let first = try await post("/v1/structures", #"{"name":"Cabin"}"#)
            #expect(try await post("/v1/structures", #"{"name":"Cabin"}"#).text == first.text)
            #expect(try await post("/v1/structures", #"{"name":"Barn"}"#).status == .badRequest)
            let rooms = "/v1/structures/\(try await home(client).id)/rooms"
            let room = try await post(rooms, #"{"name":"Hall"}"#)
            #expect(try await post(rooms, #"{"name":"Hall"}"#).text == room.text)
            #expect(try await client.get("/v1/rooms").decoded(GatewayAPI.RoomList.self).rooms.count == 1)
        }
    }

    @Test(arguments: [
        (#"{}"#, "name"), (#"{"name":7}"#, "name"), (#"{"name":""}"#, "name"), (#"{"name":"a\u202eb"}"#, "name"),
        (#"{"name":"a","latitude":91,"longitude":0}"#, "latitude"), (#"{"name":"a","latitude":1}"#, "latitude"),
        (#"{"name":"a","longitude":"east"}"#, "longitude"), (#"{"name":"a","timeZone":"Mars/Base"}"#, "timeZone"),
        (#"{"name":"a","address":["x"]}"#, "address"), (#"["name"]"#, "body"),
    ])
    func wrongBodiesAreRefused(body: String, field: String) async throws {
        try await TestGateway().run { client in
            let answer = try await client.send(.post, "/v1/structures", body, type: Self.json)
            #expect(answer.status == .badRequest && answer.failure?.code == .invalidArgument)
            #expect(answer.failure?.message.contains(field) == true)
            let list = try await client.get("/v1/structures").decoded(GatewayAPI.StructureList.self)
            #expect(list.structures.count == 1)
        }
    }

    @Test func unknownObjectsAreNotFound() async throws {
        try await TestGateway().run { client in
            for (method, path) in [
                (HTTPRequest.Method.get, "/v1/structures/x"), (.patch, "/v1/structures/x"),
                (.delete, "/v1/structures/x"), (.get, "/v1/rooms/x"), (.patch, "/v1/rooms/x"),
                (.delete, "/v1/rooms/x"), (.patch, "/v1/devices/x"), (.get, "/v1/devices/x/decommission"),
                (.delete, "/v1/devices/x"),
            ] {
                let answer = try await client.send(method, path, method == .patch ? "{}" : nil, type: Self.json)
                #expect(answer.status == .notFound, "\(method) \(path)")
            }
            let room = try await client.send(.post, "/v1/structures/x/rooms", #"{"name":"a"}"#, type: Self.json)
            #expect(room.status == .notFound)
            let huge = #"{"name":"\#(String(repeating: "x", count: 200_000))"}"#
            #expect(
                try await client.send(.post, "/v1/structures", huge, type: Self.json).status == .contentTooLarge)
        }
    }

    // MARK: Decommissioning

    @Test func aCameraOfTheAPIIsDecommissionedAndItsSuccessorIsAnotherDevice() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            func put() async throws -> CameraAnswer {
                try await client.send(
                    .put, "/v1/cameras/gate", #"{"source":"whip","webhook":true}"#, type: Self.json
                ).decoded(CameraAnswer.self)
            }
            let id = try #require(try await put().deviceID)
            #expect(id != "gate")
            #expect(try await client.get("/v1/devices/\(id)").text == client.get("/v1/devices/gate").text)
            // A camera that is removed and added again is the same device.
            #expect(try await client.send(.delete, "/v1/cameras/gate").status == .noContent)
            #expect(try await put().deviceID == id)

            let plan = try await client.get("/v1/devices/gate/decommission")
                .decoded(GatewayAPI.DecommissionPlan.self)
            #expect(plan.isEligible && plan.removes == [id])
            let foreign = try await client.send(.delete, "/v1/devices/gate", token: TestGateway.guestToken)
            #expect(foreign.status == .forbidden)
            #expect(try await client.send(.delete, "/v1/devices/gate?recordings=maybe").status == .badRequest)
            let gone = try await client.send(.delete, "/v1/devices/gate").decoded(GatewayAPI.Decommissioned.self)
            #expect(gone.removed == [id])
            #expect(try await client.send(.delete, "/v1/devices/\(id)").status == .notFound)
            #expect(try await client.get("/v1/cameras/gate").status == .notFound)
            let next = try await put().deviceID
            #expect(next != nil && next != id)
        }
    }

    @Test func aCameraOfTheConfigFileIsNotDecommissioned() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let plan = try await client.get("/v1/devices/door/decommission")
                .decoded(GatewayAPI.DecommissionPlan.self)
            #expect(!plan.isEligible && plan.removes.isEmpty && plan.reason?.contains("gatehouse.yaml") == true)
            let refused = try await client.send(.delete, "/v1/devices/door")
            #expect(refused.status == .conflict && refused.failure?.message == plan.reason)
            #expect(try await client.get("/v1/devices/door").status == .ok)
            // Nor when it was removed here: its entry may be used again, and is the same device then.
            let id = try #require(
                try await client.get("/v1/cameras/yard").decoded(CameraAnswer.self).deviceID)
            #expect(try await client.send(.delete, "/v1/cameras/yard").status == .noContent)
            #expect(try await client.send(.delete, "/v1/devices/\(id)").status == .conflict)
            #expect(try await client.send(.delete, "/v1/cameras/yard/override").status == .noContent)
            let back = try await client.get("/v1/cameras/yard").decoded(CameraAnswer.self)
            #expect(back.deviceID == id)
        }
    }
}
