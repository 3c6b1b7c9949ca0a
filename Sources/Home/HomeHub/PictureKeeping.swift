import Foundation
import HomeTypes

/// A picture of a camera that is kept.
public struct KeptPicture: Sendable, Hashable {
    /// When it was kept, in milliseconds since 1970. A camera has one picture for each of these times.
    public var milliseconds: Int64

    /// Describes a picture.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Names it among the pictures of its camera.
    public var id: String { "\(milliseconds)" }
    /// When it was kept.
    public var time: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}

/// Keeps pictures of cameras.
public protocol PictureKeeping: Sendable {
    /// Keeps a picture.
    /// - Parameters:
    ///   - jpeg: the image (JFIF).
    ///   - deviceID: the camera.
    ///   - time: when it was taken.
    /// - Throws: `unavailable` if the disk fails.
    func keep(_ jpeg: [UInt8], of deviceID: String, at time: Date) async throws(HomeError) -> KeptPicture
}
