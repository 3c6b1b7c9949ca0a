import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Signalling
import Testing

@testable import Gateway

/// Tokens in addresses, and tokens that permit watching and nothing else.
@Suite struct AddressTokenTests {
    static let link = "gatehouse_the-link-of-the-tests-00000000000000"
    static let viewing = Access([.init([.view], deviceID: "door")])
    static let picture = "/v1/devices/door/snapshot.jpg"

    private static func gateway(_ access: Access = viewing) async throws -> TestGateway {
        let gateway = try TestGateway()
        await gateway.api.tokens.observe { [enforcement = gateway.api.enforcement] in
            await enforcement.enforce($1, on: $0)
        }
        try await gateway.addToken(link, named: "link", access)
        return gateway
    }

    @Test func `a link shows a picture and a live view, and keeps both out of caches`() async throws {
        let gateway = try await Self.gateway()
        try await gateway.run { client in
            let picture = try await client.send(.get, "\(Self.picture)?width=64&token=\(Self.link)", token: nil)
            #expect(picture.status == .ok)
            #expect(picture.headers[.cacheControl] == "no-store")
            let resource = try #require(HTTPField.Name("Cross-Origin-Resource-Policy"))
            #expect(picture.headers[resource] == "cross-origin")
            let referrer = try #require(HTTPField.Name("Referrer-Policy"))
            #expect(picture.headers[referrer] == "no-referrer")
            // Without a token in the address, pages of other origins cannot load it.
            #expect(try await client.get(Self.picture).headers[resource] == "same-origin")
            let view = try await client.send(
                .post, "/whep/door?token=\(Self.link)", "v=0\r\n", type: "application/sdp", token: nil)
            #expect(view.status == .created)
            #expect(view.headers[.location]?.contains("token") == false)
            #expect(try await client.send(.options, "/whep/door?token=\(Self.link)", token: nil).status == .noContent)
        }
    }

    @Test(arguments: [
        "/v1/devices/yard/snapshot.jpg", "/v1/devices/attic/snapshot.jpg",
    ])
    func `a link opens no other camera`(path: String) async throws {
        let gateway = try await Self.gateway()
        try await gateway.run { client in
            let response = try await client.send(.get, "\(path)?token=\(Self.link)", token: nil)
            #expect(response.status == .notFound)
        }
    }

