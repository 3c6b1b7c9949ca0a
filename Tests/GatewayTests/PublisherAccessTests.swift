import Foundation
import HomeHub
import HomeTypes
import Signalling
import Testing
import Transport

@testable import Gateway

/// Who may publish by RTSP and RTMP.
@Suite struct PublisherAccessTests {
    @Test func `a token in an address publishes if it permits media of the device and nothing more`() async throws {
        let gateway = try TestGateway()
        func add(_ name: String, _ scopes: Set<Caller.Scope>, device: String? = nil) async throws {
            try await gateway.addToken(
                "gatehouse_\(name)", named: name, Access([.init(scopes, deviceID: device)]))
        }
        try await add("encoder", [.media], device: "phone")
        try await add("both", [.media, .view])
        try await add("viewer", [.view])
        try await add("more", [.media, .read])
        let judge = PublisherJudge(gateway.api.tokens, directory: gateway.hub.directory)
        let access = PublisherAccess()
        // The servers begin to listen before the tokens are read.
        #expect(access.judge(token: "gatehouse_encoder", device: "phone") == .unknown)
        #expect(!access.mayPublish("encoder", "phone"))
        access.set(judge)
        #expect(access.judge(token: "gatehouse_encoder", device: "phone") == .accepted(principal: "encoder"))
        #expect(access.judge(token: "gatehouse_both", device: "phone") == .accepted(principal: "both"))
        #expect(access.judge(token: "gatehouse_encoder", device: "door") == .forbidden(.mayNotPublish))
        #expect(access.judge(token: "gatehouse_viewer", device: "phone") == .forbidden(.mayNotPublish))
        #expect(access.judge(token: "gatehouse_more", device: "phone") == .forbidden(.permitsTooMuch))
        #expect(access.judge(token: TestGateway.token, device: "phone") == .forbidden(.permitsTooMuch))
        #expect(access.judge(token: "gatehouse_no", device: "phone") == .unknown)
        #expect(access.mayPublish("encoder", "phone") && !access.mayPublish("encoder", "door"))
        #expect(access.mayPublish("more", "door") && !access.mayPublish("viewer", "phone"))
        #expect(!access.mayPublish("nobody", "phone"))
    }

    @Test func `a right that a token has lost counts at once`() async throws {
        let gateway = try TestGateway()
        let id = try await gateway.addToken("gatehouse_encoder", named: "encoder", Access([.init([.media])]))
        let judge = PublisherJudge(gateway.api.tokens, directory: gateway.hub.directory)
        #expect(judge.mayPublish("encoder", "phone"))
        try await gateway.api.tokens.change(id) { $0.access = Access([.init([.view])]) }
        #expect(!judge.mayPublish("encoder", "phone"))
        #expect(judge.verdict("gatehouse_encoder", "phone") == .forbidden(.mayNotPublish))
    }

    @Test func `only media and view make a token that may be in a publisher's address`() {
        #expect(Access([.init([.media])]).isMediaOnly && Access([.init([.view])]).isMediaOnly)
        #expect(!Access.nothing.isMediaOnly && !Access.everything.isMediaOnly)
        #expect(!Access([.init([.media]), .init([.read])]).isMediaOnly && !Access([.init([])]).isMediaOnly)
    }
}
