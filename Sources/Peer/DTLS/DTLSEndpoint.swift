import COpenSSL
import Glibc
import SRTP
import Transport

/// One side of a DTLS 1.2 handshake that provides the keys of SRTP (RFC 5763, RFC 5764, RFC 6347).
///
/// Its input is datagrams and the time; its output is datagrams and its next deadline. After each call with input,
/// drain ``pollTransmit(into:)``.
///
///     handshaking ──▶ connected ──▶ closed
///          └────────▶ failed
///
/// OpenSSL's connection, about 75 KiB, is freed as soon as the handshake ends. The endpoint keeps the keys, including
/// those of the record layer. The side that sent last also keeps the bytes of its last flight: the peer repeats its own
/// flight until those arrive (RFC 6347, section 4.2.4). Application data goes through ``seal(_:into:)`` and ``open(_:)``;
/// media never comes as such.
public struct DTLSEndpoint: ~Copyable {
    /// Which side starts the handshake.
    public enum Role: Sendable {
        /// Sends the ClientHello: `a=setup:active`.
        case client
        /// Waits for it: `a=setup:passive`.
        case server
    }

    /// The state of the handshake.
    public enum State: Hashable, Sendable {
        /// In progress, or not started.
        case handshaking
        /// Complete, with ``DTLSEndpoint/keyingMaterial`` where profiles were given.
        case connected
        /// Failed, without keys. The endpoint does nothing more, but may have an alert to send.
        case failed(DTLSError)
        /// Ended by either side after it was connected.
        case closed
    }

    /// Which side this is.
    public let role: Role
    /// What belongs to each state.
    private enum Stage {
        case handshaking(Handshake)
        case connected(Association)
        case failed(DTLSError)
        case closed(SRTPKeyingMaterial?)
    }

    private struct Handshake {
        let connection: OpenSSLConnection
        /// When the last flight is repeated; nil before the first one.
        var deadline: Instant?
        var patience = DTLSEndpoint.firstPatience
    }

    /// What is left of a handshake that succeeded.
    private struct Association {
        /// Nil where no keys for media were agreed on.
        let keyingMaterial: SRTPKeyingMaterial?
        var records: RecordProtection?
        var lastFlight: LastFlight?
    }

    /// How often a flight has been repeated.
    public private(set) var retransmissions = 0

    private let pipe: DatagramPipe
    private var stage: Stage
    /// Whether a handshake without an SRTP profile fails.
    private let needsProfile: Bool

    /// How long the first flight waits for an answer. RFC 6347 recommends a second, for unknown paths. Here ICE has
    /// just measured a round trip on the path, and a lost datagram should not cost a viewer a second of black.
    static let firstPatience = Duration.milliseconds(100)
    /// Each repetition doubles the wait, to at most this.
    static let longestPatience = Duration.milliseconds(3_200)
    /// After this many repetitions without a complete answer, about 22 seconds, the handshake fails.
    static let retransmissionLimit = 10

