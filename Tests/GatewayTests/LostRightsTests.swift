import DatagramPort
import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import NIOCore
import NIOPosix
import Signalling
import StationFakes
import Testing
import Transport

@testable import Gateway

/// Rights that a token loses while something of it is under way, over the API.
@Suite struct LostRightsTests {
    private static let json = "application/json"

    private static func gateway() async throws -> TestGateway {
        let gateway = try TestGateway {
            $0.offersGo2RTC = true
            $0.cameras.append(.init(id: "phone", name: "Phone", kind: .camera, source: .publisher))
        }
        await gateway.api.tokens.observe { [enforcement = gateway.api.enforcement] in
            await enforcement.enforce($1, on: $0)
        }
        return gateway
    }

    @Test func `a share link ends with the right of the token that made it`() async throws {
        let gateway = try await Self.gateway()
        let maker = try await gateway.addToken("gatehouse_maker", named: "maker", .everything)
        try await gateway.run { client in
            var links: [String] = []
            for (name, sender) in [("link", "gatehouse_maker"), ("kept", TestGateway.token)] {
                let body = #"{"name":"\#(name)","grants":[{"scopes":["view"],"deviceID":"door"}]}"#
                let made = try await client.send(.post, "/v1/tokens", body, type: Self.json, token: sender)
                links.append(try #require(try made.decoded(GatewayAPI.TokenAnswer.self).token))
            }
            for link in links {
                let view = try await client.send(
                    .post, "/whep/door?token=\(link)", "v=0\r\n", type: "application/sdp", token: nil)
                #expect(view.status == .created)
            }
            let less = #"{"grants":[{"scopes":["read","admin"]}]}"#
            #expect(try await client.send(.patch, "/v1/tokens/\(maker)", less, type: Self.json).status == .ok)
            #expect(await gateway.liveView.leases().map(\.principal) == ["kept"])
            for (link, status) in zip(links, [HTTPResponse.Status.unauthorized, .ok]) {
                let picture = try await client.send(.get, "/v1/devices/door/snapshot.jpg?token=\(link)", token: nil)
                #expect(picture.status == status)
            }
        }
    }

    @Test func `nobody gives more to a token that somebody else has made`() async throws {
        let gateway = try await Self.gateway()
        try await gateway.addToken("gatehouse_admin", named: "admin", .everything)
        let other = try await gateway.addToken(
            "gatehouse_other", named: "other", Access([.init([.read, .view], deviceID: "door")]),
            expiresAt: Date().addingTimeInterval(3_600))
        try await gateway.run { client in
            func change(_ id: String, _ body: String, by token: String) async throws -> HTTPResponse.Status {
                try await client.send(.patch, "/v1/tokens/\(id)", body, type: Self.json, token: token).status
            }
            let more = #"{"grants":[{"scopes":["read","media"],"deviceID":"door"}]}"#
            let less = #"{"grants":[{"scopes":["read"],"deviceID":"door"}]}"#
            #expect(try await change(other, more, by: "gatehouse_admin") == .forbidden)
            #expect(try await change(other, #"{"expiresInSeconds":7200}"#, by: "gatehouse_admin") == .forbidden)
            #expect(try await change(other, less, by: "gatehouse_admin") == .ok)
            #expect(try await change(other, #"{"expiresInSeconds":60}"#, by: "gatehouse_admin") == .ok)
            #expect(try await change(other, more, by: TestGateway.token) == .ok)
            // Its own tokens are its own affair, because they end with it.
            let body = #"{"name":"own","grants":[{"scopes":["read"]}]}"#
            let made = try await client.send(.post, "/v1/tokens", body, type: Self.json, token: "gatehouse_admin")
            let own = try made.decoded(GatewayAPI.TokenAnswer.self).id
            #expect(try await change(own, more, by: "gatehouse_admin") == .ok)
            // A password would open the account to the one who set it.
            let person = #"{"name":"ana","grants":[{"scopes":["read"]}],"password":"correct horse battery"}"#
            let ana = try await client.send(.post, "/v1/tokens", person, type: Self.json)
                .decoded(GatewayAPI.TokenAnswer.self).id
            let password = #"{"password":"another horse battery"}"#
            #expect(try await change(ana, password, by: "gatehouse_admin") == .forbidden)
            #expect(try await change(ana, password, by: TestGateway.token) == .ok)
        }
    }

    /// Hands over what arrives at a client.
    private final class Arrivals: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let bytes: AsyncStream<ByteBuffer>
        private let arrived: AsyncStream<ByteBuffer>.Continuation

        init() { (bytes, arrived) = AsyncStream.makeStream() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { arrived.yield(unwrapInboundIn(data)) }

        func channelInactive(context: ChannelHandlerContext) { arrived.finish() }
    }

    @Test func `a request whose body is kept back has the rights of its end`() async throws {
        let gateway = try await Self.gateway()
        let id = try await gateway.addToken("gatehouse_app", named: "app", .everything)
        try await gateway.run { client in
            let arrivals = Arrivals()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { $0.pipeline.addHandler(arrivals) }
                .connect(host: "127.0.0.1", port: client.port).get()
            let body = #"{"name":"Cabin"}"#
            let head =
                "POST /v1/structures HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer gatehouse_app\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
                + "Expect: 100-continue\r\n\r\n"
            try await channel.writeAndFlush(ByteBuffer(string: head)).get()
            var answer = ""
            var bytes = arrivals.bytes.makeAsyncIterator()
            // The gateway asks for the body after it has let the request in.
            while !answer.contains("\r\n\r\n"), let more = await bytes.next() { answer += String(buffer: more) }
            #expect(answer.hasPrefix("HTTP/1.1 100 "))
            try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read])]) }
            answer = ""
            try await channel.writeAndFlush(ByteBuffer(string: body)).get()
            while !answer.contains("\r\n\r\n"), let more = await bytes.next() { answer += String(buffer: more) }
            #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(answer)")
            #expect(await gateway.hub.structures().count == 1)
            // The gateway may have closed it first.
            try? await channel.close().get()
        }
    }

    @Test func `a request whose body is kept back has the rights where its device is at its end`() async throws {
        let gateway = try await Self.gateway()
        let house = try #require(await gateway.hub.structures().first?.id)
        try await gateway.addToken(
            "gatehouse_app", named: "app", Access([.init([.read, .admin], structureID: house)]))
        var place = PlaceUpdate()
        place.name = "Cabin"
        let cabin = try await gateway.hub.addStructure(place).value.id
        try await gateway.run { client in
            let arrivals = Arrivals()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { $0.pipeline.addHandler(arrivals) }
                .connect(host: "127.0.0.1", port: client.port).get()
            // It would take the device back.
            let body = #"{"structureID":"\#(house)"}"#
            let head =
                "PATCH /v1/devices/door HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer gatehouse_app\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
                + "Expect: 100-continue\r\n\r\n"
            try await channel.writeAndFlush(ByteBuffer(string: head)).get()
            var answer = ""
            var bytes = arrivals.bytes.makeAsyncIterator()
            // The gateway asks for the body after it has let the request in.
            while !answer.contains("\r\n\r\n"), let more = await bytes.next() { answer += String(buffer: more) }
            #expect(answer.hasPrefix("HTTP/1.1 100 "))
            _ = try await gateway.hub.moveDevice("door", structure: cabin)
            answer = ""
            try await channel.writeAndFlush(ByteBuffer(string: body)).get()
            while !answer.contains("\r\n\r\n"), let more = await bytes.next() { answer += String(buffer: more) }
            #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(answer)")
            #expect(try await gateway.hub.device("door").structureID == cabin)
            // The gateway may have closed it first.
            try? await channel.close().get()
        }
    }

    @Test func `a token among the protocols of a WebSocket opens no request with a body`() async throws {
        let gateway = try await Self.gateway()
        try await gateway.addToken("gatehouse_app", named: "app", .everything)
        try await gateway.run { client in
            let arrivals = Arrivals()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { $0.pipeline.addHandler(arrivals) }
                .connect(host: "127.0.0.1", port: client.port).get()
            let body = #"{"name":"Cabin"}"#
            let request =
                "POST /v1/structures HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Protocol: gatehouse, gatehouse.bearer.gatehouse_app\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
            try await channel.writeAndFlush(ByteBuffer(string: request)).get()
            var answer = ""
            var bytes = arrivals.bytes.makeAsyncIterator()
            while !answer.contains("\r\n\r\n"), let more = await bytes.next() { answer += String(buffer: more) }
            #expect(answer.hasPrefix("HTTP/1.1 401 "), "\(answer)")
            #expect(await gateway.hub.structures().count == 1)
            // The gateway may have closed it first.
            try? await channel.close().get()
        }
    }

    @Test func `a socket that was opened before its token lost a right does not use it`() async throws {
        let gateway = try await Self.gateway()
        let id = try await gateway.addToken("gatehouse_app", named: "app", Access([.init([.read, .media])]))
        try await gateway.run { client in
            let arrivals = Arrivals()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { $0.pipeline.addHandler(arrivals) }
                .connect(host: "127.0.0.1", port: client.port).get()
            let request =
                "GET /api/ws?src=door HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                + "Authorization: Bearer gatehouse_app\r\n\r\n"
            try await channel.writeAndFlush(ByteBuffer(string: request)).get()
            var bytes = arrivals.bytes.makeAsyncIterator()
            var answer = ""
            while !answer.hasSuffix("\r\n\r\n"), let more = await bytes.next() { answer += String(buffer: more) }
            #expect(answer.hasPrefix("HTTP/1.1 101 "))
            // It may still watch, so the socket stays.
            try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read, .view])]) }
            // One frame of text with a mask of zeros.
            let offer = #"{"type":"webrtc/offer","value":"v=0"}"#
            let frame = [0x81, 0x80 | UInt8(offer.utf8.count), 0, 0, 0, 0] + Array(offer.utf8)
            try await channel.writeAndFlush(ByteBuffer(bytes: frame)).get()
            answer = ""
            while !answer.contains("again"), let more = await bytes.next() { answer += String(buffer: more) }
            #expect(answer.contains("has just lost rights"), "\(answer)")
            #expect(await gateway.liveView.requests.count == 1)
            #expect(await gateway.liveView.list.isEmpty)
            // The gateway may have closed it first.
            try? await channel.close().get()
        }
    }

    @Test(arguments: ["/whep/door", "/api/webrtc?src=door", "/whip/phone"])
    func `what begins while its token loses the right ends`(path: String) async throws {
        let gateway = try await Self.gateway()
        let id = try await gateway.addToken("gatehouse_app", named: "app", Access([.init([.read, .media])]))
        await gateway.liveView.closeGate()
        try await gateway.run { client in
            async let answer = client.send(.post, path, "v=0\r\n", type: "application/sdp", token: "gatehouse_app")
            #expect(await eventually { await gateway.liveView.isWaiting })
            try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read])]) }
            await gateway.liveView.openGate()
            let status = try await answer.status
            #expect(status == .forbidden)
            let publisher = await gateway.liveView.publisher?.session
            #expect(publisher == nil)
            #expect(await gateway.liveView.list.isEmpty)
        }
    }

    @Test(arguments: [
        "/v1/devices/door/snapshot.jpg", "/v1/devices/door/live.mjpeg", "/api/frame.jpeg?src=door",
    ])
    func `a picture that is taken while its token loses the right is not shown`(path: String) async throws {
        let gateway = try await Self.gateway()
        let id = try await gateway.addToken("gatehouse_app", named: "app", Access([.init([.read, .media])]))
        await gateway.liveView.closeGate()
        try await gateway.run { client in
            async let answer = client.send(.get, path, token: "gatehouse_app")
            #expect(await eventually { await gateway.liveView.isWaiting })
            try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read])]) }
            await gateway.liveView.openGate()
            let status = try await answer.status
            #expect(status == .forbidden)
        }
    }

    @Test(
        arguments: [
            (.get, "/v1/devices/door/snapshot.jpg", "door"), (.get, "/v1/devices/door/live.mjpeg", "door"),
            (.get, "/api/frame.jpeg?src=door", "door"), (.post, "/whep/door", "door"),
            (.post, "/api/webrtc?src=door", "door"), (.post, "/whip/phone", "phone"),
        ] as [(HTTPRequest.Method, String, String)])
    func `what begins while its device leaves the token's structure ends`(
        method: HTTPRequest.Method, path: String, device: String
    ) async throws {
        let gateway = try await Self.gateway()
        let house = try #require(await gateway.hub.structures().first?.id)
        try await gateway.addToken(
            "gatehouse_app", named: "app", Access([.init([.read, .media], structureID: house)]))
        var place = PlaceUpdate()
        place.name = "Cabin"
        let cabin = try await gateway.hub.addStructure(place).value.id
        await gateway.liveView.closeGate()
        try await gateway.run { client in
            let offer = method == .post ? "v=0\r\n" : nil
            let type = offer.map { _ in "application/sdp" }
            async let answer = client.send(method, path, offer, type: type, token: "gatehouse_app")
            #expect(await eventually { await gateway.liveView.isWaiting })
            _ = try await gateway.hub.moveDevice(device, structure: cabin)
            await gateway.liveView.openGate()
            let status = try await answer.status
            #expect(status == .notFound)
            let publisher = await gateway.liveView.publisher?.session
            #expect(publisher == nil)
            #expect(await gateway.liveView.list.isEmpty)
        }
    }

    @Test func `an event's picture that is taken while its token loses the right gets no address`() async throws {
        let gateway = try await Self.gateway()
        let id = try await gateway.addToken("gatehouse_app", named: "app", Access([.init([.read, .media])]))
        gateway.camera.send(.doorbellPressed(.init()))
        gateway.camera.finish()
        await gateway.hub.run()
        let events = try await gateway.hub.events(of: "door")
        let event = try #require(events.first?.id)
        await gateway.liveView.closeGate()
        try await gateway.run { client in
            let body =
                #"{"command":"sdm.devices.commands.CameraEventImage.GenerateImage","params":{"eventId":"\#(event)"}}"#
            async let answer = client.send(
                .post, "/v1/enterprises/home/devices/door:executeCommand", body, type: Self.json,
                token: "gatehouse_app")
            #expect(await eventually { await gateway.liveView.isWaiting })
            try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read])]) }
            await gateway.liveView.openGate()
            let status = try await answer.status
            #expect(status == .forbidden)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `an answer that does not end by itself after its token lost the right leaves the connection and its place`()
        async throws
    {
        let gateway = try await Self.gateway()
        let id = try await gateway.addToken("gatehouse_app", named: "app", Access([.init([.read, .media])]))
        await gateway.liveView.closeGate()
        try await gateway.run { client in
            let arrivals = Arrivals()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { $0.pipeline.addHandler(arrivals) }
                .connect(host: "127.0.0.1", port: client.port).get()
            let request =
                "GET /v1/devices/door/live.mjpeg?rate=10 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + "Authorization: Bearer gatehouse_app\r\n\r\n"
            try await channel.writeAndFlush(ByteBuffer(string: request)).get()
            #expect(await eventually { await gateway.liveView.isWaiting })
            await gateway.liveView.letWaitingPass()
            // The second picture never comes.
            #expect(await eventually { await gateway.liveView.isWaiting })
            try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read])]) }
            var answer = ""
            for await bytes in arrivals.bytes { answer += String(buffer: bytes) }
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            await gateway.liveView.openGate()
            #expect(await eventually { gateway.api.liveWatchers.count == 0 })
        }
    }

    @Test func `a series shows no picture that is taken while its token loses the right`() async throws {
        let gateway = try await Self.gateway()
        let id = try await gateway.addToken("gatehouse_app", named: "app", Access([.init([.read, .media])]))
        await gateway.liveView.closeGate()
        try await gateway.run { client in
            async let answer = client.send(.get, "/v1/devices/door/live.mjpeg?rate=10", token: "gatehouse_app")
            #expect(await eventually { await gateway.liveView.isWaiting })
            await gateway.liveView.letWaitingPass()
            // The second picture.
            #expect(await eventually { await gateway.liveView.isWaiting })
            try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read])]) }
            await gateway.liveView.openGate()
            let series = try await answer.text
            #expect(series.components(separatedBy: "Content-Type: image/jpeg").count == 2)
        }
    }

    @Test func `a stream that was promised to a cloud ends with the right, and with the password`() async throws {
        let gateway = try await Self.gateway()
        let id = try await gateway.addToken("gatehouse_cloud", named: "cloud", .everything)
        let streams = gateway.api.cameraStreams
        func promise() -> (id: String, token: String) {
            streams.add("door", for: Caller(principal: "cloud"), at: MonotonicClock.now)
        }
        func works(_ stream: (id: String, token: String)) -> Bool {
            streams.stream(stream.id, token: stream.token, at: MonotonicClock.now) != nil
        }
        let first = promise()
        let others = streams.add("door", for: Caller(principal: "other"), at: MonotonicClock.now)
        try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read, .view])]) }
        #expect(works(first))
        try await gateway.api.tokens.change(id) { $0.password = PasswordHash("correct horse battery") }
        #expect(!works(first))
        let second = promise()
        try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read])]) }
        #expect(!works(second) && works(others))
    }

    @Test func `removing a structure ends what was made for its devices that are away`() async throws {
        let gateway = try await Self.gateway()
        let old = try #require(await gateway.hub.structures().first?.id)
        try await gateway.addToken(
            "gatehouse_visitor", named: "visitor", Access([.init([.media], structureID: old)]))
        let link = try gateway.api.recordingLinks.make(
            device: "door", range: 0..<1, principal: "visitor", now: MonotonicClock.now)
        try await gateway.run { client in
            let cabin = try await client.send(.post, "/v1/structures", #"{"name":"Cabin"}"#, type: Self.json)
            #expect(cabin.status == .created)
            await gateway.hub.setDevices([], drivers: [])
            #expect(gateway.api.recordingLinks.link(link, now: MonotonicClock.now) != nil)
            #expect(try await client.send(.delete, "/v1/structures/\(old)").status == .noContent)
            #expect(gateway.api.recordingLinks.link(link, now: MonotonicClock.now) == nil)
        }
    }
}
