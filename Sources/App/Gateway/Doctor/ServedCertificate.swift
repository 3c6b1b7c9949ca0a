import COpenSSL
import DatagramPort
import Foundation
import Glibc
import Transport

/// The certificate that a server shows, whoever has signed it.
struct ServedCertificate: Sendable, Equatable {
    /// Since when it is valid.
    var begin: Date
    /// Until when it is valid.
    var end: Date
    /// Whether it is for the name that the server was asked by.
    var coversName: Bool
    /// Why this machine does not trust it, in OpenSSL's words; nil if it does.
    var distrust: String?

    /// The reason why no certificate was seen.
    struct Failure: Error, Hashable, Sendable {
        /// The reason, for people.
        var reason: String
    }

    /// Connects to a server and reads its certificate. Nothing is sent but the handshake of TLS. It blocks, so it belongs on
    /// a thread of its own.
    /// - Parameter name: the name or the address that the certificate should be for. The server learns a name (RFC 6066,
    ///   section 3).
    static func look(
        at address: TransportAddress, name: String, within limit: Duration
    ) throws(Failure) -> ServedCertificate {
        try CertificateLook(address, name: name, patience: limit).run(until: MonotonicClock.now + limit)
    }
}

/// One connection that is opened to see a certificate.
private final class CertificateLook {
    private typealias Failure = ServedCertificate.Failure

    /// How often one turn reads.
    private static let readsPerTurn = 16

    private let name: String
    private let socket: TCPSocket
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    /// Bytes from the server, still encrypted.
    private let incoming: OpaquePointer
    /// Bytes for the server, already encrypted.
    private let outgoing: OpaquePointer
    private var output: [UInt8] = []
    private var isClosed = false

    init(_ address: TransportAddress, name: String, patience: Duration) throws(ServedCertificate.Failure) {
        self.name = name
        do throws(SystemCallError) {
            socket = try TCPSocket.connect(to: address, patience: patience, unsent: 16 << 10, sendBuffer: 64 << 10)
        } catch {
            throw Failure(reason: Self.words(error.errorNumber))
        }
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw Self.failure() }
        guard let ssl = SSL_new(context) else {
            let failure = Self.failure()
            SSL_CTX_free(context)
            throw failure
        }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
            let failure = Self.failure()
            SSL_free(ssl)
            SSL_CTX_free(context)
            throw failure
        }
        self.context = context
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        // A certificate that is not trusted is seen, too. What this machine thinks of it is asked afterwards.
        SSL_set_verify(ssl, SSL_VERIFY_NONE, nil)
        _ = SSL_CTX_set_default_verify_paths(context)
        // An empty memory BIO means "nothing yet", not the end of the connection.
        BIO_ctrl(incoming, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        BIO_ctrl(outgoing, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_connect_state(ssl)
        guard TransportAddress(name, port: 1) == nil else { return }
        _ = name.withCString {
            SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), UnsafeMutableRawPointer(mutating: $0)
            )
        }
    }

    deinit {
        // The BIOs belong to the connection.
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    func run(until deadline: Instant) throws(ServedCertificate.Failure) -> ServedCertificate {
        var isConnected = false
        while true {
            let left = deadline - MonotonicClock.now
            guard left > .zero else { throw Failure(reason: "no answer") }
            let events = !isConnected ? POLLOUT : output.isEmpty ? POLLIN : POLLIN | POLLOUT
            var entry = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
            guard poll(&entry, 1, Int32(clamping: left.wholeNanoseconds / 1_000_000 + 1)) > 0 else { continue }
            if !isConnected {
                let error = socket.connectionError
                guard error == 0 else { throw Failure(reason: Self.words(error)) }
                isConnected = true
            }
            if try advance() { return try certificate() }
        }
    }

    /// Continues the handshake; true when it is complete.
    private func advance() throws(ServedCertificate.Failure) -> Bool {
        try read()
        ERR_clear_error()
        let status = SSL_do_handshake(ssl)
        if status == 1 {
            // So that the server's log holds no broken handshake. The certificate is known whatever comes of it.
            try? write()
            return true
        }
        guard SSL_get_error(ssl, status) == SSL_ERROR_WANT_READ else { throw Self.failure() }
        if isClosed { throw Failure(reason: "the connection was closed before a certificate came") }
        try write()
        return false
    }

    private func read() throws(ServedCertificate.Failure) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        for _ in 0..<Self.readsPerTurn {
            switch buffer.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
            case .bytes(let count):
                guard BIO_write(incoming, buffer, Int32(clamping: count)) == count else { throw Self.failure() }
            case .wouldBlock: return
            case .closed:
                isClosed = true
                return
            case .failed(let error): throw Failure(reason: Self.words(error))
            }
        }
    }

    private func write() throws(ServedCertificate.Failure) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while BIO_ctrl_pending(outgoing) > 0 {
            let count = BIO_read(outgoing, &buffer, Int32(buffer.count))
            guard count > 0 else { break }
            output += buffer[..<Int(count)]
        }
        while !output.isEmpty {
            switch output.withUnsafeBytes({ socket.send($0) }) {
            case .bytes(let count): output.removeFirst(count)
            case .wouldBlock: return
            case .closed: throw Failure(reason: "the connection was closed")
            case .failed(let error): throw Failure(reason: Self.words(error))
            }
        }
    }

    private func certificate() throws(ServedCertificate.Failure) -> ServedCertificate {
        guard let certificate = SSL_get1_peer_certificate(ssl) else {
            throw Failure(reason: "the server presents no certificate")
        }
        defer { X509_free(certificate) }
        var begin = tm()
        var end = tm()
        ASN1_TIME_to_tm(X509_get0_notBefore(certificate), &begin)
        ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end)
        let coversName =
            TransportAddress(name, port: 1) == nil
            ? X509_check_host(certificate, name, name.utf8.count, 0, nil) == 1
            : X509_check_ip_asc(certificate, name, 0) == 1
        let verdict = SSL_get_verify_result(ssl)
        return ServedCertificate(
            begin: Date(timeIntervalSince1970: TimeInterval(timegm(&begin))),
            end: Date(timeIntervalSince1970: TimeInterval(timegm(&end))), coversName: coversName,
            distrust: verdict == Int(X509_V_OK) ? nil : String(cString: X509_verify_cert_error_string(verdict)))
    }

    private static func words(_ errorNumber: Int32) -> String { String(cString: strerror(errorNumber)).lowercased() }

    private static func failure() -> ServedCertificate.Failure {
        let code = ERR_peek_last_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else {
            return Failure(reason: "TLS failed without a reason")
        }
        return Failure(reason: "TLS failed: \(String(cString: reason))")
    }
}
