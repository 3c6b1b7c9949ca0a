import Signalling

extension PublisherRefusal {
    /// What is wrong, and what to do, as the publisher's program shows it.
    public var words: String {
        switch self {
        case .noToken:
            "unauthorized: the address has no token. Write KEY?token=TOKEN as the stream key. A user and a password in the "
                + "address are not supported"
        case .wrongToken: "unauthorized: the token is not valid or has expired"
        case .forbidden(let fault): "unauthorized: \(fault.words)"
        case .unknownCamera(""): "the address names no camera. Write KEY?token=TOKEN as the stream key"
        case .unknownCamera(let camera):
            "there is no camera \(Self.name(camera)). Write the key of a camera with source: publisher into the address"
        case .takesNoPublisher(let camera):
            "\(Self.name(camera)) does not accept a publisher. Give it source: publisher in the config"
        }
    }

    /// A name from the address, as far as it can be printed.
    private static func name(_ camera: String) -> String {
        String(camera.prefix(64).filter { $0.isASCII && $0 > " " && $0 != "\u{7F}" })
    }
}
