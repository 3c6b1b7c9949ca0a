import Foundation
import HTTPTypes
import HomeFakes
import HomeTypes
import Logging
import NIOCore
import Signalling
import Testing

@testable import Gateway

@Suite struct CameraAPITests {
    let json = "application/json"

    @Test func aCameraIsAddedChangedAndRemovedAndTheHomeFollows() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let made = try await client.send(
                .put, "/v1/cameras/gate", #"{"name":"Gate","source":"rtsp://192.0.2.9/main"}"#, type: json)
            #expect(made.status == .created)
            #expect(try made.decoded(CameraAnswer.self).origin == .api)
            let devices = try await client.get("/v1/devices").decoded(GatewayAPI.DeviceList.self).devices
            #expect(devices.map(\.key) == ["door", "yard", "gate"])
            #expect(devices.last?.name == "Gate")

            let changed = try await client.send(
                .patch, "/v1/cameras/gate", #"{"transport":"udp","name":null}"#, type: json)
            let camera = try changed.decoded(CameraAnswer.self)
            #expect(camera.transport == "udp" && camera.name == "gate" && camera.source == "rtsp://192.0.2.9/main")
            #expect(await gateway.cameras.applied.last?.last?.transport == .udp)

            let again = try await client.send(.put, "/v1/cameras/gate", #"{"source":"whip"}"#, type: json)
            #expect(again.status == .ok)
            #expect(try again.decoded(CameraAnswer.self).transport == "auto")

            #expect(try await client.send(.delete, "/v1/cameras/gate").status == .noContent)
            #expect(try await client.get("/v1/devices/gate").status == .notFound)
            #expect(try await client.send(.delete, "/v1/cameras/gate").status == .notFound)
        }
    }

    @Test func `everybody who may read a camera sees that it rests, and why`() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            func source(_ settings: String) async throws -> CameraSourceStatus? {
                _ = try await client.send(.put, "/v1/cameras/gate", settings, type: json)
                return try await client.get("/v1/devices/gate").decoded(DeviceSnapshot.self).source
            }
            let always = try await source(#"{"source":"rtsp://192.0.2.9/"}"#)
            #expect(always?.isOnDemand == nil && always?.isOnBattery == nil)
            let pictures = try await source(#"{"source":"http://192.0.2.9/"}"#)
            #expect(pictures?.isOnDemand == true && pictures?.isOnBattery == nil)
            let battery = try await source(#"{"source":"rtsp://192.0.2.9/","battery":true}"#)
            #expect(battery?.isOnDemand == true && battery?.isOnBattery == true)
            let settings = try await client.get("/v1/cameras/gate").decoded(CameraAnswer.self)
            #expect(settings.battery && settings.pull == "on-demand")
        }
    }

    @Test func `the gateway says at which port it serves RTSP, and to whom, if it does`() async throws {
        let kinds: [(host: String?, isOpen: Bool?)] = [
            (nil, nil), ("127.0.0.1", false), ("::1", false), ("0.0.0.0", true),
        ]
        for (host, isOpen) in kinds {
            let gateway = try TestGateway {
                guard let host else { return }
                var rtsp = GatewayConfiguration.RTSPServer()
                rtsp.host = host
                $0.rtsp = rtsp
            }
            try await gateway.run { client in
                let own = try await client.get("/v1/gateway").decoded(GatewayAPI.GatewayDescription.self)
                #expect(own.rtspPort == (host == nil ? nil : 8554))
                #expect(own.rtspIsOpen == isOpen)
            }
        }
    }

    @Test func aCameraIsReconnectedOnCommand() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let answer = try await client.send(.post, "/v1/cameras/yard/reconnect")
            #expect(answer.status == .noContent)
            #expect(await gateway.cameras.reconnected == ["yard"])
            let missing = try await client.send(.post, "/v1/cameras/nowhere/reconnect")
            #expect(missing.status == .notFound)
        }
    }