    /// Makes an endpoint that expects a certificate with one of `remoteFingerprints`.
    ///
    /// - Parameters:
    ///   - maximumDatagramSize: what the path carries in one datagram, without the IP and UDP headers, in bytes.
    ///   - profiles: what this side supports, the preferred one first. The server's order decides. As the server,
    ///     Chromium prefers AES-CM, so a client that wants AES-GCM from it offers nothing else.
    ///   - needsProfile: whether the handshake fails if there is no common profile; false for a connection with data
    ///     channels alone, whose peer may not support SRTP.
    public init(
        identity: DTLSIdentity, role: Role, remoteFingerprints: [DTLSFingerprint], now: Instant,
        maximumDatagramSize: Int = 1200,
        profiles: [SRTPProfile] = [.aeadAES128GCM, .aes128CMHMACSHA1_80], needsProfile: Bool = true
    ) throws(DTLSError) {
        guard !remoteFingerprints.isEmpty else { throw .noUsableFingerprint }
        guard !profiles.isEmpty else { throw .noCommonSRTPProfile }
        let size = min(max(maximumDatagramSize, 256), 16_384)
        let pipe = DatagramPipe(maximumDatagramSize: size, remoteFingerprints: remoteFingerprints)
        guard let pointer = identity.context.makeConnection() else { throw OpenSSLErrors.failure(of: "SSL_new") }
        let connection = OpenSSLConnection(pointer, pipe: pipe)
        guard let bio = pipe.makeBIO() else { throw OpenSSLErrors.failure(of: "BIO_new") }
        SSL_set_bio(pointer, bio, bio)
        // This call returns 0 for success.
        guard SSL_set_tlsext_use_srtp(pointer, profiles.map(\.openSSLName).joined(separator: ":")) == 0 else {
            throw OpenSSLErrors.failure(of: "SSL_set_tlsext_use_srtp")
        }
        _ = SSL_ctrl(pointer, SSL_CTRL_SET_MTU, size, nil)
        DTLS_set_timer_cb(pointer) { _, previous in
            if DatagramPipe.rulesOpenSSLTimer { return .max }
            return previous == 0 ? 100_000 : min(previous &* 2, 3_200_000)
        }
        switch role {
        case .client: SSL_set_connect_state(pointer)
        case .server: SSL_set_accept_state(pointer)
        }
        self.role = role
        self.pipe = pipe
        self.needsProfile = needsProfile
        stage = .handshaking(Handshake(connection: connection))
    }

    /// The state of the handshake.
    public var state: State {
        switch stage {
        case .handshaking: .handshaking
        case .connected: .connected
        case .failed(let error): .failed(error)
        case .closed: .closed
        }
    }

    /// The keys for SRTP, available once ``state`` is connected; the peer's fingerprint has been verified by then. They
    /// stay when the connection is closed.
    public var keyingMaterial: SRTPKeyingMaterial? {
        switch stage {
        case .connected(let association): association.keyingMaterial
        case .closed(let material): material
        case .handshaking, .failed: nil
        }
    }

    /// Makes a client's first flight. For a server it does nothing.
    public mutating func start(at now: Instant) {
        guard role == .client, pipe.pendingOutput == 0, case .handshaking(let handshake) = stage,
            handshake.deadline == nil
        else { return }
        do throws(DTLSError) {
            try advance(handshake, at: now)
        } catch {
            // The state reports it.
        }
    }

    /// Handles one datagram from the peer. The caller has distinguished it from STUN and SRTP by its first byte (RFC
    /// 7983).
    ///
    /// A datagram that is not DTLS, or does not belong to the handshake, is dropped.
    /// - Throws: why the handshake has just failed; ``state`` has the same reason from then on.
    public mutating func handle(_ datagram: UnsafeRawBufferPointer, at now: Instant) throws(DTLSError) {
        guard let header = DTLSRecordHeader(datagram) else { return }
        switch stage {
        case .handshaking(let handshake):
            pipe.input = datagram
            defer { pipe.input = nil }
            try advance(handshake, at: now)
        case .connected(var association):
            switch header.type {
            case .handshake, .changeCipherSpec: repeatLastFlight(of: &association, at: now)
            case .alert:
                // Only an authentic alert counts. A plain-text alert never is.
                let alert = association.records?.open(alert: datagram)
                stage = alert?.ends == true ? .closed(association.keyingMaterial) : .connected(association)
            // The caller asks for it by `open(_:)`.
            case .applicationData: break
            }
        case .failed, .closed:
            break
        }
    }

    /// Ends the connection and notifies the peer, which otherwise would notice only when its consent checks go
    /// unanswered.
    ///
    /// The notice is one datagram, which can be lost. It is not repeated.
    public mutating func close() {
        switch stage {
        case .connected(var association):
            if let record = association.records?.seal(.closeNotify) { record.withUnsafeBytes { pipe.append($0) } }
            stage = .closed(association.keyingMaterial)
        case .handshaking:
            pipe.discardOutput()
            stage = .closed(nil)
        case .failed, .closed: break
        }
    }

