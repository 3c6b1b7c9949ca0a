import ArgumentParser
import Foundation
import Gateway
import GatewayClient

/// `gatehouse doctor`: what fails, and what to do.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look at the network, the certificate, the cameras, the clock and the disk, and say what to do.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        let report: DoctorReport = try await reportingHomeErrors {
            let data = try await connection.get("/v1/doctor")
            if json { printJSON(data) }
            return try connection.decode(DoctorReport.self, data)
        }
        if !json {
            for finding in report.findings { Self.show(finding) }
        }
        if !report.isHealthy { throw ExitCode.failure }
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
