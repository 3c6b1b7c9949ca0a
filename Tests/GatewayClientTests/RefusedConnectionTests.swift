import AsyncHTTPClient
import HomeTypes
import NIOCore
import NIOSSL
import TLSFakes
import Testing

@testable import GatewayClient

/// Errors of the libraries that only a connection has: nobody else can make them.
@Suite struct RefusedConnectionTests {
    /// What a request to an address fails with. It has time enough on any machine.
    private static func failure(_ url: String) async throws -> HomeError.ConnectionError? {
        var configuration = HTTPClient.Configuration(tlsConfiguration: .makeClientConfiguration())
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .hours(1)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        var found: HomeError.ConnectionError?
        do {
            _ = try await client.execute(HTTPClientRequest(url: url), timeout: .hours(1))
        } catch {
            found = HomeError.ConnectionError(error)
        }
        try await client.shutdown()
        return found
    }

    /// OpenSSL's side of a connection.
    private static func handshake(_ tls: FakeTLSServer) -> ([UInt8]) -> [UInt8] {
        { bytes in
            _ = tls.receive(bytes)
            return tls.takeOutput()
        }
    }

    @Test func `a host that has no address is unknown`() async throws {
        // A label of a host name has at most 63 characters, so no server is asked.
        let name = String(repeating: "a", count: 64) + ".invalid"
        let failure = try await Self.failure("http://\(name):8080/v1/devices")
        #expect(failure == .unknownHost)
    }

    @Test func `a port without HTTPS is named as that`() async throws {
        let refusal = Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)
        try await AnsweringServer.serving({ { _ in refusal } }) { port in
            let failure = try await Self.failure("https://127.0.0.1:\(port)/v1/devices")
            #expect(failure == .noHTTPS)
        }
    }

    @Test func `a certificate that the gateway signed itself is not trusted`() async throws {
        try await AnsweringServer.serving({ Self.handshake(try FakeTLSServer(names: "IP:127.0.0.1")) }) { port in
            let failure = try await Self.failure("https://127.0.0.1:\(port)/v1/devices")
            #expect(failure == .untrustedCertificate)
        }
    }
}
