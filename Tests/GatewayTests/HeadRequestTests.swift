import HTTPTypes
import HomeTypes
import NIOCore
import Testing

@testable import Gateway

/// `HEAD`, which some players and proxies send before they play.
@Suite struct HeadRequestTests {
    private static let link = "gatehouse_the-link-of-the-head-requests-00000"
    private static let files = ["live.mp4", "live.m3u8", "live.mjpeg"]

    private static func path(_ file: String, _ query: String = "") -> String { "/v1/devices/door/\(file)\(query)" }

    @Test func `a picture has the headers of GET, with a token in the header or in the address`() async throws {
        let gateway = try TestGateway()
        try await gateway.addToken(Self.link, named: "link", Access([.init([.view], deviceID: "door")]))
        try await gateway.run { client in
            let whole = try await client.get(Self.path("snapshot.jpg"))
            let own = try await client.send(.head, Self.path("snapshot.jpg"))
            let shared = try await client.send(.head, Self.path("snapshot.jpg", "?token=\(Self.link)"), token: nil)
            for answer in [own, shared] {
                #expect(answer.status == .ok && answer.body.readableBytes == 0)
                #expect(answer.headers[.contentType] == "image/jpeg")
                #expect(answer.headers[.contentLength] == "\(whole.body.readableBytes)")
                #expect(answer.headers[.cacheControl] == "no-store" && answer.headers[.age] != nil)
            }
        }
    }

    @Test(arguments: files)
    func `a stream is asked for the same rights and settings as by GET`(file: String) async throws {
        let gateway = try TestGateway()
        try await gateway.addToken(Self.link, named: "link", Access([.init([.view], deviceID: "door")]))
        try await gateway.run { client in
            func status(_ path: String, _ token: String?) async throws -> HTTPResponse.Status {
                try await client.send(.head, path, token: token).status
            }
            // The cameras of the tests have no streams.
            let own = try await status(Self.path(file), TestGateway.token)
            let shared = try await status(Self.path(file, "?token=\(Self.link)"), nil)
            #expect(own == .conflict && shared == .conflict)
            let wrong = try await status(Self.path(file, "?stream=third&rate=fast"), TestGateway.token)
            #expect(wrong == .badRequest)
            let stranger = try await status(Self.path(file), nil)
            #expect(stranger == .unauthorized)
            let other = try await status("/v1/devices/yard/\(file)?token=\(Self.link)", nil)
            #expect(other == .notFound)
        }
        #expect(gateway.api.liveWatchers.count == 0)
    }

    @Test func `other routes still refuse it`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let answer = try await client.send(.head, "/v1/devices")
            #expect(answer.status == .methodNotAllowed && answer.body.readableBytes == 0)
        }
    }
}
