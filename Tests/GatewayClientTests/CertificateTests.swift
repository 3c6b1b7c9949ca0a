import TLSFakes
import Testing

@testable import GatewayClient

/// Connections that trust a certificate which the gateway signed itself.
@Suite struct CertificateTests {
    private static func connection(_ certificate: String) throws -> GatewayConnection {
        try GatewayConnection(url: "https://127.0.0.1:9", token: "t", certificate: certificate)
    }

    /// An HTTP client stays for as long as the process. An app that tries to connect again and again must not add one each
    /// time.
    @Test func `connections that trust the same certificate share a client`() throws {
        let (server, other) = (try FakeTLSServer(names: "IP:127.0.0.1"), try FakeTLSServer(names: "IP:127.0.0.1"))
        try withExtendedLifetime((server, other)) {
            let first = try Self.connection(server.certificateFile)
            let again = try Self.connection(server.certificateFile)
            let elsewhere = try Self.connection(other.certificateFile)
            #expect(first.client === again.client)
            #expect(first.client !== elsewhere.client)
        }
    }
}