    @Test func aWrongSettingIsReportedWithItsKeyAndChangesNothing() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let wrong: [(String, String)] = [
                (#"{}"#, "source is missing"), (#"{"source":"exec:ffmpeg -i x"}"#, "source: expected"),
                (#"{"source":"/dev/video0"}"#, "source: expected"),
                (#"{"source":"file:///etc/passwd"}"#, "source: expected"),
                (#"{"source":"ftp://192.0.2.1/"}"#, "source: expected"),
                (#"{"source":"whip","sorce":"x"}"#, "sorce: unknown key; did you mean source?"),
                (#"{"source":"whip","transport":"pigeon"}"#, "transport: expected one of auto, tcp, udp, http"),
                (#"{"source":"whip","webhook":"perhaps"}"#, "webhook: expected true or false"),
                (#"{"source":["whip"]}"#, "source: expected a text"),
                (#"{"source":"whip","onvif":5}"#, "onvif: expected"),
                (#"{"source":"whip","id":"other"}"#, "id: the body and the path name different cameras"),
                (#"[1]"#, "not a JSON object"),
                (#"{"source":"rtsp://topsecret topsecret@/"}"#, "source: the URL has no host"),
            ]
            for (body, expected) in wrong {
                let response = try await client.send(.put, "/v1/cameras/gate", body, type: json)
                #expect(response.status == .badRequest, "\(body)")
                #expect(response.failure?.message.contains(expected) == true, "\(body): \(response.text)")
                #expect(!response.text.contains("topsecret"))
            }
            let name = try await client.send(.put, "/v1/cameras/..%2Fx", #"{"source":"whip"}"#, type: json)
            #expect(name.status == .badRequest || name.status == .notFound)
            // Nor is a wrong setting of a camera of the config file kept.
            let door = try await client.send(.patch, "/v1/cameras/door", #"{"source":"exec:ls"}"#, type: json)
            #expect(door.status == .badRequest)
            #expect(await gateway.cameras.applied.count == 1)
            #expect(!FileManager.default.fileExists(atPath: gateway.folder.directory.file("cameras.yaml")))
        }
    }

    @Test func secretsGoInAndNeverComeOut() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let body = """
                {"source":"rtsp://viewer:hunter22@192.0.2.9/s?channel=1&password=hunter23",\
                "substream":"rtsp://viewer:hunter22@192.0.2.9/2",\
                "onvif":{"url":"http://192.0.2.9/","username":"viewer","password":"hunter24"}}
                """
            let made = try await client.send(.put, "/v1/cameras/gate", body, type: json)
            #expect(made.status == .created)
            for path in ["/v1/cameras/gate", "/v1/cameras", "/v1/devices", "/v1/configuration"] {
                #expect(try await client.get(path).text.contains("hunter") == false, "\(path)")
            }
            let shown = try made.decoded(CameraAnswer.self)
            #expect(shown.source == "rtsp://viewer:***@192.0.2.9/s?channel=1&password=***")
            #expect(shown.onvif?.password == "***")

            // The shown value may be sent back, and means the secret that it hides.
            let edited = """
                {"name":"Gate","source":"\(shown.source)","substream":"rtsp://viewer:***@192.0.2.9/2",\
                "onvif":{"url":"http://192.0.2.9/","username":"viewer","password":"***"}}
                """
            #expect(try await client.send(.put, "/v1/cameras/gate", edited, type: json).status == .ok)
            let camera = try #require(await gateway.cameras.applied.last?.last)
            #expect(camera.source == .rtsp("rtsp://viewer:hunter22@192.0.2.9/s?channel=1&password=hunter23"))
            #expect(camera.substream == "rtsp://viewer:hunter22@192.0.2.9/2")
            #expect(camera.onvif?.password == "hunter24")
            let moved = #"{"onvif":{"url":"http://192.0.2.66/"}}"#
            #expect(try await client.send(.patch, "/v1/cameras/gate", moved, type: json).status == .ok)
            let onvif = try #require(await gateway.cameras.applied.last?.last?.onvif)
            #expect(onvif == .init(url: "http://192.0.2.66/", username: "viewer", password: nil))
            // A password may hold what ends the host elsewhere, and is as secret.
            let odd = #"{"source":"rtsp://viewer:hunter/25?x@192.0.2.9/s"}"#
            let answer = try await client.send(.patch, "/v1/cameras/gate", odd, type: json)
            #expect(try answer.decoded(CameraAnswer.self).source == "rtsp://viewer:***@192.0.2.9/s")
            #expect(try await client.get("/v1/cameras").text.contains("hunter") == false)
        }
    }

    @Test func onlyTheConfigFileReadsTheEnvironment() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let made = try await client.send(
                .put, "/v1/cameras/gate", #"{"source":"rtsp://192.0.2.9/${HOME}"}"#, type: json)
            #expect(made.status == .created)
            #expect(await gateway.cameras.applied.last?.last?.source == .rtsp("rtsp://192.0.2.9/${HOME}"))
        }
        await gateway.keeper.reload(because: "a test")
        let stored = try CameraStore(directory: gateway.folder.directory).read(environment: ["HOME": "/x"])?.cameras
        #expect(stored?.first?.camera.source == .rtsp("rtsp://192.0.2.9/${HOME}"))
    }

    /// The loader replaces nothing in these keys, so nothing is escaped in them either.
    @Test func `a dollar sign in a camera's name stays as it was typed`() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let made = try await client.send(
                .put, "/v1/cameras/gate", #"{"source":"rtsp://192.0.2.9/a","name":"Gate ${b}"}"#, type: json)
            #expect(made.status == .created)
            #expect(await gateway.cameras.applied.last?.last?.name == "Gate ${b}")
        }
    }

    @Test(arguments: [
        "\u{600}${HOME}", "\u{600}$${HOME}", "${\u{301}HOME}", "${HOME\u{301}}", "${HOME}\u{301}", "$\u{301}{HOME}",
        "${\u{200D}HOME}", "$$\u{600}${HOME}", "$$$${HOME}${HOME}", "${", "$${",
    ])
    func noCharacterOpensTheEnvironment(_ text: String) async throws {
        let url = "rtsp://192.0.2.9/\(text)"
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let body = String(decoding: try JSONEncoder().encode(["source": url]), as: UTF8.self)
            let made = try await client.send(.put, "/v1/cameras/gate", body, type: json)
            #expect(made.status == .created)
            #expect(!made.text.contains("secret-of-the-environment"))
        }
        let stored = try CameraStore(directory: gateway.folder.directory).read(environment: ["HOME": "/x"])?.cameras
        guard case .rtsp(let read)? = stored?.first?.camera.source else {
            Issue.record("the camera is not there")
            return
        }
        #expect(Array(read.utf8) == Array(url.utf8))
    }

    @Test func aKeyThatIsNullCountsAsLeftOut() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let body = """
                {"source":"rtsp://192.0.2.9/","name":null,"substream":null,"transport":null,"webhook":null,\
                "onvif":{"url":"http://192.0.2.9/","username":null,"password":null}}
                """
            let made = try await client.send(.put, "/v1/cameras/gate", body, type: json)
            #expect(made.status == .created, "\(made.text)")
            let camera = try #require(await gateway.cameras.applied.last?.last)
            #expect(camera.name == "gate" && camera.substream == nil && !camera.acceptsWebhook)
            #expect(camera.onvif == .init(url: "http://192.0.2.9/", username: nil, password: nil))
            let stored = try CameraStore(directory: gateway.folder.directory).read(environment: [:])?.cameras
            #expect(stored?.map(\.camera.source) == [camera.source])
            #expect(stored?.map(\.camera.onvif) == [camera.onvif])

            let missing = try await client.send(.put, "/v1/cameras/gate", #"{"source":null}"#, type: json)
            #expect(missing.failure?.message.contains("source is missing") == true)
            let none = try await client.send(
                .put, "/v1/cameras/gate", #"{"source":"whip","name":null,"onvif":null}"#, type: json)
            #expect(none.status == .ok)
            #expect(await gateway.cameras.applied.last?.last?.onvif == nil)
        }
    }

    @Test func aSnapshotStatesItsAge() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let picture = try await client.get("/v1/devices/door/snapshot.jpg?width=320")
            #expect(picture.status == .ok)
            #expect(picture.headers[.contentType] == "image/jpeg")
            #expect(picture.headers[.cacheControl] == "no-store")
            #expect(picture.headers[.age] == "1")
            #expect(picture.headers[try #require(HTTPField.Name("Age-Milliseconds"))] == "1500")
            #expect(Array(picture.body.readableBytesView).prefix(2) == [0xFF, 0xD8])
            #expect(try await client.get("/v1/devices/attic/snapshot.jpg").status == .notFound)
            for width in ["0", "-1", "x", "99999999999999999999", ""] {
                #expect(try await client.get("/v1/devices/door/snapshot.jpg?width=\(width)").status == .badRequest)
            }
            let stranger = try await client.send(.get, "/v1/devices/door/snapshot.jpg", token: nil)
            #expect(stranger.status == .unauthorized)
            await gateway.liveView.setSnapshotError(.stopped(device: "door"))
            #expect(try await client.get("/v1/devices/door/snapshot.jpg").status == .serviceUnavailable)
        }
    }
}
