/// What a test picture says about itself in a form that a program can read from the decoded picture.
public struct TestPictureStamp: Hashable, Sendable {
    /// Counts the pictures since the camera was started.
    public var frameNumber: UInt32
    /// The wall clock when the picture was drawn, in microseconds since 1970 (UTC).
    public var captureTime: UInt64

    /// Makes a stamp.
    public init(frameNumber: UInt32, captureTime: UInt64) {
        self.frameNumber = frameNumber
        self.captureTime = captureTime
    }

    /// CRC-32 (ISO/IEC 8802-3) over the frame number and the time, most significant byte first.
    var checksum: UInt32 {
        var value = ~UInt32(0)
        let bytes =
            (0..<4).map { UInt8(truncatingIfNeeded: frameNumber >> (24 - 8 * $0)) }
            + (0..<8).map { UInt8(truncatingIfNeeded: captureTime >> (56 - 8 * $0)) }
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 {
                value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320
            }
        }
        return ~value
    }
}

/// The layout of the stamp's blocks: two rows of squares at the lower edge of the picture.
///
/// A picture is a grid of 80 by 45 squares (8 pixels each at 640×360), so a square's position depends only on the size
/// of the picture and survives scaling. The lower of the last two rows holds the frame number and the checksum, the
/// upper one the time. Each row begins and ends with a light and a dark square, by which the reader sets its threshold.
enum TestPictureBand {
    static let columns = 80
    static let rows = 45
    static let firstRow = 43
    static let firstColumn = 6
    static let dataColumns = 64
    /// Light, dark, 64 squares of data, dark, light.
    static let bandColumns = dataColumns + 4

    static let dark = YUVColour(luma: 36, chromaBlue: 132, chromaRed: 126)
    static let light = YUVColour(luma: 208, chromaBlue: 126, chromaRed: 128)

    /// The bits of each of the two rows, most significant first.
    static func rowBits(of stamp: TestPictureStamp) -> (UInt64, UInt64) {
        (stamp.captureTime, UInt64(stamp.frameNumber) << 32 | UInt64(stamp.checksum))
    }

    /// Whether the square in `column` of the band is light in a row with `bits`.
    static func isLight(column: Int, bits: UInt64) -> Bool {
        switch column {
        case 0, bandColumns - 1: true
        case 1, bandColumns - 2: false
        default: bits >> UInt64(dataColumns - 1 - (column - 2)) & 1 == 1
        }
    }
}
