import COpenSSL

/// Why TLS with a server failed, in OpenSSL's words.
public struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    public var description: String

    /// Names the reason.
    public init(_ description: String) { self.description = description }
}

/// The client's side of TLS 1.2 or 1.3 with a server whose certificate has to be valid for its name. It does no I/O: the
/// caller moves encrypted bytes in and out.
///
/// A camera's certificate is not verified, so cameras have a client of their own.
public final class TLSClient {
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    /// Bytes from the server, still encrypted.
    private let incoming: OpaquePointer
    /// Bytes for the server, already encrypted.
    private let outgoing: OpaquePointer
    /// Whether the handshake is complete, and the certificate has been accepted.
    public private(set) var isEstablished = false
    /// Whether the server has ended the connection in order.
    public private(set) var isClosed = false

    /// Begins a handshake.
    /// - Parameters:
    ///   - serverName: the name or address that the certificate has to be for.
    ///   - authorities: a PEM file with the authorities to trust; nil for those of the system.
    public init(serverName: String, authorities: String? = nil) throws(TLSFailure) {
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw Self.failure() }
        guard let ssl = Self.makeConnection(context, authorities: authorities) else {
            let failure = Self.failure()
            SSL_CTX_free(context)
            throw failure
        }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()),
            Self.setName(serverName, of: ssl)
        else {
            let failure = Self.failure()
            SSL_free(ssl)
            SSL_CTX_free(context)
            throw failure
        }
        self.context = context
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        SSL_set_verify(ssl, SSL_VERIFY_PEER, nil)
        // An empty memory BIO means "nothing yet", not the end of the connection.
        BIO_ctrl(incoming, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        BIO_ctrl(outgoing, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_connect_state(ssl)
        _ = try advance()
    }

    deinit {
        // The BIOs belong to the connection.
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    /// Handles encrypted bytes from the server, and passes what they hold to `body`, in pieces of at most 16 KiB.
    public func handle(
        _ encrypted: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(TLSFailure) {
        guard encrypted.count > 0 else { return }
        guard BIO_write(incoming, encrypted.baseAddress, Int32(clamping: encrypted.count)) == encrypted.count else {
            throw TLSFailure("no memory")
        }
        guard try advance() else { return }
        let failure: TLSFailure? = withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer in
            while true {
                ERR_clear_error()
                let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
                if count > 0 {
                    body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<Int(count)]))
                    continue
                }
                switch SSL_get_error(ssl, count) {
                case SSL_ERROR_WANT_READ: return nil
                case SSL_ERROR_ZERO_RETURN:
                    isClosed = true
                    return nil
                default: return Self.failure()
                }
            }
        }
        if let failure { throw failure }
    }

    /// Encrypts bytes for the server, once ``isEstablished``. Nothing here bounds what waits for
    /// ``pollTransmit(into:)``.
    public func send(_ bytes: UnsafeRawBufferPointer) throws(TLSFailure) {
        guard isEstablished, bytes.count > 0 else { return }
        ERR_clear_error()
        // A memory BIO takes everything.
        guard SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count)) == bytes.count else {
            throw Self.failure()
        }
    }

    /// Writes encrypted bytes for the server into `buffer` and returns how many; nil when there are none.
    public func pollTransmit(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard BIO_ctrl_pending(outgoing) > 0 else { return nil }
        let count = Int(BIO_read(outgoing, buffer.baseAddress, Int32(clamping: buffer.count)))
        return count > 0 ? count : nil
    }

    /// Continues the handshake; true when it is complete.
    private func advance() throws(TLSFailure) -> Bool {
        if isEstablished { return true }
        ERR_clear_error()
        let status = SSL_do_handshake(ssl)
        if status == 1 {
            isEstablished = true
            return true
        }
        guard SSL_get_error(ssl, status) == SSL_ERROR_WANT_READ else {
            let verdict = SSL_get_verify_result(ssl)
            guard verdict == Int(X509_V_OK) else {
                throw TLSFailure(
                    "its certificate is refused: \(String(cString: X509_verify_cert_error_string(verdict)))")
            }
            throw Self.failure()
        }
        return false
    }

    private static func makeConnection(_ context: OpaquePointer, authorities: String?) -> OpaquePointer? {
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        if let authorities {
            guard SSL_CTX_load_verify_file(context, authorities) == 1 else { return nil }
        } else if SSL_CTX_set_default_verify_paths(context) != 1 {
            return nil
        }
        return SSL_new(context)
    }

    /// The name that the certificate has to be for, which the server also learns (RFC 6066, section 3) unless it is an
    /// address.
    private static func setName(_ name: String, of ssl: OpaquePointer) -> Bool {
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1 { return true }
        ERR_clear_error()
        guard SSL_set1_host(ssl, name) == 1 else { return false }
        return name.withCString {
            SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), UnsafeMutableRawPointer(mutating: $0)
            )
        } == 1
    }

    private static func failure() -> TLSFailure {
        let code = ERR_peek_last_error()
        guard code != 0 else { return TLSFailure("no reason given") }
        var text = [CChar](repeating: 0, count: 160)
        ERR_error_string_n(code, &text, text.count)
        let message = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return TLSFailure(message.split(separator: ":").last.map(String.init) ?? message)
    }
}

@available(*, unavailable)
extension TLSClient: Sendable {}
