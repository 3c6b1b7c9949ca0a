import COpenSSL
import DatagramPort
import Glibc
import HTTPMedia
import RTSP

/// The client's side of TLS on a camera's connection, between two buffers: the caller moves the socket's bytes in and
/// out, so nothing here blocks.
///
/// **Why the certificate is not verified.** A camera signs its certificate itself, for an address that changes, with a
/// clock that may be in 1970. Verification against the public authorities would refuse every one of them. What remains
/// is to recognize the camera: its fingerprint is recorded at the first connection, and a later one that differs is
/// reported (``RTSPTransportInUse/earlierCertificateFingerprint`` and the source's notes). A fingerprint that the
/// config names must match; otherwise no session starts and the password is never sent. Without such a pin TLS keeps
/// out eavesdroppers, but not an attacker in the middle of the first connection.
///
/// For the same reason old protocol versions and short keys are accepted: the alternative is no encryption.
final class TLSClient {
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    /// Bytes from the camera, still encrypted.
    private let incoming: OpaquePointer
    /// Bytes for the camera, already encrypted.
    private let outgoing: OpaquePointer
    /// How often one call reads from the socket. A camera can send messages without end that OpenSSL reads and drops; the
    /// owner looks at its deadline between calls.
    private static let maximumFills = 16
    private var pending: [UInt8] = []
    private var pendingOffset = 0

    /// Nil where libssl has no memory left.
    init?(serverName: String) {
        guard let context = SSL_CTX_new(TLS_client_method()) else { return nil }
        guard let ssl = SSL_new(context), let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem())
        else {
            SSL_CTX_free(context)
            return nil
        }
        self.context = context
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        SSL_set_verify(ssl, SSL_VERIFY_NONE, nil)
        SSL_set_security_level(ssl, 0)
        // An empty memory BIO means "nothing yet", not the end of the connection.
        BIO_ctrl(incoming, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        BIO_ctrl(outgoing, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_connect_state(ssl)
        // The server name (RFC 6066, section 3) is a name, never an address.
        if !serverName.contains(":"), serverName.contains(where: \.isLetter) {
            _ = serverName.withCString { name in
                SSL_ctrl(
                    ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                    UnsafeMutableRawPointer(mutating: name))
            }
        }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    /// Whether encrypted bytes wait for the socket.
    var hasPendingOutput: Bool { pendingOffset < pending.count }

    /// Continues the handshake; true when it is complete.
    func handshake(_ descriptor: Int32) throws(CameraUnreachable) -> Bool {
        var fills = 0
        while true {
            ERR_clear_error()
            let status = SSL_do_handshake(ssl)
            let reason = SSL_get_error(ssl, status)
            if case .failed(let number) = flush(descriptor) {
                throw CameraUnreachable("the connection was lost during the TLS handshake", errorNumber: number)
            }
            if status == 1 { return true }
            guard reason == SSL_ERROR_WANT_READ else {
                throw CameraUnreachable("the TLS handshake failed: \(Self.lastError())", cause: .insecure)
            }
            if fills == Self.maximumFills { return false }
            fills += 1
            switch fill(descriptor) {
            case .bytes: continue
            case .wouldBlock: return false
            case .closed:
                throw CameraUnreachable("the camera closed the connection in the TLS handshake", cause: .insecure)
            case .failed(let number):
                throw CameraUnreachable("the connection was lost during the TLS handshake", errorNumber: number)
            }
        }
    }

    /// Reads what has arrived.
    func receive(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> CameraSocket.Outcome {
        guard buffer.count > 0 else { return .wouldBlock }
        var fills = 0
        while true {
            ERR_clear_error()
            let count = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
            if count > 0 { return .bytes(Int(count)) }
            let reason = SSL_get_error(ssl, count)
            // An answer to a key update, for example, leaves bytes to send.
            if case .failed(let number) = flush(descriptor) { return .failed(number) }
            switch reason {
            case SSL_ERROR_ZERO_RETURN: return .closed
            case SSL_ERROR_WANT_READ: break
            default: return .failed(EPROTO)
            }
            if fills == Self.maximumFills { return .wouldBlock }
            fills += 1
            let outcome = fill(descriptor)
            guard case .bytes = outcome else { return outcome }
        }
    }

    /// Accepts bytes to send; none while earlier ones still wait.
    func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> CameraSocket.Outcome {
        if case .failed(let number) = flush(descriptor) { return .failed(number) }
        guard !hasPendingOutput, bytes.count > 0 else { return .wouldBlock }
        ERR_clear_error()
        let count = SSL_write(ssl, bytes.baseAddress, Int32(clamping: min(bytes.count, 16 * 1024)))
        guard count > 0 else {
            return SSL_get_error(ssl, count) == SSL_ERROR_WANT_READ ? .wouldBlock : .failed(EPROTO)
        }
        if case .failed(let number) = flush(descriptor) { return .failed(number) }
        return .bytes(Int(count))
    }

    /// Writes the waiting bytes to the socket.
    @discardableResult
    func flush(_ descriptor: Int32) -> CameraSocket.Outcome {
        while true {
            if pendingOffset == pending.count {
                let waiting = BIO_ctrl_pending(outgoing)
                guard waiting > 0 else { return .wouldBlock }
                pending = [UInt8](repeating: 0, count: min(waiting, 64 * 1024))
                pendingOffset = 0
                let count = BIO_read(outgoing, &pending, Int32(pending.count))
                guard count > 0 else {
                    pending.removeAll()
                    return .wouldBlock
                }
                pending.removeSubrange(Int(count)...)
            }
            let outcome = pending[pendingOffset...].withUnsafeBytes { TCPSocket.send($0, to: descriptor) }
            guard case .bytes(let count) = outcome else { return outcome }
            pendingOffset += count
        }
    }

    private func fill(_ descriptor: Int32) -> CameraSocket.Outcome {
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer in
            let outcome = TCPSocket.receive(from: descriptor, into: buffer)
            if case .bytes(let count) = outcome { BIO_write(incoming, buffer.baseAddress, Int32(count)) }
            return outcome
        }
    }

    /// The SHA-256 of the camera's certificate in hexadecimal with colons, as `openssl x509 -fingerprint` prints it.
    var certificateFingerprint: String? {
        guard let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
        defer { X509_free(certificate) }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(certificate, EVP_sha256(), &digest, &count) == 1 else { return nil }
        return digest.prefix(Int(count)).map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return text.count == 1 ? "0" + text : text
        }.joined(separator: ":")
    }

    private static func lastError() -> String {
        let code = ERR_peek_last_error()
        guard code != 0 else { return "no reason given" }
        var text = [CChar](repeating: 0, count: 160)
        ERR_error_string_n(code, &text, text.count)
        let message = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(message.split(separator: ":").last ?? "no reason given")
    }
}
