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

    /// Describes a picture.
    public init(jpeg: [UInt8], age: Duration, width: Int, height: Int) {
        self.jpeg = jpeg
        self.age = age
        self.width = width
        self.height = height
    }
}
