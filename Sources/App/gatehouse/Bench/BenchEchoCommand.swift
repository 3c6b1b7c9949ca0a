import ArgumentParser
import Hummingbird
import Logging

/// `gatehouse bench echo`: what a request costs without a gateway, next to which `tools/bench-home` measures commands.
struct BenchEchoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "echo", abstract: "Serve a bare HTTP echo on loopback, as a reference for commands.")

    /// The largest body that is sent back, in bytes.
    private static let largest = 1 << 20

    @Option(help: ArgumentHelp("The port to listen on.", valueName: "port"))
    var port: Int

    func run() async throws {
        let router = Router()
        router.post("/echo") { request, _ in
            let body = try await request.body.collect(upTo: Self.largest)
            return Response(
                status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
        }
        var logger = Logger(label: "echo")
        logger.logLevel = .error
        let server = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
        try await server.runService()
    }
}
