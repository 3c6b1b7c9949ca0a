/// The address of a camera of this machine: `v4l2:/dev/video0?format=mjpeg&size=1280x720&rate=15`. Everything after the
/// device may be left out.
public struct VideoDeviceAddress: Hashable, Sendable {
    /// The form in which the device hands out its pictures.
    public enum Format: String, Sendable, CaseIterable {
        case h264
        case mjpeg
    }

    /// Why a text is not such an address.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong and what would be right.
        public var description: String
    }

    /// The device's file.
    public let path: String
    /// The form that is asked for; nil for what the device has, H.264 before JPEG.
    public var format: Format?
    /// In pixels; nil for what the device is set to.
    public var size: (width: UInt32, height: UInt32)? {
        width == 0 ? nil : (width, height)
    }
    /// Pictures per second, 1 to 120; nil for what the device is set to.
    public var rate: UInt32?
    private var width: UInt32 = 0
    private var height: UInt32 = 0

    /// What the address begins with.
    public static let scheme = "v4l2"
    private static let maximumSide: UInt32 = 8192

    /// Reads an address. Only `/dev/videoN` and the links of udev (`/dev/v4l/by-id/…`, `/dev/v4l/by-path/…`) are taken, so an
    /// address cannot make the gateway open another file.
    public init(_ text: String) throws(Fault) {
        guard text.lowercased().hasPrefix("\(Self.scheme):") else {
            throw Fault(description: "a camera of this machine is written as v4l2:/dev/video0")
        }
        let rest = text.dropFirst(Self.scheme.count + 1)
        let mark = rest.firstIndex(of: "?") ?? rest.endIndex
        path = String(rest[..<mark])
        guard Self.isDevice(path) else {
            throw Fault(description: "expected a device such as /dev/video0 or /dev/v4l/by-id/… after v4l2:")
        }
        for item in rest[mark...].dropFirst().split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Fault(description: "expected name=value after the question mark") }
            try set(parts[0], parts[1])
        }
    }

    private mutating func set(_ name: String, _ value: String) throws(Fault) {
        switch name {
        case "format":
            guard let format = Format(rawValue: value.lowercased()) else {
                throw Fault(
                    description: "format can be h264 or mjpeg: uncompressed pictures are not accepted"
                )
            }
            self.format = format
        case "size":
            let sides = value.split(separator: "x").map { UInt32($0) ?? 0 }
            guard sides.count == 2, sides.allSatisfy({ (16...Self.maximumSide).contains($0) }) else {
                throw Fault(description: "expected a size such as 1280x720")
            }
            (width, height) = (sides[0], sides[1])
        case "rate":
            guard let rate = UInt32(value), (1...120).contains(rate) else {
                throw Fault(description: "expected a rate from 1 to 120 pictures per second")
            }
            self.rate = rate
        default: throw Fault(description: "format, size and rate can follow the device, not \(name.prefix(40))")
        }
    }

    private static func isDevice(_ path: String) -> Bool {
        let isPlain = { (name: Substring) in
            !name.isEmpty && name != "." && name != ".."
                && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
        }
        if path.hasPrefix("/dev/video") {
            let number = path.dropFirst("/dev/video".count)
            return !number.isEmpty && number.count <= 3 && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        return ["/dev/v4l/by-id/", "/dev/v4l/by-path/"].contains {
            path.hasPrefix($0) && isPlain(path.dropFirst($0.count))
        }
    }
}

extension VideoDeviceAddress: CustomStringConvertible {
    public var description: String { "\(Self.scheme):\(path)" }
}
