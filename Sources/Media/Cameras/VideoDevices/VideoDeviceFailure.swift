import Glibc

/// Why a camera of this machine sends no pictures.
public enum VideoDeviceFailure: Error, Hashable, Sendable {
    /// The device's file does not exist: the camera is not plugged in.
    case missing(path: String)
    /// The gateway's user may not open it.
    case forbidden(path: String)
    /// Another program uses it.
    case busy(path: String)
    /// The file is not a camera's.
    case notCamera(path: String)
    /// The device has none of the forms that can be used; names those that it has.
    case noFormat(path: String, offered: [String])
    /// A request failed, with one of the system's error numbers.
    case failed(path: String, errorNumber: Int32)

    /// Reads the answer of the system.
    init(_ code: Int32, path: String, offered: [String]) {
        self =
            switch -code {
            case ENOENT, ENXIO: .missing(path: path)
            case EACCES, EPERM: .forbidden(path: path)
            case EBUSY: .busy(path: path)
            case ENODEV: .notCamera(path: path)
            case EMEDIUMTYPE: .noFormat(path: path, offered: offered)
            case let number: .failed(path: path, errorNumber: number)
            }
    }

    /// What says more.
    private static let document = "see the document stream-cameras.md"

    /// The failure as the end of a sentence about a camera.
    var words: String {
        switch self {
        case .missing(let path):
            "\(path) is missing: plug the camera in, or give the gateway's service access to it (\(Self.document))"
        case .forbidden(let path):
            "the gateway may not open \(path): its user has to be in the group video (\(Self.document))"
        case .busy(let path): "another program uses \(path): stop it"
        case .notCamera(let path): "\(path) is not a camera: v4l2-ctl --list-devices shows the devices that are"
        case .noFormat(let path, let offered):
            "\(path) has no H.264 and no JPEG in the form that is asked for"
                + (offered.isEmpty ? "" : " (it has \(offered.joined(separator: ", ")))")
                + ": uncompressed pictures are not accepted (\(Self.document))"
        case .failed(let path, let number): CameraUnreachable("\(path) has failed", errorNumber: number).description
        }
    }

    /// Whether another attempt soon makes no sense.
    var isPermanent: Bool {
        switch self {
        case .notCamera, .noFormat: true
        case .missing, .forbidden, .busy, .failed: false
        }
    }
}