    /// Repeats the last flight when it was not answered in time.
    ///
    /// - Throws: an error that says that the peer stayed silent, after the last repetition.
    public mutating func handleDeadline(at now: Instant) throws(DTLSError) {
        switch stage {
        case .handshaking(let handshake):
            if let deadline = handshake.deadline, now >= deadline { try repeatFlight(of: handshake, at: now) }
        case .connected(var association):
            guard let flight = association.lastFlight, now >= flight.expiry else { return }
            association.lastFlight = nil
            stage = .connected(association)
        case .failed, .closed:
            break
        }
    }

    private mutating func repeatFlight(of handshake: Handshake, at now: Instant) throws(DTLSError) {
        guard retransmissions < Self.retransmissionLimit else {
            throw fail(.timedOut(retransmissions: retransmissions))
        }
        ERR_clear_error()
        pipe.expireTimer()
        let result = SSL_ctrl(handshake.connection.pointer, DTLS_CTRL_HANDLE_TIMEOUT, 0, nil)
        guard result >= 0 else {
            throw fail(.handshakeFailed(OpenSSLErrors.takeReason() ?? "the timeout could not be handled"))
        }
        // This counts even if OpenSSL's clock is late and nothing was sent, so the handshake ends in any case.
        retransmissions += 1
        var next = handshake
        next.patience = min(handshake.patience * 2, Self.longestPatience)
        next.deadline = now + next.patience
        stage = .handshaking(next)
    }

    /// When ``handleDeadline(at:)`` has something to do.
    public var nextDeadline: Instant? {
        switch stage {
        case .handshaking(let handshake): handshake.deadline
        case .connected(let association): association.lastFlight?.expiry
        case .failed, .closed: nil
        }
    }

    /// Whether nothing waits to be sent. Inputs may come nevertheless: a flight waits until ICE has proved an address.
    public var isDrained: Bool { pipe.pendingOutput == 0 }

    /// Writes the next datagram into `datagram`. It has at most the size that was given to `init`.
    ///
    /// - Returns: its length; nil when there is nothing more to send.
    public mutating func pollTransmit(into datagram: UnsafeMutableRawBufferPointer) -> Int? {
        pipe.pendingOutput == 0 ? nil : pipe.takeDatagram(into: datagram)
    }
}

// MARK: - Application data

extension DTLSEndpoint {
    /// What a record adds to its plain text, in bytes.
    public static let recordOverhead = RecordProtection.overhead

    /// Whether a datagram is a record of application data.
    public static func isApplicationData(_ datagram: UnsafeRawBufferPointer) -> Bool {
        datagram.first == DTLSRecordHeader.ContentType.applicationData.rawValue
    }

    /// Writes a record of application data into `datagram`.
    /// - Returns: its length; nil if the connection is not up, or the data does not fit.
    public mutating func seal(
        _ data: UnsafeRawBufferPointer, into datagram: UnsafeMutableRawBufferPointer
    ) -> Int? {
        withRecords { $0.seal(data: data, into: datagram) }
    }

    /// Decrypts, in place, the record of application data at the beginning of a datagram. A deviation from RFC 6347,
    /// section 4.1.1: further records of the datagram are ignored. WebRTC's peers send one packet of SCTP in a datagram (RFC
    /// 8261, section 5), and SCTP would repeat one that was lost.
    /// - Returns: where the data is; nil if the record is not authentic, or has come before.
    public mutating func open(_ datagram: UnsafeMutableRawBufferPointer) -> Range<Int>? {
        withRecords { $0.open(data: datagram) }
    }

    private mutating func withRecords<Value>(_ body: (inout RecordProtection) -> Value?) -> Value? {
        guard case .connected(var association) = stage, var records = association.records else { return nil }
        let value = body(&records)
        association.records = records
        stage = .connected(association)
        return value
    }
}

// MARK: - The handshake

