import Transport

extension SignallingError {
    /// The seconds after which the same request may succeed, for `Retry-After` (RFC 9110, section 10.2.3); nil where that
    /// is not known.
    public var retryAfterSeconds: Int? {
        guard case .publishersChangeTooOften(_, let wait) = self else { return nil }
        return max(1, Int(wait.inSeconds.rounded(.up)))
    }
}
