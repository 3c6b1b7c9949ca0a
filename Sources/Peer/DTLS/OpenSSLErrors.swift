import COpenSSL

/// OpenSSL's queue of errors, which belongs to the calling thread.
enum OpenSSLErrors {
    /// The reason of the oldest error, which is the cause of the others; empties the queue.
    static func takeReason() -> String? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        return "error \(String(code, radix: 16))"
    }

    /// An error for a call that failed.
    static func failure(of call: String) -> DTLSError {
        .cryptographicFailure(takeReason().map { "\(call): \($0)" } ?? call)
    }
}
