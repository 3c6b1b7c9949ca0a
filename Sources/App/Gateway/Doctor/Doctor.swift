import DatagramPort
import Foundation
import HomeHub
import HomeTypes
import NIOSSL
import PushAvStreamTransport

/// Looks at everything between a camera and a viewer, and says in words what fails and what to do.
///
/// It only looks: it changes nothing, and sends nothing that is not sent anyway.
struct Doctor: Sendable {
    let configuration: GatewayConfiguration
    let hub: HomeHub
    /// Where the gateway keeps its state; nil for an API without one.
    var stateDirectory: StateDirectory?
    /// What the media port knows; nil for an API without one.
    var network: @Sendable () -> NetworkFacts? = { nil }

    /// Looks now.
    func report() async -> DoctorReport {
        var findings = DoctorFinding.page(configuration.http)
        if let https = configuration.http.https { findings.append(certificate(of: https)) }
        if let facts = network() { findings += DoctorFinding.network(facts, configuration) }
        for device in await hub.devices() {
            guard let source = device.source else { continue }
            findings.append(DoctorFinding.camera(device.name, source))
        }
        findings.append(DoctorFinding.clock(isSynchronized: WallClock.isSynchronized))
        if let folder = stateDirectory?.path {
            findings.append(DoctorFinding.disk(try? SystemFileSystem().space(at: folder), folder: folder))
        }
        return DoctorReport(findings: findings)
    }

    private func certificate(of https: GatewayConfiguration.HTTPS) -> DoctorFinding {
        let file = https.files?.certificate ?? stateDirectory?.file(ServerCertificate.certificateFile)
        // What cannot be read is a finding.
        let leaf = file.flatMap { try? NIOSSLCertificate.fromPEMFile($0).first }
        let facts = leaf.map {
            DoctorFinding.CertificateFacts(
                end: Date(timeIntervalSince1970: TimeInterval($0.notValidAfter)), isOwn: https.files == nil)
        }
        return DoctorFinding.certificate(facts, now: Date())
    }
}
