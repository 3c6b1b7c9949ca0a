import Cameras
import Foundation
import Transport

/// A camera's address as somebody types it.
public struct SetupCameraAddress: Sendable, Equatable {
    /// The source as the config writes it, so far. It may hold a password: never print it.
    public private(set) var source: String

    /// Reads an address: one that the config takes as `source`, or just a host, which is asked over ONVIF.
    public init(_ text: String) throws(SetupMisunderstanding) {
        let text = text.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty, !text.contains(where: \.isWhitespace) else {
            throw SetupMisunderstanding(description: "an address has no spaces")
        }
        if text.lowercased().hasPrefix("\(VideoDeviceAddress.scheme):") {
            do {
                _ = try VideoDeviceAddress(text)
            } catch {
                throw SetupMisunderstanding(description: error.description)
            }
            source = text
            return
        }
        guard let range = text.range(of: "://") else {
            let isIPv6 = text.contains(":") && TransportAddress(text, port: 0) != nil
            source = "onvif://\(isIPv6 ? "[\(text)]" : text)"
            return
        }
        guard GatewayConfiguration.Camera.schemes.contains(text[..<range.lowerBound].lowercased()) else {
            throw SetupMisunderstanding(
                description:
                    "expected the camera's IP address, v4l2:/dev/video0, or \(GatewayConfiguration.Camera.urlWords)")
        }
        source = text
    }

    /// Whether the address names a user.
    public var hasUser: Bool { CameraAddress(text: source).authority.contains("@") }

    /// The address with a user and a password, which are taken as they are.
    public func signingIn(user: String, password: String) -> SetupCameraAddress {
        guard let range = source.range(of: "://") else { return self }
        var result = self
        let credentials = [user, password].map { Self.encoded($0) }.joined(separator: ":")
        result.source.replaceSubrange(range, with: "://\(credentials)@")
        return result
    }

    /// Everything but letters, digits and `-._~` is percent-encoded (RFC 3986, section 2.3), so that `${` of a password is
    /// not taken for a variable either.
    private static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let character = Character(Unicode.Scalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
                result.append(character)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}
