import ArgumentParser
import Benchmarks
import Foundation
import Gateway
import HomeTypes

/// `gatehouse bench viewers`: a load tester for any WHEP server.
struct BenchViewersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "viewers", abstract: "Load a WHEP server with viewers.",
        discussion: """
            The viewers receive and count packets; they do not decode. For the gateway on this machine the command \
            finds the token itself. The gateway's config must allow that many sessions (sessions.perCamera and \
            sessions.perPrincipal).
            """)

    @Option(
        name: .customLong("url"),
        help: ArgumentHelp(
            """
            The WHEP endpoint, for example http://127.0.0.1:8080/whep/front-door; may be given more than once, and the \
            viewers are spread over the endpoints in turn.
            """, valueName: "url"))
    var urls: [String]

    @Option(help: ArgumentHelp("How many viewers.", valueName: "number"))
    var count = 10

    @Option(help: ArgumentHelp("How long to watch once all have started, in seconds.", valueName: "seconds"))
    var duration: Double = 10

    @Option(help: ArgumentHelp("The time between two starts, in milliseconds.", valueName: "milliseconds"))
    var stagger: Double = 20

    @Flag(help: "Start one viewer after another; each leaves after its first key frame.")
    var sequential = false

    @Flag(
        help: """
            With --sequential: each viewer starts at a random moment and stays until it has caught up with the camera. The \
            report then says when that was.
            """)
    var untilLive = false

    @Flag(help: "Offer every address of this host, even to a server on loopback.")
    var allAddresses = false

    @Option(help: ArgumentHelp("The bearer token. Prefer GATEHOUSE_TOKEN in the environment.", valueName: "token"))
    var token: String?

    @Option(help: ArgumentHelp("The server's process, to measure its processor time and memory.", valueName: "pid"))
    var pid: Int32?

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard (1...5000).contains(count) else { throw ValidationError("--count must be between 1 and 5000") }
        guard duration > 0, duration <= 3600 else {
            throw ValidationError("--duration must be more than 0 and at most 3600 seconds")
        }
        guard (0...10_000).contains(stagger) else {
            throw ValidationError("--stagger must be between 0 and 10000 milliseconds")
        }
        guard sequential || !untilLive else { throw ValidationError("--until-live needs --sequential") }
        guard urls.allSatisfy({ $0.hasPrefix("http://") || $0.hasPrefix("https://") }) else {
            throw ValidationError("--url must start with http:// or https://")
        }
    }

    func run() async throws {
        warnWithoutOptimization()
        var test = LoadTest(urls: urls)
        test.token = token ?? Self.localToken(urls)
        test.count = count
        test.duration = .seconds(duration)
        test.stagger = .milliseconds(stagger)
        test.isSequential = sequential
        test.awaitsLivePicture = untilLive
        test.process = pid
        test.offersAllAddresses = allAddresses
        let finished = test
        let report = try await reportingFailures { try await finished.run() }
        if json {
            try printJSONLine(report)
        } else {
            print(report.text)
        }
        if report.playing < report.viewers {
            printError("gatehouse: \(report.viewers - report.playing) viewers received no media")
            throw ExitCode.failure
        }
    }

    /// The token of the gateway on this machine, if all of `urls` are its addresses.
    private static func localToken(_ urls: [String]) -> String? {
        if let token = ProcessInfo.processInfo.environment["GATEHOUSE_TOKEN"] { return token }
        guard let (gateway, token) = try? LocalGateway.find(),
            urls.allSatisfy({ $0.hasPrefix(gateway.url + "/") })
        else { return nil }
        return token
    }
}

extension LoadTestReport {
    /// The report for a person.
    fileprivate var text: String {
        let watched = urls.count == 1 ? urls[0] : "\(urls.count) addresses"
        var lines = ["\(playing) of \(viewers) viewers of \(watched) received media"]
        if let firstFailure { lines.append("\(failed) failed; the first reason: \(firstFailure)") }
        if seconds > 0 {
            lines.append(
                String(
                    format: "%.1f s: %llu packets, %.0f kbit/s per viewer, %llu lost (%.3f %%)", seconds, packets,
                    bitsPerSecondPerViewer / 1000, lost, lossShare * 100))
        }
        lines.append("milliseconds           p50      p95      p99   samples")
        let rows = [
            ("answer", answer), ("connected", connected), ("first packet", firstPacket),
            ("first key frame", firstKeyFrame), ("live picture", livePicture), ("latency", latency),
        ]
        for (name, percentiles) in rows {
            guard let percentiles else { continue }
            lines.append(
                name.padding(toLength: 17, withPad: " ", startingAt: 0)
                    + String(
                        format: "%9.1f%9.1f%9.1f%10d", percentiles.p50, percentiles.p95, percentiles.p99,
                        percentiles.samples))
        }
        if let server {
            lines.append(
                String(
                    format:
                        "server: %.2f µs per packet and viewer, %.1f %% of a core, "
                        + "%.1f MiB before, %.0f KiB per viewer",
                    server.microsecondsPerPacketViewer, server.coreShare * 100,
                    Double(server.residentBytesBefore) / 1_048_576, Double(server.residentBytesPerViewer) / 1024))
            lines.append(
                String(
                    format: "of it user %.2f µs, system %.2f µs", server.userMicrosecondsPerPacketViewer,
                    server.systemMicrosecondsPerPacketViewer))
            for threads in server.threads {
                lines.append(
                    "threads \(threads.name): "
                        + String(
                            format: "user %.2f µs, system %.2f µs", threads.userMicroseconds,
                            threads.systemMicroseconds))
            }
        }
        return lines.joined(separator: "\n")
    }
}
