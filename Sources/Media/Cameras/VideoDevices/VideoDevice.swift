import CLinuxVideo
import Glibc

/// Hands out the frames of a camera of this machine.
protocol FrameDevice {
    /// What the frames are.
    var format: VideoDeviceAddress.Format { get }
    /// The device's name and its pictures.
    var note: CameraNote { get }
    /// What is readable when a frame has come.
    var descriptor: Int32 { get }
    /// Passes the next frame and its time in microseconds (0 where it is not known) to `body`. Returns whether there was
    /// one. A damaged frame is empty.
    func receive(_ body: (UnsafeRawBufferPointer, Int64) -> Void) throws(VideoDeviceFailure) -> Bool
    /// Asks for a key frame, where the device encodes.
    func requestKeyFrame()
}

/// A device of Video4Linux that runs. It is stopped when its last reference goes.
final class VideoDevice: FrameDevice {
    let format: VideoDeviceAddress.Format
    let note: CameraNote
    private let device: OpaquePointer
    private let path: String

    /// Opens and starts it.
    init(_ address: VideoDeviceAddress) throws(VideoDeviceFailure) {
        var wish = gatehouse_video_wish()
        wish.format =
            switch address.format {
            case .h264: Self.code("H264")
            case .mjpeg: Self.code("MJPG")
            case nil: 0
            }
        (wish.width, wish.height) = address.size ?? (0, 0)
        wish.rate = address.rate ?? 0
        var information = gatehouse_video_info()
        var device: OpaquePointer?
        let code = gatehouse_video_open(address.path, &wish, &information, &device)
        guard code == 0, let device else {
            throw VideoDeviceFailure(code, path: address.path, offered: Self.offered(information))
        }
        self.device = device
        path = address.path
        format = information.format == Self.code("H264") ? .h264 : .mjpeg
        let name = withUnsafeBytes(of: information.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let plain = name.filter { $0.isASCII && $0 >= " " && $0 <= "~" }
        note = .device(
            name: plain, format: Self.name(of: information.format), width: Int(information.width),
            height: Int(information.height))
    }

    deinit { gatehouse_video_close(device) }

    var descriptor: Int32 { gatehouse_video_descriptor(device) }

    func receive(_ body: (UnsafeRawBufferPointer, Int64) -> Void) throws(VideoDeviceFailure) -> Bool {
        var bytes: UnsafePointer<UInt8>?
        var size = 0
        var time: Int64 = 0
        let code = gatehouse_video_receive(device, &bytes, &size, &time)
        // A camera that is pulled out.
        guard code >= 0 else {
            throw -code == ENODEV ? .missing(path: path) : .failed(path: path, errorNumber: -code)
        }
        guard code > 0 else { return false }
        body(UnsafeRawBufferPointer(start: bytes, count: size), time)
        return true
    }

    func requestKeyFrame() { gatehouse_video_request_key_frame(device) }

    private static func code(_ name: StaticString) -> UInt32 {
        name.withUTF8Buffer { $0.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// A pixel format as its four characters.
    private static func name(of code: UInt32) -> String {
        let bytes = [UInt32(0), 8, 16, 24].map { UInt8(truncatingIfNeeded: code >> $0) & 0x7F }
        return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    }

    private static func offered(_ information: gatehouse_video_info) -> [String] {
        withUnsafeBytes(of: information.offered) { raw in
            raw.bindMemory(to: UInt32.self).prefix(Int(max(0, information.offered_count))).map { name(of: $0) }
        }
    }
}
