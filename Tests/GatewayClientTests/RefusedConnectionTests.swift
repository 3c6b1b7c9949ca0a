import AsyncHTTPClient
import HomeTypes
import NIOCore
import NIOPosix
import NIOSSL
import TLSFakes
import Testing

@testable import GatewayClient

/// Errors of the libraries that only a connection has: nobody else can make them.
@Suite struct RefusedConnectionTests {
    /// Answers each connection as the test wants, and never with HTTPS of its own.
    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: ([UInt8]) -> [UInt8]

        init(_ answer: @escaping ([UInt8]) -> [UInt8]) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = answer(Array(Self.unwrapInboundIn(data).readableBytesView))
            if !bytes.isEmpty { context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

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

    /// Runs a server on the loopback interface.
    private static func serving(
        _ answer: @escaping @Sendable () throws -> ([UInt8]) -> [UInt8], _ body: (Int) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answering(try answer()))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(try #require(server.localAddress?.port))
        } catch {
            try await server.close()
            throw error
        }
        try await server.close()
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
        try await Self.serving({ { _ in refusal } }) { port in
            let failure = try await Self.failure("https://127.0.0.1:\(port)/v1/devices")
            #expect(failure == .noHTTPS)
        }
    }

    @Test func `a certificate that the gateway signed itself is not trusted`() async throws {
        try await Self.serving({ Self.handshake(try FakeTLSServer(names: "IP:127.0.0.1")) }) { port in
            let failure = try await Self.failure("https://127.0.0.1:\(port)/v1/devices")
            #expect(failure == .untrustedCertificate)
        }
    }
}
