import DatagramPort
import Foundation
import HomeHub
import HomeTypes
import NIOSSL
import PushAvStreamTransport

/// Looks at everything between a camera and a viewer, and says in words what fails and what to do.
///
/// It changes nothing. It tries what the config names as a viewer would: the name of `http.publicURL`, the certificate that is
/// served there, and the STUN and TURN servers. That has threads and sockets of its own, so media does not wait for it, and it
/// ends within seconds.
struct Doctor: Sendable {
    let configuration: GatewayConfiguration
    let hub: HomeHub
    /// Where the gateway keeps its state; nil for an API without one.
    var stateDirectory: StateDirectory?
    /// When the gateway read its certificate.
    var startedAt = Date()
    /// What the media port knows; nil for an API without one.
    var network: @Sendable () -> NetworkFacts? = { nil }
    /// Knows the cameras in force, and the entries of the config file that do not count; nil for an API without one.
    var keeper: ConfigurationKeeper?
    /// The cameras that programs asked for over go2rtc's API; nil for an API without it.
    var programs: Go2RTCStreams?
    /// How long a name, a connection or an answer may take when the doctor tries what the config names. A name, a connection,
    /// TLS, and TLS with the gateway itself come one after another, and a client waits half a minute.
    var patience = Duration.seconds(4)
    /// The round of attempts that is going on.
    let attempts = SharedAttempts()

    /// Looks now.
    func report() async -> DoctorReport {
        let facts = network()
        let tried = await attempts.run { [configuration, patience] in
            await TriedConfiguration.trying(configuration, inUse: facts?.turn, patience: patience)
        }
        var findings = DoctorFinding.page(configuration.http)
        if let https = configuration.http.https { findings.append(certificate(of: https)) }
        if let page = tried.page {
            findings += DoctorFinding.publicPage(
                page, outside: facts?.outsideAddresses(configuration) ?? [], now: Date())
        }
        findings.append(DoctorFinding.unseenFromInside(configuration.http.publicURL))
        if let facts { findings += DoctorFinding.network(facts, configuration, relays: tried.relays) }
        findings += tried.viewerServers.map { DoctorFinding.viewerServer($0) }
        for device in await hub.devices() {
            if let finding = await finding(about: device) { findings.append(finding) }
            if configuration.recording != nil, let source = device.source,
                let finding = DoctorFinding.recordings(of: device.name, source)
            {
                findings.append(finding)
            }
        }
        findings += DoctorFinding.refusedStreams(programs?.refusals ?? [])
        if let status = await keeper?.configurationStatus { findings += DoctorFinding.configuration(status) }
        let withoutCamera = await keeper?.rulesWithoutCamera ?? []
        findings += withoutCamera.map { DoctorFinding.rulesWithoutCamera($0) }
        let replaced = await keeper?.replacedEntries ?? []
        findings += replaced.map { DoctorFinding.replaced($0) }
        findings.append(DoctorFinding.clock(isSynchronized: WallClock.isSynchronized))
        for folder in [stateDirectory?.path, configuration.recording?.folder].compactMap({ $0 }) {
            findings.append(DoctorFinding.disk(try? SystemFileSystem().space(at: folder), folder: folder))
        }
        return DoctorReport(findings: findings)
    }

    /// Looks at one camera, for somebody who may watch it. What is wrong with the network is for the owner: a viewer learns
    /// only that something is.
    /// - Parameter withReasons: whether to repeat the camera's own words, which may name its address.
    func report(about id: String, withReasons: Bool) async throws(HomeError) -> DoctorReport {
        let device = try await hub.device(id)
        guard let finding = await finding(about: device, withReason: withReasons) else {
            throw HomeError.notFound("\(id.prefix(64)) is not a camera")
        }
        var findings = [finding]
        let states = network().map { DoctorFinding.network($0, configuration).map(\.state) } ?? []
        let advice = "Ask the owner of the gateway to look under \u{201C}Why can\u{2019}t I see it?\u{201D}."
        if states.contains(.failure) {
            findings.append(
                DoctorFinding(
                    .mediaPort, .failure, "Something in the gateway's network does not work.", advice: advice))
        } else if states.contains(.warning) {
            findings.append(
                DoctorFinding(
                    .mediaPort, .warning, "Something in the gateway's network could work better.",
                    advice: advice))
        }
        return DoctorReport(findings: findings)
    }

    /// What can be said about a camera; nil for a device that is not a camera.
    private func finding(about device: DeviceSnapshot, withReason: Bool = true) async -> DoctorFinding? {
        guard var source = device.source else { return nil }
        if !withReason { (source.trouble, source.cause) = (nil, nil) }
        let cameras = await keeper?.entries.map(\.camera) ?? configuration.cameras
        let camera = cameras.first { $0.id == device.key ?? device.id }
        return DoctorFinding.camera(
            device.name, source, isPublished: camera?.source == .publisher,
            isTranscoded: camera.map { $0.transcodesVideo != .never } ?? true)
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
