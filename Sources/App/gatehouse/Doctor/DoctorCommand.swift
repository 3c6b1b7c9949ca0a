import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse doctor`: what fails, and what to do.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Check the config, the network, the certificate, the cameras, the clock and the disk, and suggest what to do.",
        discussion: """
            The gateway tries the name and the certificate of http.publicURL, and each server of media.iceServers and \
            network.turn. Whether other networks can reach it cannot be checked from inside: for that, run the command \
            in another network with --gateway. It then first tries what a viewer does from this machine: the name, the \
            certificate, and media over UDP and TCP, in a live view of a camera that is sending.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        let report: DoctorReport
        if let url = gateway.gateway {
            report = await Self.lookFromOutside(url, connection)
            if json { printJSON(try JSONEncoder().encode(report)) }
        } else {
            report = try await reportingHomeErrors {
                let data = try await connection.get("/v1/doctor")
                if json { printJSON(data) }
                return try connection.decode(DoctorReport.self, data)
            }
        }
        if !json {
            for finding in report.findings { Self.show(finding) }
        }
        if !report.isHealthy { throw ExitCode.failure }
    }

    /// What this machine finds, and then what the gateway itself finds.
    private static func lookFromOutside(_ url: String, _ connection: GatewayConnection) async -> DoctorReport {
        let facts = await OutsideLook(url: url, connection: connection).facts()
        var report = DoctorReport(findings: DoctorFinding.outside(facts))
        guard facts.lookUpFailure == nil, facts.failure == nil else { return report }
        do throws(HomeError) {
            let inside = try connection.decode(DoctorReport.self, try await connection.get("/v1/doctor"))
            report.findings += inside.findings.filter { !$0.asksForLookFromOutside }
        } catch {
            report.findings.append(
                DoctorFinding(
                    .page, .note, "What the gateway itself finds is missing: \(error.message).",
                    advice: "A token with the scope admin for the whole home shows it."))
        }
        return report
    }

    private static func show(_ finding: DoctorFinding) {
        let words =
            switch finding.state {
            case .good: "ok  "
            case .note: "note"
            case .warning: "warn"
            case .failure: "FAIL"
            }
        print("\(words)  \(finding.device.map { "\($0): " } ?? "")\(finding.message)")
        if let advice = finding.advice { print("      \(advice)") }
    }
}
