import NIOCore
import NIOPosix

/// A server on the loopback interface that answers each connection as a test wants.
enum AnsweringServer {
    /// What a connection answers to the bytes that have come.
    typealias Answer = ([UInt8]) -> [UInt8]

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: Answer

        init(_ answer: @escaping Answer) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = answer(Array(Self.unwrapInboundIn(data).readableBytesView))
            if !bytes.isEmpty { context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// Runs a server while `body` runs with its port.
    /// - Parameter answer: makes what a new connection answers.
    static func serving(
        _ answer: @escaping @Sendable () throws -> Answer, _ body: (Int) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(try answer()))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            guard let port = server.localAddress?.port else { throw ChannelError.unknownLocalAddress }
            try await body(port)
        } catch {
            try await server.close()
            throw error
        }
        try await server.close()
    }

    /// Answers HTTP requests that have no body.
    /// - Parameter next: the next answer with its header.
    static func http(_ next: @escaping () -> String) -> Answer {
        var received: [UInt8] = []
        return { bytes in
            received += bytes
            guard received.suffix(4) == [13, 10, 13, 10] else { return [] }
            received = []
            return Array(next().utf8)
        }
    }
}
