import HTTPTypes
import HomeTypes
import Testing

@testable import Gateway

@Suite struct CameraPageTests {
    @Test(arguments: ["/camera/door", "/camera/attic", "/camera/door?x=1"])
    func `everybody gets the page, which says nothing about the home`(path: String) async throws {
        try await TestGateway().run { client in
            let page = try await client.send(.get, path, token: nil)
            #expect(page.status == .ok && page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(!page.text.contains("Front door") && !page.text.contains("attic"))
            #expect(page.headers[.contentSecurityPolicy]?.hasSuffix("frame-ancestors 'none'") == true)
        }
    }

    @Test func `only the origins of the config may show the page in a frame`() async throws {
        let gateway = try TestGateway { $0.http.frameAncestors = ["'self'", "https://dash.example"] }
        try await gateway.run { client in
            let page = try await client.send(.get, "/camera/door", token: nil)
            #expect(
                page.headers[.contentSecurityPolicy]?.hasSuffix("frame-ancestors 'self' https://dash.example") == true)
            for path in ["/", "/assets/link.html", "/assets/camera.html"] {
                let other = try await client.send(.get, path, token: nil)
                #expect(other.headers[.contentSecurityPolicy]?.hasSuffix("frame-ancestors 'none'") == true)
            }
        }
    }

    @Test func `frame ancestors are origins or self`() throws {
        let text = "http: {frameAncestors: [self, 'https://Dash.example:443', 'http://192.0.2.7:8123']}"
        let configuration = try GatewayConfiguration(yaml: text, environment: [:])
        #expect(configuration.http.frameAncestors == ["'self'", "https://dash.example", "http://192.0.2.7:8123"])
        for wrong in ["'*'", "https://dash.example/page", "\"https://a.example; script-src *\"", "none"] {
            #expect(throws: ConfigurationError.self) {
                try GatewayConfiguration(yaml: "http: {frameAncestors: [\(wrong)]}", environment: [:])
            }
        }
    }

    @Test func `a text becomes a QR code, and one that is too long is refused`() async throws {
        try await TestGateway().run { client in
            let code = try await client.send(.post, "/v1/qr-codes", "https://a.example/#b", type: "text/plain")
            #expect(code.status == .ok && code.headers[.contentType] == "image/svg+xml")
            #expect(code.headers[.cacheControl] == "no-store" && code.text.hasPrefix("<svg"))
            for body in ["", String(repeating: "x", count: 667)] {
                let refused = try await client.send(.post, "/v1/qr-codes", body, type: "text/plain")
                #expect(refused.status == .badRequest)
            }
            #expect(
                try await client.send(.post, "/v1/qr-codes", "x", type: "text/plain", token: nil).status
                    == .unauthorized)
        }
    }
}