extension DTLSEndpoint {
    private mutating func advance(_ handshake: Handshake, at now: Instant) throws(DTLSError) {
        let connection = handshake.connection.pointer
        ERR_clear_error()
        pipe.hasTimerStarted = false
        let outputBefore = pipe.pendingOutput
        let result = SSL_do_handshake(connection)
        if result == 1 {
            return try finish(connection, lastFlight: pipe.output(after: outputBefore), at: now)
        }
        guard SSL_get_error(connection, result) == SSL_ERROR_WANT_READ else {
            throw fail(handshakeError())
        }
        var remaining = timeval()
        var next = handshake
        if SSL_ctrl(connection, DTLS_CTRL_GET_TIMEOUT, 0, &remaining) == 0 {
            next.deadline = nil
        } else if pipe.hasTimerStarted || handshake.deadline == nil {
            next.patience = Self.firstPatience
            next.deadline = now + next.patience
        }
        stage = .handshaking(next)
    }

    private mutating func finish(
        _ connection: OpaquePointer, lastFlight flight: [UInt8], at now: Instant
    ) throws(DTLSError) {
        // The callback has already refused any other certificate. This check is a second safeguard.
        guard pipe.isFingerprintVerified else { throw fail(.fingerprintMismatch) }
        stage = .connected(
            Association(
                keyingMaterial: try exportKeys(connection),
                records: RecordProtection(connection: connection, isClient: role == .client),
                lastFlight: flight.isEmpty ? nil : LastFlight(records: flight, at: now)))
    }

    private mutating func exportKeys(_ connection: OpaquePointer) throws(DTLSError) -> SRTPKeyingMaterial? {
        guard let selected = SSL_get_selected_srtp_profile(connection),
            let profile = SRTPProfile(rawValue: UInt16(truncatingIfNeeded: selected.pointee.id))
        else {
            guard needsProfile else { return nil }
            throw fail(.noCommonSRTPProfile)
        }
        let label = "EXTRACTOR-dtls_srtp"
        var exported = [UInt8](repeating: 0, count: SRTPKeyingMaterial.exportedLength(of: profile))
        guard
            SSL_export_keying_material(connection, &exported, exported.count, label, label.utf8.count, nil, 0, 0) == 1,
            let material = SRTPKeyingMaterial(profile: profile, exported: exported, isClient: role == .client)
        else { throw fail(OpenSSLErrors.failure(of: "SSL_export_keying_material")) }
        return material
    }

    private mutating func fail(_ error: DTLSError) -> DTLSError {
        stage = .failed(error)
        return error
    }

    private func handshakeError() -> DTLSError {
        let code = ERR_peek_error()
        let reason = OpenSSLErrors.takeReason() ?? "no reason given"
        // OpenSSL reports a certificate that the fingerprint callback refused as a failed verification.
        if code & 0x7F_FFFF == UInt(SSL_R_CERTIFICATE_VERIFY_FAILED) { return .fingerprintMismatch }
        return .handshakeFailed(reason)
    }

    private mutating func repeatLastFlight(of association: inout Association, at now: Instant) {
        guard pipe.pendingOutput == 0, let records = association.lastFlight?.take(at: now) else { return }
        stage = .connected(association)
        retransmissions += 1
        records.withUnsafeBytes { pipe.append($0) }
    }
}

/// OpenSSL's connection, freed with its last owner: the handshake that ends.
private final class OpenSSLConnection {
    let pointer: OpaquePointer
    /// OpenSSL calls it while the connection is freed.
    private let pipe: DatagramPipe

    init(_ pointer: OpaquePointer, pipe: DatagramPipe) {
        self.pointer = pointer
        self.pipe = pipe
    }

    deinit {
        SSL_free(pointer)
    }
}

// Proof for @unchecked: the endpoint cannot be copied, and its pipe and `OpenSSLConnection` never leave it. Only mutating
// methods change them, and these need exclusive access. The context is shared, and is safe to share. So the value may
// move between threads.
extension DTLSEndpoint: @unchecked Sendable {}
