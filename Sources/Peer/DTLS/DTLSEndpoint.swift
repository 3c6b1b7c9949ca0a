import COpenSSL
import Glibc
import SRTP
import Transport

/// One side of a DTLS 1.2 handshake whose purpose is the keys of SRTP (RFC 5763, RFC 5764, RFC 6347).
///
/// It takes datagrams and the time, and gives datagrams and its next deadline. After each call that takes something,
/// drain ``pollTransmit(into:)``.
///
///     handshaking ──▶ connected ──▶ closed
///          └────────▶ failed
///
/// OpenSSL's connection, some 75 KiB, is freed in the moment that the handshake ends. What stays are the keys, those
/// of the record layer too, and, on the side that spoke last, the bytes of its last flight: the peer repeats its own
/// flight until those arrive (RFC 6347, section 4.2.4). Application data, which media never is, is dropped.
public struct DTLSEndpoint: ~Copyable {
    /// Which side begins.
    public enum Role: Sendable {
        /// Sends the ClientHello: `a=setup:active`.
        case client
        /// Waits for it: `a=setup:passive`.
        case server
    }

    /// Where the handshake stands.
    public enum State: Hashable, Sendable {
        /// Under way, or not begun.
        case handshaking
        /// Over, with ``DTLSEndpoint/keyingMaterial``.
        case connected
        /// Over, without. The endpoint does nothing any more, but may have an alert to send.
        case failed(DTLSError)
        /// Ended by either side after it was connected.
        case closed
    }

    /// Which side this is.
    public let role: Role
    /// Where the handshake stands.
    public private(set) var state = State.handshaking
    /// The keys for SRTP, from the moment that ``state`` is connected; the peer's fingerprint was verified then. They
    /// stay when the connection is closed.
    public private(set) var keyingMaterial: SRTPKeyingMaterial?
    /// How often a flight was repeated.
    public private(set) var retransmissions = 0

    private let pipe: DatagramPipe
    /// Nil once the handshake is over.
    private var connection: OpaquePointer?
    private var deadline: Instant?
    private var patience = Self.firstPatience
    private var lastFlight: LastFlight?
    private var alerts: AlertProtection?

    /// How long the first flight waits for an answer. RFC 6347 recommends a second, for unknown paths; here ICE has
    /// just measured the path with a round trip, and a lost datagram should not cost a viewer a second of black.
    static let firstPatience = Duration.milliseconds(100)
    /// Each repetition doubles the wait, to at most this.
    static let longestPatience = Duration.milliseconds(3_200)
    /// After so many repetitions without a whole answer, about 22 seconds, the handshake fails.
    static let retransmissionLimit = 10

    /// Makes an endpoint that expects a certificate with one of `remoteFingerprints`.
    ///
    /// - Parameters:
    ///   - maximumDatagramSize: what the path carries in one datagram, without the IP and UDP headers, in bytes.
    ///   - profiles: what this side can do, the preferred one first. The server's order decides. Chromium as the server
    ///     prefers AES-CM, so a client that wants AES-GCM from it offers nothing else.
    public init(
        identity: DTLSIdentity, role: Role, remoteFingerprints: [DTLSFingerprint], now: Instant,
        maximumDatagramSize: Int = 1200,
        profiles: [SRTPProfile] = [.aeadAES128GCM, .aes128CMHMACSHA1_80]
    ) throws(DTLSError) {
        guard !remoteFingerprints.isEmpty else { throw .noUsableFingerprint }
        guard !profiles.isEmpty else { throw .noCommonSRTPProfile }
        let size = min(max(maximumDatagramSize, 256), 16_384)
        let pipe = DatagramPipe(maximumDatagramSize: size, remoteFingerprints: remoteFingerprints)
        guard let connection = identity.context.makeConnection() else { throw OpenSSLErrors.failure(of: "SSL_new") }
        guard let bio = pipe.makeBIO() else {
            SSL_free(connection)
            throw OpenSSLErrors.failure(of: "BIO_new")
        }
        SSL_set_bio(connection, bio, bio)
        // This call answers 0 for success.
        guard SSL_set_tlsext_use_srtp(connection, profiles.map(\.openSSLName).joined(separator: ":")) == 0 else {
            SSL_free(connection)
            throw OpenSSLErrors.failure(of: "SSL_set_tlsext_use_srtp")
        }
        _ = SSL_ctrl(connection, SSL_CTRL_SET_MTU, size, nil)
        DTLS_set_timer_cb(connection) { _, previous in
            if DatagramPipe.rulesOpenSSLTimer { return .max }
            return previous == 0 ? 100_000 : min(previous &* 2, 3_200_000)
        }
        switch role {
        case .client: SSL_set_connect_state(connection)
        case .server: SSL_set_accept_state(connection)
        }
        self.role = role
        self.pipe = pipe
        self.connection = connection
    }

    deinit {
        if let connection { SSL_free(connection) }
    }

    /// Makes a client's first flight; a server waits, and nothing happens.
    public mutating func start(at now: Instant) {
        guard role == .client, connection != nil, deadline == nil, pipe.pendingOutput == 0 else { return }
        do throws(DTLSError) {
            try advance(at: now)
        } catch {
            // The state says it.
        }
    }