    @Test func `no other route accepts a token in its address`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            for (route, need) in RoutePermissions.table.sorted(by: { $0.key < $1.key })
            where need != .nothing && need != .secret
                && (need != .scope(.view, .device) || route.hasSuffix("/doctor"))
            {
                let parts = route.split(separator: " ").map(String.init)
                let method = try #require(HTTPRequest.Method(parts[0]))
                let path = PermissionMatrixTests.path(parts[1]) + "?token=\(TestGateway.token)"
                let response = try await client.send(method, path, token: nil)
                #expect(response.status == .unauthorized, "\(route)")
            }
        }
    }

    @Test(arguments: [
        Access.everything, Access([.init([.media], deviceID: "door")]),
        Access([.init([.view], deviceID: "door"), .init([.read], deviceID: "door")]), .nothing,
    ])
    func `a token that permits more than watching is refused in an address`(access: Access) async throws {
        let gateway = try await Self.gateway(access)
        try await gateway.run { client in
            let response = try await client.send(.get, "\(Self.picture)?token=\(Self.link)", token: nil)
            #expect(response.status == .forbidden)
            #expect(response.failure?.message.contains(Self.link) == false)
        }
    }

    @Test(arguments: ["?token=", "?token=wrong", "?token=\(link)&token=\(link)", "?Token=\(link)", ""])
    func `an address with no token, a wrong one or two is refused`(query: String) async throws {
        let gateway = try await Self.gateway()
        try await gateway.run { client in
            let response = try await client.send(.get, Self.picture + query, token: nil)
            #expect(response.status == .unauthorized)
            #expect(!response.text.contains(Self.link))
        }
    }

    @Test func `somebody who may only watch cannot talk, play sounds, keep pictures or see recordings`() async throws {
        let gateway = try await Self.gateway()
        gateway.camera.send(FakeCamera.flowing)
        gateway.camera.finish()
        await gateway.hub.run()
        try await gateway.run { client in
            let commands = "/v1/devices/door/traits/WebRtcLiveView/commands/"
            func send(_ command: String, _ body: String) async throws -> TestResponse {
                try await client.send(
                    .post, commands + command, body, type: "application/json", token: Self.link)
            }
            let started = try await send("startLiveView", #"{"offerSdp":"v=0"}"#)
            #expect(started.status == .ok)
            let session = try started.decoded(Google.WebRtcLiveViewTrait.StartLiveViewCommand.Response.self)
            let body = #"{"mediaSessionId":"\#(session.mediaSessionId)"}"#
            #expect(try await send("extendLiveView", body).status == .ok)
            #expect(try await send("startTalkback", body).status == .forbidden)
            #expect(try await send("stopLiveView", body).status == .ok)
            for (method, path) in [
                (HTTPRequest.Method.post, "/v1/devices/door/traits/CameraSnapshot/commands/takeSnapshot"),
                (.post, "/v1/devices/door/speaker/clips"), (.get, "/v1/devices/door/recordings"),
                (.get, "/v1/devices/door"), (.get, "/v1/devices/door/events"), (.post, "/whip/door"),
            ] {
                let response = try await client.send(method, path, token: Self.link)
                #expect(response.status == .forbidden, "\(method) \(path)")
            }
            #expect(try await client.send(.get, "/v1/devices", token: Self.link).text == #"{"devices":[]}"#)
        }
    }

    @Test func `a link that is taken back ends its views at once`() async throws {
        let gateway = try await Self.gateway()
        try await gateway.run { client in
            let view = try await client.send(
                .post, "/whep/door?token=\(Self.link)", "v=0\r\n", type: "application/sdp", token: nil)
            #expect(view.status == .created)
            #expect(await gateway.liveView.leases().count == 1)
            let id = try #require(gateway.api.tokens.all.first?.record.id)
            #expect(try await client.send(.delete, "/v1/tokens/\(id)").status == .noContent)
            #expect(await gateway.liveView.leases().isEmpty)
            let picture = try await client.send(.get, "\(Self.picture)?token=\(Self.link)", token: nil)
            #expect(picture.status == .unauthorized)
        }
    }

    @Test func `a token names the cameras that it opens`() async throws {
        let gateway = try await Self.gateway()
        try await gateway.run { client in
            let own = try await client.send(.get, "/v1/access", token: Self.link)
                .decoded(GatewayAPI.AccessAnswer.self)
            #expect(own.devices == [.init(id: "door", key: "door", name: "Front door", isCamera: true)])
            #expect(try await client.get("/v1/access").decoded(GatewayAPI.AccessAnswer.self).devices.isEmpty)
        }
    }

    @Test(arguments: [Access([.init([.view])]), Access([.init([.media])])])
    func `a token that may watch but not read learns which cameras there are`(access: Access) async throws {
        let gateway = try await Self.gateway(access)
        await gateway.keeper.begin()
        try await gateway.run { client in
            let settings = #"{"name":"Nest box","source":"rtsp://192.0.2.9/","battery":true}"#
            #expect(
                try await client.send(.put, "/v1/cameras/nest", settings, type: "application/json").status == .created)
            let own = try await client.send(.get, "/v1/access", token: Self.link)
                .decoded(GatewayAPI.AccessAnswer.self)
            #expect(own.devices.map(\.name) == ["Front door", "Yard", "Nest box"])
            #expect(own.devices.map(\.isOnBattery) == [nil, nil, true])
            // Who may read finds them in the list of devices.
            #expect(try await client.get("/v1/access").decoded(GatewayAPI.AccessAnswer.self).devices.isEmpty)
        }
    }

    @Test func `who may watch a camera learns why it is not seen, and nothing about the machine`() async throws {
        let gateway = try await Self.gateway()
        gateway.camera.send(FakeCamera.flowing)
        gateway.camera.finish()
        await gateway.hub.run()
        try await gateway.run { client in
            let response = try await client.send(.get, "/v1/devices/door/doctor", token: Self.link)
            let report = try response.decoded(DoctorReport.self)
            #expect(report.findings.compactMap(\.device) == ["Front door"])
            let own = Set(report.findings.map(\.subject))
            #expect(own.isDisjoint(with: [.clock, .disk]))
            #expect(try await client.send(.get, "/v1/devices/yard/doctor", token: Self.link).status == .notFound)
            #expect(try await client.send(.get, "/v1/doctor", token: Self.link).status == .forbidden)
        }
    }

    @Test func `the scope media includes view, and who has media may share`() {
        let media = Access([.init([.media], structureID: "s1")])
        let door = Access.Object.device("door", structureID: "s1")
        #expect(media.permits(.view, door) && !Self.viewing.permits(.media, door))
        #expect(media.includes(Self.viewing, structureOf: { _ in "s1" }))
        #expect(!Self.viewing.includes(media, structureOf: { _ in "s1" }))
        #expect(Self.viewing.isViewingOnly && !media.isViewingOnly && !Access.nothing.isViewingOnly)
    }
}
