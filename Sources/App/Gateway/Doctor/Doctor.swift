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
    /// When the gateway read its certificate.
    var startedAt = Date()
    /// What the media port knows; nil for an API without one.
    var network: @Sendable () -> NetworkFacts? = { nil }

    /// Looks now.
    func report() async -> DoctorReport {
        var findings = DoctorFinding.page(configuration.http)
        if let https = configuration.http.https { findings.append(certificate(of: https)) }
        if let facts = network() { findings += DoctorFinding.network(facts, configuration) }
        let untranscoded = Set(configuration.cameras.filter { $0.transcodesVideo == .never }.map(\.id))
        let published = Set(configuration.cameras.filter { $0.source == .whip }.map(\.id))
        for device in await hub.devices() {
            guard let source = device.source else { continue }
            findings.append(
                DoctorFinding.camera(
                    device.name, source, isPublished: published.contains(device.id),
                    isTranscoded: !untranscoded.contains(device.id)))
        }
        findings.append(DoctorFinding.clock(isSynchronized: WallClock.isSynchronized))
        for folder in [stateDirectory?.path, configuration.recording?.folder].compactMap({ $0 }) {
            findings.append(DoctorFinding.disk(try? SystemFileSystem().space(at: folder), folder: folder))
        }
        return DoctorReport(findings: findings)
    }

    private func certificate(of https: GatewayConfiguration.HTTPS) -> DoctorFinding {
        let file = https.files?.certificate ?? stateDirectory?.file(ServerCertificate.certificateFile)
        if https.files != nil, let file,
            let changed = try? FileManager.default.attributesOfItem(atPath: file)[
                .modificationDate] as? Date, changed > startedAt
        {
            return DoctorFinding(
                .certificate, .warning,
                "The certificate file has changed. The gateway still serves the certificate that it read at its start.",
                advice: "Restart the gateway.")
        }
        // What cannot be read is a finding.
        let leaf = file.flatMap { try? NIOSSLCertificate.fromPEMFile($0).first }
        let facts = leaf.map {
            DoctorFinding.CertificateFacts(
                end: Date(timeIntervalSince1970: TimeInterval($0.notValidAfter)), isOwn: https.files == nil)
        }
        return DoctorFinding.certificate(facts, now: Date())
    }
}
