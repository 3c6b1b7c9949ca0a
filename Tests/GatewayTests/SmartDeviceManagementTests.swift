import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import SmartDeviceManagement
import Stations
import Testing
import Transport

@testable import Gateway

@Suite struct SmartDeviceManagementTests {
    static let json = "application/json"
    static let offer = #"v=0\r\nm=audio 9 X 0\r\nm=video 9 X 0\r\nm=application 9 X 0\r\n"#
    static let door = "/v1/enterprises/home/devices/door"

    func object(_ response: TestResponse) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(response.text.utf8))
        return try #require(value as? [String: Any])
    }

    func execute(
        _ client: TestGateway.Client, _ command: String, _ parameters: String, token: String = TestGateway.token
    ) async throws -> TestResponse {
        try await client.send(
            .post, "\(Self.door):executeCommand",
            #"{"command":"sdm.devices.commands.\#(command)","params":\#(parameters)}"#, type: Self.json, token: token)
    }

    @Test func `cameras and doorbells are listed with their traits`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let list = try object(try await client.get("/v1/enterprises/home/devices"))
            let devices = try #require(list["devices"] as? [[String: Any]])
            #expect(
                devices.map { $0["name"] as? String } == [
                    "enterprises/home/devices/door", "enterprises/home/devices/yard",
                ])
            #expect(devices[0]["type"] as? String == "sdm.devices.types.DOORBELL")
            let traits = try #require(devices[0]["traits"] as? [String: Any])
            #expect(traits["sdm.devices.traits.DoorbellChime"] != nil)
            let one = try object(try await client.get(Self.door))
            #expect(one["name"] as? String == "enterprises/home/devices/door")
            #expect(try await client.get("/v1/enterprises/home/devices/attic").status == .notFound)
        }
    }

    @Test func `structures and rooms are listed, and devices say where they are`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let structures = try await client.get("/v1/structures").decoded(GatewayAPI.StructureList.self).structures
            let structure = try #require(structures.first)
            let made = try await client.send(
                .post, "/v1/structures/\(structure.id)/rooms", #"{"name":"Porch"}"#, type: Self.json)
            let room = try made.decoded(RoomSnapshot.self)
            let place = "/v1/enterprises/home/structures/\(structure.id)"
            let list = try object(try await client.get("/v1/enterprises/home/structures"))
            let first = try #require((list["structures"] as? [[String: Any]])?.first)
            #expect(first["name"] as? String == String(place.dropFirst("/v1/".count)))
            #expect("\(first["traits"] ?? "")".contains(structure.name))
            let rooms = try object(try await client.get("\(place)/rooms"))
            #expect("\(rooms)".contains("Porch") && "\(rooms)".contains("sdm.structures.traits.RoomInfo"))
            #expect(try await client.get("\(place)/rooms/\(room.id)").status == .ok)
            for wrong in ["\(place)x", "\(place)x/rooms/\(room.id)", "\(place)/rooms/none", "\(place)x/rooms"] {
                let response = try await client.get(wrong)
                let error = try #require(try object(response)["error"] as? [String: Any])
                #expect(response.status == .notFound && error["code"] as? Int == 404)
            }
            for (room, parent) in [(nil, place), (room.id, "\(place)/rooms/\(room.id)")] {
                let body = #"{"structureID":"\#(structure.id)"\#(room.map { #","roomID":"\#($0)""# } ?? "")}"#
                #expect(try await client.send(.patch, "/v1/devices/door", body, type: Self.json).status == .ok)
                let door = try object(try await client.get(Self.door))
                let parents = try #require(door["parentRelations"] as? [[String: String]])
                #expect(parents.map { $0["parent"] } == [String(parent.dropFirst("/v1/".count))])
            }
        }
    }

    @Test func `every refusal has Google's envelope, and subscriptions are limited`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let feed = "/v1/projects/home/subscriptions"
            let pull = #"{"returnImmediately":true}"#
            for (response, status) in [
                (try await client.send(.get, Self.door, token: nil), 401),
                (try await client.send(.get, Self.door, token: "gatehouse_wrong"), 401),
                (try await client.send(.put, Self.door), 405),
                (try await client.send(.post, "\(Self.door):executeCommand", "{}", type: "text/plain"), 415),
                (try await client.send(.post, "\(feed)/a:pull", #"{"maxMessages":0}"#, type: Self.json), 400),
                (try await client.send(.post, "\(feed)/a:push", pull, type: Self.json), 404),
                (
                    try await client.send(
                        .post, "\(feed)/\(String(repeating: "a", count: 300)):pull", pull, type: Self.json), 400
                ),
            ] {
                let error = try #require(try object(response)["error"] as? [String: Any])
                #expect(response.status.code == status && error["code"] as? Int == status, "\(response.text)")
                #expect(error["status"] is String && error["message"] is String)
            }
            for index in 0..<EventFeeds.maximumFeeds {
                let response = try await client.send(.post, "\(feed)/f\(index):pull", pull, type: Self.json)
                #expect(response.status == .ok, "\(response.text)")
            }
            let more = try await client.send(.post, "\(feed)/more:pull", pull, type: Self.json)
            #expect(more.status == .tooManyRequests)
        }
    }

    @Test func `a stream is generated, extended and stopped, and errors have Google's envelope`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let made = try object(
                try await execute(client, "CameraLiveStream.GenerateWebRtcStream", #"{"offerSdp":"\#(Self.offer)"}"#))
            let results = try #require(made["results"] as? [String: Any])
            let session = try #require(results["mediaSessionId"] as? String)
            #expect(results["answerSdp"] as? String == "v=0\r\n" && results["expiresAt"] is String)
            let parameters = #"{"mediaSessionId":"\#(session)"}"#
            #expect(try await execute(client, "CameraLiveStream.ExtendWebRtcStream", parameters).status == .ok)
            #expect(try await execute(client, "CameraLiveStream.StopWebRtcStream", parameters).status == .ok)
            #expect(await gateway.liveView.leases().isEmpty)

            let gone = try await execute(client, "CameraLiveStream.ExtendWebRtcStream", #"{"mediaSessionId":"none"}"#)
            #expect(gone.status == .badRequest)
            let answer = try object(gone)
            let error = try #require(answer["error"] as? [String: Any])
            #expect(error["code"] as? Int == 400 && error["status"] as? String == "FAILED_PRECONDITION")
            #expect(error["message"] as? String == "WebRtc error caused by invalid session or user id mismatch.")
        }
    }

    @Test func `a token without the scope starts no stream`() async throws {
        let gateway = try TestGateway()
        try await gateway.addToken("gatehouse_reader", named: "reader", Access([.init([.read, .control])]))
        try await gateway.addToken("gatehouse_yard", named: "yard", Access([.init([.media], deviceID: "yard")]))
        try await gateway.run { client in
            let parameters = #"{"offerSdp":"\#(Self.offer)"}"#
            for (token, status) in [("gatehouse_reader", 403), ("gatehouse_yard", 404)] {
                let response = try await execute(
                    client, "CameraLiveStream.GenerateWebRtcStream", parameters, token: token)
                #expect(response.status.code == status)
                let image = try await execute(
                    client, "CameraEventImage.GenerateImage", #"{"eventId":"e"}"#, token: token)
                #expect(image.status.code == status)
            }
        }
        #expect(await gateway.liveView.leases().isEmpty)
    }

    @Test func `events are pulled, come again until they are acknowledged, and have a picture`() async throws {
        let permits = OutputPermits(camera: "door")
        let gateway = try TestGateway(permits: permits)
        try await gateway.run { client in
            let feed = "/v1/projects/home/subscriptions/feed"
            let pull = #"{"returnImmediately":true}"#
            _ = try await client.send(.post, "\(feed):pull", pull, type: Self.json)
            gateway.camera.send(.doorbellPressed(.init()))
            gateway.camera.finish()
            await gateway.hub.run()
            var messages: [[String: Any]] = []
            for _ in 0..<50 where messages.isEmpty {
                let answer = try object(try await client.send(.post, "\(feed):pull", "{}", type: Self.json))
                let received = try #require(answer["receivedMessages"] as? [[String: Any]])
                messages = received.filter { (try? self.event($0))?["resourceUpdate"] is [String: Any] }
                    .filter { message in
                        let update = try? self.event(message)["resourceUpdate"] as? [String: Any]
                        return update?["events"] != nil
                    }
            }
            let message = try #require(messages.first)
            let event = try event(message)
            let update = try #require(event["resourceUpdate"] as? [String: Any])
            let events = try #require(update["events"] as? [String: [String: Any]])
            let chime = try #require(events["sdm.devices.events.DoorbellChime.Chime"])
            let id = try #require(chime["eventId"] as? String)
            let acknowledgement = try #require(messages.first?["ackId"] as? String)
            let acknowledged = try await client.send(
                .post, "\(feed):acknowledge", #"{"ackIds":["\#(acknowledgement)"]}"#, type: Self.json)
            #expect(acknowledged.status == .ok)

            let image = try object(
                try await execute(client, "CameraEventImage.GenerateImage", #"{"eventId":"\#(id)"}"#))
            let results = try #require(image["results"] as? [String: String])
            let address = try #require(results["url"])
            let path = try #require(URL(string: address)).path
            let token = try #require(results["token"])
            let picture = try await client.send(
                .get, path, token: nil, headers: [.authorization: "Basic \(token)"])
            #expect(picture.status == .ok)
            #expect(try await client.send(.get, path, token: nil).status == .notFound)
            for policy in [OutputPolicy(isOn: false), OutputPolicy(softLivestreamPrivacy: true)] {
                await permits.set(policy)
                let refused = try await client.send(
                    .get, path, token: nil, headers: [.authorization: "Basic \(token)"])
                #expect(refused.status == .conflict, "\(policy)")
            }
            #expect(
                try await execute(client, "CameraEventImage.GenerateImage", #"{"eventId":"none"}"#).status
                    == .badRequest)
            // The picture would show what is there now, which is no longer the event.
            gateway.clock.withLock { $0 += 31 }
            let late = try await execute(client, "CameraEventImage.GenerateImage", #"{"eventId":"\#(id)"}"#)
            #expect(late.status == .badRequest)
            #expect(late.text.contains("no longer available"))
            // Neither is it when the clock is set back.
            gateway.clock.withLock { $0 -= 62 }
            let early = try await execute(client, "CameraEventImage.GenerateImage", #"{"eventId":"\#(id)"}"#)
            #expect(early.status == .badRequest && early.text == late.text)
        }
    }

    /// The events of a subscription that its messages name, in their order.
    private func pulledEvents(
        _ client: TestGateway.Client, _ feed: String, token: String, count: Int
    ) async throws -> [String] {
        var names: [String] = []
        for _ in 0..<50 where names.count < count {
            let answer = try object(
                try await client.send(.post, "\(feed):pull", "{}", type: Self.json, token: token))
            for message in try #require(answer["receivedMessages"] as? [[String: Any]]) {
                let update = try event(message)["resourceUpdate"] as? [String: Any]
                names += (update?["events"] as? [String: Any]).map { Array($0.keys) } ?? []
            }
        }
        return names
    }

    @Test func `messages survive the end of the stream that a subscription reads`() async throws {
        let gateway = try TestGateway()
        try await gateway.addToken("gatehouse_app", named: "app", Access([.init([.read])]))
        try await gateway.run { client in
            let feed = "/v1/projects/home/subscriptions/feed"
            let pull = #"{"returnImmediately":true}"#
            _ = try await client.send(.post, "\(feed):pull", pull, type: Self.json, token: "gatehouse_app")
            gateway.camera.send(.doorbellPressed(.init()))
            gateway.camera.send(.detection(.init(kind: .motion, phase: .momentary, eventSessionId: "s1")))
            gateway.camera.finish()
            await gateway.hub.run()
            // The principal's streams end, as they do when its rights change or when it reads too slowly.
            await gateway.hub.enforce(Access([.init([.read])]), on: "app")
            #expect(
                try await pulledEvents(client, feed, token: "gatehouse_app", count: 2) == [
                    "sdm.devices.events.DoorbellChime.Chime", "sdm.devices.events.CameraMotion.Motion",
                ])
        }
    }

    /// A picture of an event is requested with its id.
    @Test func `an app with one camera gets the ids of events by which the gateway knows them`() async throws {
        let gateway = try TestGateway()
        try await gateway.addToken("gatehouse_app", named: "app", Access([.init([.read], deviceID: "door")]))
        try await gateway.run { client in
            let feed = "/v1/projects/home/subscriptions/feed"
            let pull = #"{"returnImmediately":true}"#
            _ = try await client.send(.post, "\(feed):pull", pull, type: Self.json, token: "gatehouse_app")
            gateway.camera.send(.doorbellPressed(.init()))
            gateway.camera.finish()
            await gateway.hub.run()
            let known = try #require(try await gateway.hub.events(of: "door").first?.id)
            var id: String?
            for _ in 0..<50 where id == nil {
                let answer = try object(
                    try await client.send(.post, "\(feed):pull", "{}", type: Self.json, token: "gatehouse_app"))
                for message in try #require(answer["receivedMessages"] as? [[String: Any]]) {
                    let content = try event(message)
                    let update = content["resourceUpdate"] as? [String: Any]
                    if update?["events"] != nil { id = content["eventId"] as? String }
                }
            }
            #expect(id == known)
        }
    }

    @Test func `messages about a device that an app may not read any more are not delivered`() async throws {
        let gateway = try TestGateway()
        let token = try await gateway.addToken("gatehouse_app", named: "app", Access([.init([.read])]))
        try await gateway.run { client in
            let feed = "/v1/projects/home/subscriptions/feed"
            func pull() async throws -> String {
                let body = #"{"returnImmediately":true,"maxMessages":1}"#
                let answer = try object(
                    try await client.send(.post, "\(feed):pull", body, type: Self.json, token: "gatehouse_app"))
                let messages = try #require(answer["receivedMessages"] as? [[String: Any]])
                return try messages.first.map { "\(try event($0))" } ?? ""
            }
            _ = try await pull()
            gateway.camera.send(.doorbellPressed(.init()))
            gateway.camera.send(.detection(.init(kind: .motion, phase: .momentary, eventSessionId: "s1")))
            gateway.camera.finish()
            await gateway.hub.run()
            var first = ""
            for _ in 0..<1_000_000 where !first.contains("Chime") { first = try await pull() }
            #expect(first.contains("Chime"))
            let grants = #"{"grants":[{"scopes":["read"],"deviceID":"yard"}]}"#
            #expect(try await client.send(.patch, "/v1/tokens/\(token)", grants, type: Self.json).status == .ok)
            for _ in 0..<20 {
                let message = try await pull()
                #expect(!message.contains("CameraMotion.Motion"), "\(message)")
            }
        }
    }

    @Test func `messages about a device that has left the structure of an app are not delivered`() async throws {
        let gateway = try TestGateway()
        let home = try #require(await gateway.hub.structures().first?.id)
        try await gateway.addToken("gatehouse_app", named: "app", Access([.init([.read], structureID: home)]))
        try await gateway.run { client in
            let feed = "/v1/projects/home/subscriptions/feed"
            func pull() async throws -> String {
                let body = #"{"returnImmediately":true,"maxMessages":1}"#
                let answer = try object(
                    try await client.send(.post, "\(feed):pull", body, type: Self.json, token: "gatehouse_app"))
                let messages = try #require(answer["receivedMessages"] as? [[String: Any]])
                return try messages.first.map { "\(try event($0))" } ?? ""
            }
            _ = try await pull()
            gateway.camera.send(.doorbellPressed(.init()))
            gateway.camera.send(.detection(.init(kind: .motion, phase: .momentary, eventSessionId: "s1")))
            gateway.camera.finish()
            await gateway.hub.run()
            var first = ""
            for _ in 0..<1_000_000 where !first.contains("Chime") { first = try await pull() }
            #expect(first.contains("Chime"))
            let made = try await client.send(.post, "/v1/structures", #"{"name":"Cabin"}"#, type: Self.json)
            let cabin = try made.decoded(StructureSnapshot.self).id
            let moved = try await client.send(
                .patch, "/v1/devices/door", #"{"structureID":"\#(cabin)"}"#, type: Self.json)
            #expect(moved.status == .ok)
            for _ in 0..<20 {
                let message = try await pull()
                #expect(!message.contains("CameraMotion.Motion"), "\(message)")
            }
        }
    }

    @Test func `a subscription ends an hour after its last pull, by a clock that is never set`() async throws {
        let gateway = try TestGateway()
        let owner = try #require(gateway.api.tokens.authorization(holding: TestGateway.token))
        let clock = Locked(Instant.zero)
        let feeds = EventFeeds(gateway.hub) { clock.withLock { $0 } }
        func pull() async throws -> String {
            try await feeds.pull("feed", upTo: 9, waits: false, project: "home", base: "", for: owner)
                .map { String(decoding: $0.data, as: UTF8.self) }.joined()
        }
        _ = try await pull()
        gateway.camera.send(.doorbellPressed(.init()))
        gateway.camera.finish()
        await gateway.hub.run()
        clock.withLock { $0 += .seconds(3_600) }
        var messages = ""
        for _ in 0..<1_000_000 where !messages.contains("Chime") {
            messages = try await pull()
            await Task.yield()
        }
        #expect(messages.contains("Chime"))
        // What is not acknowledged comes again, as long as there is a subscription.
        clock.withLock { $0 += .seconds(29) }
        #expect(try await !pull().contains("Chime"))
        clock.withLock { $0 += .seconds(1) }
        #expect(try await pull().contains("Chime"))
        clock.withLock { $0 += .seconds(3_601) }
        #expect(try await !pull().contains("Chime"))
    }

    @Test func `no more subscriptions are admitted at once than there are places`() async throws {
        let gateway = try TestGateway()
        let owner = try #require(gateway.api.tokens.authorization(holding: TestGateway.token))
        // Not by the test's client, which would send one after the other.
        let refusals = await withTaskGroup(of: HomeError.Code?.self) { group in
            for index in 0..<24 {
                group.addTask {
                    do {
                        _ = try await gateway.api.eventFeeds.pull(
                            "f\(index)", upTo: 1, waits: false, project: "home", base: "", for: owner)
                        return nil
                    } catch {
                        return (error as? HomeError)?.code ?? .internal
                    }
                }
            }
            return await group.reduce(into: [HomeError.Code?]()) { $0.append($1) }
        }
        #expect(refusals.count { $0 == nil } == EventFeeds.maximumFeeds)
        #expect(refusals.count { $0 == .resourceExhausted } == 24 - EventFeeds.maximumFeeds)
        try await gateway.run { client in
            let more = try await client.send(
                .post, "/v1/projects/home/subscriptions/more:pull", #"{"returnImmediately":true}"#, type: Self.json)
            #expect(more.status == .tooManyRequests)
        }
    }

    private func event(_ message: [String: Any]) throws -> [String: Any] {
        let body = try #require(message["message"] as? [String: Any])
        let text = try #require(body["data"] as? String)
        let data = try #require(Data(base64Encoded: text))
        let value = try JSONSerialization.jsonObject(with: data)
        return try #require(value as? [String: Any])
    }
}
