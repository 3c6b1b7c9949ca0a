import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench handshake`: measures the cost of a DTLS handshake.
struct BenchHandshakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handshake", abstract: "Compare DTLS handshakes with those of libssl alone.")

    @Option(help: ArgumentHelp("How many handshakes of each kind.", valueName: "number"))
    var count = 300

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard (10...100_000).contains(count) else { throw ValidationError("--count must be between 10 and 100000") }
    }

    func run() async throws {
        warnWithoutOptimization()
        let result = try reportingFailures { try HandshakeBenchmark(handshakes: count).measure() }
        if json { return try printJSONLine(result) }
        print("                server µs  both µs  handshakes/s per core")
        print(
            String(
                format: "gatehouse       %9.0f  %7.0f  %21.0f", result.serverMicroseconds, result.pairMicroseconds,
                result.handshakesPerSecond))
        print(
            String(
                format: "libssl alone    %9.0f  %7.0f  %21.0f", result.libsslServerMicroseconds,
                result.libsslPairMicroseconds, result.libsslHandshakesPerSecond))
        print(String(format: "ratio           %9.2f  of %d handshakes each", result.ratio, result.handshakes))
    }
}
