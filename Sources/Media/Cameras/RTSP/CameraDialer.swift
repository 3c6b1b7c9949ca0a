import HTTPMedia
import RTSP
import Transport

/// Opens connections to one camera, for its source and for talks: looks up its name, follows redirections as far as
/// they may lead, checks the certificate, and opens the connection or the tunnel.
struct CameraDialer {
    /// What the config says about connections to the camera.
    struct Settings: Sendable {
        /// How long a connection may take to open, for each address of the host.
        var connectTimeout: Duration
        /// How long an answer may take.
        var answerTimeout: Duration
        /// The keep-alive to use whatever the camera says; nil finds one that it accepts.
        var keepAlive: RTSPKeepAlive?
        /// The SHA-256 fingerprint that the camera's certificate must have, in hexadecimal; nil accepts any.
        var certificateFingerprint: String?
        /// Whether the password itself is never sent without TLS (Basic).
        var refusesBasic: Bool
    }

    /// What became of an attempt.
    enum Outcome {
        case connected(CameraConnection)
        /// The owner stopped it before the look-up or while connecting.
        case stopped
        /// The owner stopped it during the look-up, and no longer waits for the thread.
        case abandoned
        case failed(CameraUnreachable)
    }

    /// The number of redirections in a row that are followed.
    static let maximumRedirections = 5

    /// The camera's address in the config.
    let url: RTSPURL
    let settings: Settings
    /// What is known about the camera, to which each connection adds.
    let findings: SourceFindings
    /// Where the camera was reached at ``url``: redirections are judged by it.
    private var home: TransportAddress?

    init(_ url: RTSPURL, settings: Settings, findings: SourceFindings) {
        self.url = url
        self.settings = settings
        self.findings = findings
    }

    /// Connects to the camera, at `target` after a redirection. `whenResolved` is called between look-up and
    /// connection.
    mutating func connect(
        _ target: RTSPURL, isTunnelled: Bool, control: SourceControl, random: inout RandomSource,
        whenResolved: () -> Void = {}
    ) -> Outcome {
        let port = isTunnelled ? RTSPTunnel.port(of: target) : target.port
        let addresses: [TransportAddress]
        let found = control.resolve {
            CameraSocket.lookUp(host: target.host, port: port, mayHoldPassword: target.mayHoldPassword)
        }
        switch found {
        case .notBegun: return .stopped
        case .abandoned: return .abandoned
        case .found(.failure(let error)): return .failed(error)
        case .found(.success(let list)):
            addresses = Redirection.followed(list, to: target, from: url, at: home)
        }
        if addresses.isEmpty {
            return .failed(CameraUnreachable(answer: .redirectionRefused(to: "\(target)", .ownHost)))
        }
        whenResolved()
        var failure = CameraUnreachable("no address")
        for address in addresses where !control.isStopping {
            do throws(CameraUnreachable) {
                let connection = try open(
                    target, at: address, isTunnelled: isTunnelled, control: control, random: &random)
                if target.host == url.host { home = address }
                if connection.hasTakenDigest { findings.recordDigest() }
                return .connected(connection)
            } catch {
                failure = error
            }
        }
        return control.isStopping ? .stopped : .failed(failure)
    }

    private func open(
        _ target: RTSPURL, at address: TransportAddress, isTunnelled: Bool, control: SourceControl,
        random: inout RandomSource
    ) throws(CameraUnreachable) -> CameraConnection {
        try CameraConnection.open(
            target, at: address, isTunnelled: isTunnelled, timeout: settings.connectTimeout, control: control,
            random: &random, refusesBasic: { refusesBasic(target) }
        ) { (fingerprint: String?) throws(CameraUnreachable) in
            guard let fingerprint else { return }
            if let pin = settings.certificateFingerprint, !pin.isSameFingerprint(as: fingerprint) {
                throw CameraUnreachable(
                    "the camera's certificate is not the one that the config names; its fingerprint is \(fingerprint)",
                    cause: .insecure)
            }
            if let earlier = findings.profile.certificateFingerprint, earlier != fingerprint {
                findings.use { $0.earlierCertificateFingerprint = earlier }
            }
            findings.learn { $0.certificateFingerprint = fingerprint }
        }
    }
}

extension CameraDialer {
    /// Whether the password itself must not be sent there.
    private func refusesBasic(_ target: RTSPURL) -> Bool {
        settings.refusesBasic && !target.isSecure || findings.refusesBasic(isSecure: target.isSecure)
    }

    /// The settings of the RTSP client for the next session at `target`: it begins with what is known about the camera.
    func clientConfiguration(for target: RTSPURL) -> RTSPClient.Configuration {
        let profile = findings.profile
        let refusedSchemes = findings.logins.withLock { $0.refusedSchemes }
        var configuration = RTSPClient.Configuration()
        configuration.answerTimeout = settings.answerTimeout
        configuration.keepAlive = settings.keepAlive ?? profile.keepAlive
        configuration.isKeepAlivePinned = settings.keepAlive != nil
        configuration.avoidedKeepAlives = profile.avoidedKeepAlives
        configuration.avoidedSchemes = refusedSchemes
        configuration.refusesBasic = refusesBasic(target)
        configuration.prefersBasic = profile.quirks.contains(.brokenDigest) && !refusedSchemes.contains(.basic)
        return configuration
    }

    /// Why `target` refused the credentials, where a redirection led there.
    func reason(_ reason: CameraFailure, ofRefusalAt target: RTSPURL) -> CameraFailure {
        target.credentials == nil && url.credentials != nil ? .passwordWithheld(address: "\(target)") : reason
    }
}

extension SourceFindings {
    /// Records how the camera has accepted the credentials, once it has described itself.
    func learnLogin(from client: borrowing RTSPClient) {
        guard let authentication = client.authenticationInUse else { return }
        logins.withLock { $0.succeed() }
        let avoidsDigest = client.avoidsDigest
        learn { profile in
            profile.authentication = authentication
            guard authentication == "Basic" else {
                profile.quirks.remove(.brokenDigest)
                return
            }
            if avoidsDigest { profile.quirks.insert(.brokenDigest) }
        }
        if authentication != "Basic" { recordDigest() }
    }
}

extension String {
    /// Whether two fingerprints are the same, with or without colons and in either case.
    func isSameFingerprint(as other: String) -> Bool {
        let digits = { (text: String) in text.lowercased().filter { $0 != ":" && $0 != " " } }
        return digits(self) == digits(other)
    }
}
