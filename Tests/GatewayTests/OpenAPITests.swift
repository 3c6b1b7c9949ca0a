import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import NIOCore
import Testing

@testable import Gateway

/// Checks the document against the server that it describes: its routes, and what they answer.
@Suite struct OpenAPITests {
    static let methods = ["get", "post", "patch", "delete", "options", "put", "head"]

    /// Reading the document takes a second.
    private static let json = Result { try OpenAPIDocument.json() }

    func document() throws -> [String: Any] {
        let text = try Self.json.get()
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    func paths(_ document: [String: Any]) throws -> [String: [String: Any]] {
        try #require(document["paths"] as? [String: [String: Any]])
    }

    @Test func theDocumentAndTheRouterHaveTheSameRoutes() throws {
        var described: Set<String> = []
        for (path, item) in try paths(document()) {
            for method in Self.methods where item[method] != nil { described.insert("\(method.uppercased()) \(path)") }
        }
        let served = Set(
            RouteTable(try TestGateway().api.router(scheme: "http")).entries.map { entry in
                // The files are served twice, and the document describes the folder whose name does not change.
                let path = entry.path == "/assets/{file}/{name}" ? "/assets/{file}" : entry.path
                return "\(entry.method.rawValue) \(path)"
            })
        #expect(described == served)
    }

    @Test func theDocumentHasEachCauseOfASource() throws {
        let components = try #require(document()["components"] as? [String: Any])
        let schemas = try #require(components["schemas"] as? [String: Any])
        let cause = try #require(schemas["SourceCause"] as? [String: Any])
        #expect(cause["enum"] as? [String] == CameraSourceCause.allCases.map(\.rawValue))
    }

    @Test func `the document describes each alarm as it is sent`() throws {
        let schema = JSONSchema(document: try document())
        let alarm = try #require(schema.resolve("#/components/schemas/AlarmEvent"))
        let kind = try #require(schema.resolve("#/components/schemas/AlarmEvent/properties/kind"))
        let state = try #require(schema.resolve("#/components/schemas/AlarmEvent/properties/state"))
        #expect(kind["enum"] as? [String] == HomeAlarm.Kind.allCases.map(\.rawValue))
        #expect(state["enum"] as? [String] == HomeAlarm.State.allCases.map(\.rawValue))
        var sent = HomeAlarm(
            .segmentsLost, .occurred, of: "door", automation: "night", reason: "the queue is full", segments: 2,
            at: Date(timeIntervalSince1970: 0))
        sent.structureID = "house"
        sent.owner = "ana"
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let value = try JSONSerialization.jsonObject(with: encoder.encode(sent))
        #expect(schema.problems(value, alarm) == [])
    }

    @Test func everyReferenceOfTheDocumentLeadsSomewhereAndEveryOperationHasAName() throws {
        let document = try self.document()
        let schema = JSONSchema(document: document)
        var references = 0
        func walk(_ node: Any) {
            if let object = node as? [String: Any] {
                if let reference = object["$ref"] as? String {
                    references += 1
                    #expect(schema.resolve(reference) != nil, "\(reference)")
                }
                for child in object.values { walk(child) }
            } else if let list = node as? [Any] {
                for child in list { walk(child) }
            }
        }
        walk(document)
        #expect(references > 40)
        let operations = try paths(document).values.flatMap { item in
            Self.methods.compactMap { (item[$0] as? [String: Any])?["operationId"] as? String }
        }
        #expect(Set(operations).count == operations.count)
        let count = try paths(document).values.reduce(0) { sum, item in
            sum + Self.methods.filter { item[$0] != nil }.count
        }
        #expect(operations.count == count)
    }

    @Test func theDocumentsTraitsAndCommandsAreThoseOfTheHome() throws {
        let schema = JSONSchema(document: try document())
        let schemas = try #require(schema.resolve("#/components/schemas"))
        for command in Google.WebRtcLiveViewTrait.supportedCommandTypes
            + Google.DoorbellPressTrait.supportedCommandTypes
        {
            #expect(schemas[command.name] != nil, "\(command)")
        }
        for trait in [
            Google.WebRtcLiveViewTrait.name, Google.PushAvStreamTransportTrait.name, Google.DoorbellPressTrait.name,
        ] { #expect(schemas[trait] != nil) }
    }

    @Test func whatTheServerAnswersFitsTheDocument() async throws {
        let gateway = try TestGateway { $0.media.iceServers = [.init(url: "stun:stun.example")] }
        gateway.camera.send(FakeCamera.flowing)
        gateway.camera.send(.eventSource(.init(state: .backingOff, reason: "no answer", manufacturer: "M", model: "N")))
        gateway.camera.send(.doorbellPressed(.init(complementaryToneId: "t", doorbellPressTimeSeconds: 1, priority: 2)))
        gateway.camera.send(
            .detection(.init(kind: .person, phase: .began, eventSessionId: "s", cameraTimestamp: Date())))
        gateway.camera.finish()
        await gateway.hub.run()
        try await gateway.run { client in
            let id = try await client.start()
            let whep = try await client.send(.post, "/whep/door", "v=0\r\n", type: "application/sdp")
            let tag = try #require(whep.headers[.eTag])
            try self.check(whep, .post, "/whep/{device}")

            func check(
                _ method: HTTPRequest.Method, _ template: String, _ path: String, _ body: String? = nil,
                type: String? = nil, token: String? = TestGateway.token, headers: HTTPFields = [:]
            ) async throws {
                let response = try await client.send(
                    method, path, body, type: type, token: token, headers: headers)
                try self.check(response, method, template)
            }
            let command = "/v1/devices/{device}/traits/{trait}/commands/{command}"
            let live = "/v1/devices/door/traits/WebRtcLiveView/commands/"
            let session = #"{"mediaSessionId":"\#(id)"}"#
            let json = "application/json"
            try await check(.get, "/", "/", token: nil)
            try await check(.get, "/assets/{file}", "/assets/app.js", token: nil)
            try await check(.get, "/assets/{file}", "/assets/none.js")
            try await check(.get, "/assets/{file}", "/assets/none.js", token: nil)
            try await check(.get, "/healthz", "/healthz", token: nil)
            try await check(.get, "/metrics", "/metrics")
            try await check(.get, "/v1/openapi.json", "/v1/openapi.json")
            try await check(.get, "/v1/gateway", "/v1/gateway")
            try await check(.post, "/v1/cameras/discover", "/v1/cameras/discover")
            try await check(
                .post, "/v1/cameras/probe", "/v1/cameras/probe", #"{"source":"rtsp://127.0.0.1:9/"}"#, type: json)
            try await check(.get, "/v1/devices/{device}/doctor", "/v1/devices/door/doctor")
            try await check(.get, "/service-worker.js", "/service-worker.js", token: nil)
            try await checkPush(client)
            try await check(.get, "/v1/devices", "/v1/devices")
            try await check(.get, "/v1/devices", "/v1/devices", token: nil)
            try await check(.get, "/v1/devices/{device}", "/v1/devices/door")
            try await check(.get, "/v1/devices/{device}", "/v1/devices/attic")
            try await check(.get, "/v1/devices/{device}/speaker", "/v1/devices/door/speaker")
            try await check(.get, "/v1/devices/{device}/speaker", "/v1/devices/yard/speaker")
            for wait in ["20", "21", "0", "soon"] {
                try await check(.get, "/v1/devices/{device}/speaker", "/v1/devices/door/speaker?wait=\(wait)")
            }
            for trait in ["WebRtcLiveView", "PushAvStreamTransport", "DoorbellPress"] {
                try await check(
                    .get, "/v1/devices/{device}/traits/{trait}", "/v1/devices/door/traits/\(trait)")
            }
            try await check(.post, command, live + "startLiveView", #"{"offerSdp":"v=0"}"#, type: json)
            try await check(.post, command, live + "startLiveView", "{}", type: json)
            try await check(.post, command, live + "extendLiveView", session, type: json)
            try await check(.post, command, live + "startTalkback", session, type: json)
            try await check(.post, command, live + "stopTalkback", session, type: json)
            try await check(
                .post, command, live + "changeLiveViewQuality",
                #"{"mediaSessionId":"\#(id)","qualityHint":"hd"}"#, type: json)
            try await check(.post, command, "/v1/devices/door/traits/DoorbellPress/commands/press")
            try await check(.get, "/v1/configuration", "/v1/configuration")
            try await check(.get, "/v1/configuration/settings", "/v1/configuration/settings")
            let drafts = "/v1/configuration/check"
            try await check(.post, drafts, drafts, #"{"mqtt":{"host":"broker.local","port":0}}"#, type: json)
            try await check(.post, drafts, drafts, "[]", type: json)
            try await check(.get, "/v1/devices/{device}/snapshot.jpg", "/v1/devices/door/snapshot.jpg?width=320")
            try await check(.get, "/v1/devices/{device}/snapshot.jpg", "/v1/devices/door/snapshot.jpg?width=x")
            let taken = try await client.command("CameraSnapshot", "takeSnapshot", "{}")
            let picture = try taken.decoded([String: String].self)["snapshotId"] ?? ""
            let pictures = "/v1/devices/{device}/snapshots/{snapshot}"
            try await check(.get, pictures, "/v1/devices/door/snapshots/\(picture)")
            try await check(.delete, pictures, "/v1/devices/door/snapshots/\(picture)")
            try await check(.delete, pictures, "/v1/devices/door/snapshots/\(picture)")
            let camera = "/v1/cameras/{camera}"
            let whole = """
                {"source":"rtsp://u:p@192.0.2.9/","substream":"rtsp://192.0.2.9/2","talkback":"off","webhook":true,\
                "onvif":{"url":"http://192.0.2.9/","username":"u","password":"p"}}
                """
            try await check(.put, camera, "/v1/cameras/gate", whole, type: json)
            try await check(.put, camera, "/v1/cameras/gate", #"{"source":"whip"}"#, type: json)
            try await check(.put, camera, "/v1/cameras/gate", #"{"source":"exec:ls"}"#, type: json)
            let door = #"{"source":"builtin:doorbell","name":"Front door"}"#
            try await check(.put, camera, "/v1/cameras/door", door, type: json)
            try await check(.patch, camera, "/v1/cameras/gate", #"{"name":"Gate"}"#, type: json)
            try await check(.get, camera, "/v1/cameras/gate")
            try await check(.get, camera, "/v1/cameras/attic")
            try await check(.get, "/v1/cameras", "/v1/cameras")
            try await check(.delete, camera, "/v1/cameras/gate")
            try await check(.delete, camera, "/v1/cameras/gate")
            try await check(.delete, camera, "/v1/cameras/yard")
            try await check(.get, "/v1/cameras", "/v1/cameras")
            for key in ["yard", "yard", "attic"] {
                try await check(.delete, camera + "/override", "/v1/cameras/\(key)/override")
            }
            let events = "/v1/devices/{device}/events"
            try await check(.get, events, "/v1/devices/door/events")
            try await check(.get, events, "/v1/devices/door/events?limit=0")
            try await check(.post, events, "/v1/devices/door/events", #"{"type":"motion"}"#, type: json)
            try await check(.post, events, "/v1/devices/door/events", "{}", type: json)
            let webhook = "/v1/webhooks/{device}/{secret}/{type}"
            for method in [HTTPRequest.Method.get, .post] {
                try await check(
                    method, webhook, "/v1/webhooks/door/\(TestGateway.webhookToken)/person", token: nil)
                try await check(method, webhook, "/v1/webhooks/door/wrong/person", token: nil)
            }
            try await check(.get, "/v1/sessions", "/v1/sessions")
            try await check(.get, "/v1/sessions/{session}", "/v1/sessions/\(id)")
            try await check(.options, "/whep/{device}", "/whep/door")
            try await check(.options, "/whep/{device}/{session}", "/whep/door/session-2")
            let fragment = GatewayAPI.fragmentMediaType
            for (body, headers): (String, HTTPFields) in [
                ("x", [:]), ("x", [.ifMatch: "\"no\""]), ("x", [.ifMatch: tag]), ("restart", [.ifMatch: "*"]),
            ] {
                try await check(
                    .patch, "/whep/{device}/{session}", "/whep/door/session-2", body, type: fragment, headers: headers)
            }
            try await check(.delete, "/whep/{device}/{session}", "/whep/door/session-2")
            try await check(.delete, "/v1/sessions/{session}", "/v1/sessions/\(id)")
            try await check(.delete, "/v1/sessions/{session}", "/v1/sessions/\(id)")
        }
    }

    @Test func `the document has the answer to a browser that already has a page`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            for (template, path) in [
                ("/", "/"), ("/camera/{device}", "/camera/door"), ("/oauth/authorize", "/oauth/authorize"),
                ("/service-worker.js", "/service-worker.js"), ("/assets/{file}", "/assets/app.js"),
            ] {
                let whole = try await client.send(.get, path, token: nil)
                try self.check(whole, .get, template)
                let tag = try #require(whole.headers[.eTag])
                let known = try await client.send(.get, path, token: nil, headers: [.ifNoneMatch: tag])
                #expect(known.status == .notModified)
                try self.check(known, .get, template)
            }
        }
    }

    private func checkPush(_ client: TestGateway.Client) async throws {
        func check(
            _ method: HTTPRequest.Method, _ template: String, _ path: String, _ body: String? = nil
        ) async throws -> TestResponse {
            let response = try await client.send(method, path, body, type: "application/json")
            try self.check(response, method, template)
            return response
        }
        let all = "/v1/push-subscriptions"
        let one = "/v1/push-subscriptions/{subscription}"
        _ = try await check(.get, "/v1/push", "/v1/push")
        let key = try P256Key.make().publicKey
        let keys = #"{"p256dh":"\#(Base64URL.text(key))","auth":"\#(Base64URL.text(Array(repeating: 7, count: 16)))"}"#
        for endpoint in ["https://push.example.com/a", "http://push.example.com/a"] {
            _ = try await check(.post, all, all, #"{"endpoint":"\#(endpoint)","keys":\#(keys)}"#)
        }
        let made = try await check(.post, all, all, #"{"endpoint":"https://push.example.com/a","keys":\#(keys)}"#)
        let id = try made.decoded(GatewayAPI.PushSubscriptionAnswer.self).id
        _ = try await check(.get, all, all)
        _ = try await check(.patch, one, "\(all)/\(id)", #"{"detections":["person"]}"#)
        _ = try await check(.patch, one, "\(all)/\(id)", #"{"detections":["ghost"]}"#)
        _ = try await check(.delete, one, "\(all)/\(id)")
        _ = try await check(.delete, one, "\(all)/\(id)")
        _ = try await check(.post, one + "/test", "\(all)/\(id)/test")
        _ = try await check(.get, "/v1/push-pictures/{picture}/{file}", "/v1/push-pictures/none/none.jpg")
    }

    /// Compares one response with what the document says of its operation: status, media type, headers and schema.
    func check(_ response: TestResponse, _ method: HTTPRequest.Method, _ path: String) throws {
        let document = try self.document()
        let schema = JSONSchema(document: document)
        let label = "\(method.rawValue) \(path) \(response.status.code)"
        let operation = try #require(
            paths(document)[path]?[method.rawValue.lowercased()] as? [String: Any], "\(label)")
        let responses = try #require(operation["responses"] as? [String: [String: Any]])
        let isFailure = response.status.code >= 400
        var described = try #require(
            responses[String(response.status.code)] ?? (isFailure ? responses["default"] : nil), "\(label)")
        if let reference = described["$ref"] as? String { described = try #require(schema.resolve(reference)) }
        for header in (described["headers"] as? [String: Any] ?? [:]).keys {
            let name = try #require(HTTPField.Name(header))
            #expect(response.headers[name] != nil, "\(label) lacks \(header)")
        }
        guard let content = described["content"] as? [String: [String: Any]] else { return }
        let type = response.headers[.contentType]?.prefix { $0 != ";" } ?? ""
        let media = try #require(content[String(type)], "\(label) is \(type)")
        guard let body = media["schema"] as? [String: Any] else { return }
        let value: Any =
            type == "application/json"
            ? try JSONSerialization.jsonObject(with: Data(response.body.readableBytesView)) : response.text
        #expect(schema.problems(value, body).isEmpty, "\(label): \(schema.problems(value, body)) in \(response.text)")
    }
}
