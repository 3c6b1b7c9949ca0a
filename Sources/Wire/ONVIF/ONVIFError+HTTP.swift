import HTTPMedia

extension ONVIFError {
    /// The failure to read an address, as one of a device's.
    public init(_ error: HTTPAddressError) {
        switch error {
        case .invalidAddress(let reason): self = .invalidAddress(reason)
        }
    }

    /// The failure to read an HTTP answer, as one of a camera's.
    public init(_ error: HTTPStreamError) {
        switch error {
        case .malformed(let reason): self = .malformedHTTP(reason)
        case .tooLarge(let what, let limit): self = .tooLarge(what: what, limit: limit)
        }
    }
}
