import Glibc

/// Why the file of the upload endpoints cannot be used.
public indirect enum UploadEndpointsLoss: Hashable, Sendable {
    /// Why a file was set aside.
    public enum Kind: String, CaseIterable, Sendable {
        /// It is damaged.
        case damaged
        /// A newer version of the gateway has written it.
        case newer
    }

    /// It cannot be read, and stays in its place.
    case unreadable(StorageFault)
    /// It stays in its place, because so many earlier ones are kept that no name is left.
    case tooManyAside(Kind, kept: Int)
    /// It stays in its place, because it cannot be renamed; the number is the reason (`errno`).
    case notRenamed(Kind, Int32)
    /// It was set aside, and belongs in the place of this file.
    case setAside(Kind, insteadOf: String)
}

extension UploadEndpointsLoss: CustomStringConvertible {
    /// What is wrong, as people read it after the path of the file, and what to do.
    public var description: String {
        switch self {
        case .unreadable(let fault): Self.blocked("cannot be read (\(fault)); correct that")
        case .tooManyAside(let kind, let kept):
            Self.blocked("\(kind.words), and \(kept) earlier ones are kept; remove those")
        case .notRenamed(let kind, let code):
            Self.blocked("\(kind.words), and cannot be renamed (\(String(cString: strerror(code)))); correct that")
        case .setAside(.damaged, let name):
            "holds the upload endpoints and is damaged; uploads to them wait. Stop the gateway and put an "
                + "intact copy in place as \(name), or remove the damaged file and provision the endpoints again"
        case .setAside(.newer, let name):
            "holds the upload endpoints and was written by a newer version of the gateway; uploads to them wait. "
                + "Stop the gateway, install that version, and rename the file to \(name)"
        }
    }

    private static func blocked(_ words: String) -> String {
        words + ", and restart the gateway; until then, uploads to its endpoints wait, and no endpoint can be changed"
    }
}

extension UploadEndpointsLoss.Kind {
    fileprivate var words: String {
        switch self {
        case .damaged: "is damaged"
        case .newer: "was written by a newer version of the gateway, which is needed to read it"
        }
    }
}
