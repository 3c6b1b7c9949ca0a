/// A picture in planar YUV with one chroma sample for two by two pixels, in the limited range of BT.601.
///
/// The rows of each plane follow one another without padding.
public struct I420Frame: Sendable, Equatable {
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// Brightness, 16 (black) to 235 (white), ``width`` × ``height`` samples.
    public var luma: [UInt8]
    /// Blue difference, 128 for none, ``chromaWidth`` × ``chromaHeight`` samples.
    public var chromaBlue: [UInt8]
    /// Red difference, 128 for none, ``chromaWidth`` × ``chromaHeight`` samples.
    public var chromaRed: [UInt8]

    /// The number of samples in a row of a chroma plane.
    public var chromaWidth: Int { (width + 1) / 2 }
    /// The number of rows of a chroma plane.
    public var chromaHeight: Int { (height + 1) / 2 }

    /// The largest width and height for any codec here.
    public static let maximumSide = 8192

    /// A black picture. Sides are clamped to 1 to ``maximumSide``.
    public init(width: Int, height: Int) {
        self.width = min(max(width, 1), Self.maximumSide)
        self.height = min(max(height, 1), Self.maximumSide)
        luma = Array(repeating: 16, count: self.width * self.height)
        let chroma = ((self.width + 1) / 2) * ((self.height + 1) / 2)
        chromaBlue = Array(repeating: 128, count: chroma)
        chromaRed = Array(repeating: 128, count: chroma)
    }

    /// A picture without samples. The caller fills its planes before it is used.
    init(emptyWithWidth width: Int, height: Int) {
        self.width = width
        self.height = height
        luma = []
        chromaBlue = []
        chromaRed = []
    }

    /// Copies a picture out of a decoder's planes.
    ///
    /// Each plane must hold `stride` bytes for every row except the last, and the plane's width for the last.
    init(
        width: Int, height: Int, planes: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>),
        lumaStride: Int, chromaStride: Int
    ) {
        self.width = width
        self.height = height
        luma = Self.copy(planes.0, width: width, height: height, stride: lumaStride)
        chromaBlue = Self.copy(planes.1, width: (width + 1) / 2, height: (height + 1) / 2, stride: chromaStride)
        chromaRed = Self.copy(planes.2, width: (width + 1) / 2, height: (height + 1) / 2, stride: chromaStride)
    }

    private static func copy(_ source: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int) -> [UInt8] {
        Array(unsafeUninitializedCapacity: width * height) { plane, count in
            if let base = plane.baseAddress {
                for row in 0..<height {
                    (base + row * width).initialize(from: source + row * stride, count: width)
                }
            }
            count = width * height
        }
    }

    /// The mean absolute difference of brightness to `other`, in steps of one; nil when the sizes differ.
    public func meanLumaDifference(to other: I420Frame) -> Double? {
        guard width == other.width, height == other.height else { return nil }
        var sum = 0
        for index in luma.indices {
            sum += abs(Int(luma[index]) - Int(other.luma[index]))
        }
        return Double(sum) / Double(luma.count)
    }
}
