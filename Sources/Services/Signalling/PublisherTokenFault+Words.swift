import Transport

extension PublisherTokenFault {
    /// The fault, and what would help, as the publisher reads it.
    public var words: String {
        switch self {
        case .permitsTooMuch:
            "a token in an address may permit only the scope media, because addresses are stored and passed on; "
                + "gatehouse token create makes such a token"
        // Without the camera's name: whoever has an identifier does not learn the key by it.
        case .mayNotPublish: SignallingError.mayNotPublish(device: "this camera").words
        }
    }
}
