/// One picture of a camera.
public struct CameraSnapshot: Sendable, Equatable {
    /// The image (JFIF).
    public var jpeg: [UInt8]
    /// How long ago the camera took the picture.
    public var age: Duration
    /// The image's width in pixels.
    public var width: Int
    /// The image's height in pixels.
    public var height: Int
    /// The permit of the picture, for as long as it is on its way to somebody. Its sender keeps the permit until it
    /// has been sent, and stops when it is revoked.
    public var permit: OutputPermit?

    /// Describes a picture.
    public init(jpeg: [UInt8], age: Duration, width: Int, height: Int) {
        self.jpeg = jpeg
        self.age = age
        self.width = width
        self.height = height
    }

    /// Whether the pictures are the same. Their permits do not count.
    public static func == (left: Self, right: Self) -> Bool {
        left.jpeg == right.jpeg && left.age == right.age && left.width == right.width && left.height == right.height
    }
}