    /// Takes one datagram of the peer's, which the caller has told from STUN and SRTP by its first byte (RFC 7983).
    ///
    /// What is not DTLS, or does not belong to the handshake, is dropped.
    /// - Throws: why the handshake has just failed; ``state`` says the same from then on.
    public mutating func handle(_ datagram: UnsafeRawBufferPointer, at now: Instant) throws(DTLSError) {
        guard let header = DTLSRecordHeader(datagram) else { return }
        switch state {
        case .handshaking:
            pipe.input = datagram
            defer { pipe.input = nil }
            try advance(at: now)
        case .connected:
            switch header.type {
            case .handshake, .changeCipherSpec: repeatLastFlight(at: now)
            case .alert:
                // Only an authentic one counts, which a plain-text one never is.
                if let alert = alerts?.open(datagram), alert.ends { end() }
            case .applicationData: break
            }
        case .failed, .closed:
            break
        }
    }

    /// Ends the connection and tells the peer, which otherwise would find out when nobody answers its consent checks.
    ///
    /// The peer's word for it is one datagram, which can be lost; it is not repeated.
    public mutating func close() {
        switch state {
        case .connected:
            if let record = alerts?.seal(.closeNotify) { record.withUnsafeBytes { pipe.append($0) } }
            end()
        case .handshaking:
            pipe.discardOutput()
            end()
        case .failed, .closed: break
        }
    }

    /// Repeats the last flight when it was not answered in time.
    ///
    /// - Throws: that the peer stays silent, after the last repetition.
    public mutating func handleTimeout(at now: Instant) throws(DTLSError) {
        if let flight = lastFlight, now >= flight.expiry { lastFlight = nil }
        guard let connection, let deadline, now >= deadline else { return }
        guard retransmissions < Self.retransmissionLimit else {
            throw fail(.timedOut(retransmissions: retransmissions))
        }
        ERR_clear_error()
        pipe.expireTimer()
        let result = SSL_ctrl(connection, DTLS_CTRL_HANDLE_TIMEOUT, 0, nil)
        guard result >= 0 else {
            throw fail(.handshakeFailed(OpenSSLErrors.takeReason() ?? "the timeout could not be handled"))
        }
        // Counted even if OpenSSL's own clock runs behind and nothing was sent, so that the end comes in any case.
        retransmissions += 1
        patience = min(patience * 2, Self.longestPatience)
        self.deadline = now + patience
    }

    /// When ``handleTimeout(at:)`` has something to do.
    public func nextDeadline() -> Instant? {
        deadline ?? lastFlight?.expiry
    }

    /// Writes the next datagram, of at most the size that `init` was given, into `datagram`.
    ///
    /// - Returns: its length; nil when there is nothing more to send.
    public mutating func pollTransmit(into datagram: UnsafeMutableRawBufferPointer) -> Int? {
        pipe.pendingOutput == 0 ? nil : pipe.takeDatagram(into: datagram)
    }
}

// MARK: - The handshake

extension DTLSEndpoint {
    private mutating func advance(at now: Instant) throws(DTLSError) {
        guard let connection else { return }
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
        if SSL_ctrl(connection, DTLS_CTRL_GET_TIMEOUT, 0, &remaining) == 0 {
            deadline = nil
        } else if pipe.hasTimerStarted || deadline == nil {
            patience = Self.firstPatience
            deadline = now + patience
        }
    }

    private mutating func finish(
        _ connection: OpaquePointer, lastFlight flight: [UInt8], at now: Instant
    ) throws(DTLSError) {
        // The callback has refused any other certificate; this is the second lock on the same door.
        guard pipe.isFingerprintVerified else { throw fail(.fingerprintMismatch) }
        guard let selected = SSL_get_selected_srtp_profile(connection),
            let profile = SRTPProfile(rawValue: UInt16(truncatingIfNeeded: selected.pointee.id))
        else { throw fail(.noCommonSRTPProfile) }
        let label = "EXTRACTOR-dtls_srtp"
        var exported = [UInt8](repeating: 0, count: SRTPKeyingMaterial.exportedLength(of: profile))
        guard
            SSL_export_keying_material(connection, &exported, exported.count, label, label.utf8.count, nil, 0, 0) == 1,
            let material = SRTPKeyingMaterial(profile: profile, exported: exported, isClient: role == .client)
        else { throw fail(OpenSSLErrors.failure(of: "SSL_export_keying_material")) }
        keyingMaterial = material
        state = .connected
        deadline = nil
        alerts = AlertProtection(connection: connection, isClient: role == .client)
        if !flight.isEmpty { lastFlight = LastFlight(records: flight, at: now) }
        release()
    }

    private mutating func fail(_ error: DTLSError) -> DTLSError {
        state = .failed(error)
        deadline = nil
        lastFlight = nil
        release()
        return error
    }

    private func handshakeError() -> DTLSError {
        let code = ERR_peek_error()
        let reason = OpenSSLErrors.takeReason() ?? "no reason given"
        // OpenSSL reports what the fingerprint callback refused as a failed verification.
        if code & 0x7F_FFFF == UInt(SSL_R_CERTIFICATE_VERIFY_FAILED) { return .fingerprintMismatch }
        return .handshakeFailed(reason)
    }

    private mutating func end() {
        state = .closed
        deadline = nil
        lastFlight = nil
        alerts = nil
        release()
    }

    private mutating func release() {
        guard let connection else { return }
        SSL_free(connection)
        self.connection = nil
    }

    private mutating func repeatLastFlight(at now: Instant) {
        guard pipe.pendingOutput == 0, let records = lastFlight?.take(at: now) else { return }
        retransmissions += 1
        records.withUnsafeBytes { pipe.append($0) }
    }
}

// The connection and its pipe belong to this one value, which cannot be copied; only mutating methods change them, which
// need exclusive access. What is shared, the context, is safe to share. So the value may move between threads.
extension DTLSEndpoint: @unchecked Sendable {}
