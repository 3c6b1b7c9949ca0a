/// Reads the stamp from a decoded test picture, even after compression and scaling.
public enum TestPictureReader {
    /// The stamp; nil when the picture holds none or the stamp is damaged.
    ///
    /// A picture that is not a test picture passes the checksum once in four billion.
    public static func read(_ frame: I420Frame) -> TestPictureStamp? {
        // Below two pixels per square nothing can be distinguished.
        guard frame.width >= TestPictureBand.columns * 2, frame.height >= TestPictureBand.rows * 2,
            let captureTime = readRow(TestPictureBand.firstRow, of: frame),
            let lower = readRow(TestPictureBand.firstRow + 1, of: frame)
        else { return nil }
        let stamp = TestPictureStamp(frameNumber: UInt32(truncatingIfNeeded: lower >> 32), captureTime: captureTime)
        return stamp.checksum == UInt32(truncatingIfNeeded: lower) ? stamp : nil
    }

    private static func readRow(_ row: Int, of frame: I420Frame) -> UInt64? {
        let last = TestPictureBand.bandColumns - 1
        let light = brightness(0, row, of: frame) + brightness(last, row, of: frame)
        let dark = brightness(1, row, of: frame) + brightness(last - 1, row, of: frame)
        // They must be at least a tenth of the range apart. The band is drawn with eight tenths.
        guard light - dark > 40 else { return nil }
        let threshold = (light + dark) / 4
        var bits: UInt64 = 0
        for column in 2..<(2 + TestPictureBand.dataColumns) {
            bits = bits << 1 | (brightness(column, row, of: frame) > threshold ? 1 : 0)
        }
        return bits
    }

    /// The mean brightness of the middle of a square, away from the edges that compression blurs.
    private static func brightness(_ column: Int, _ row: Int, of frame: I420Frame) -> Double {
        let column = TestPictureBand.firstColumn + column
        let (left, right) = middle(column, of: TestPictureBand.columns, length: frame.width)
        let (top, bottom) = middle(row, of: TestPictureBand.rows, length: frame.height)
        var sum = 0
        for y in top...bottom {
            for x in left...right {
                sum += Int(frame.luma[y * frame.width + x])
            }
        }
        return Double(sum) / Double((right - left + 1) * (bottom - top + 1))
    }

    /// The middle half of a square along one side; at least one pixel.
    private static func middle(_ index: Int, of count: Int, length: Int) -> (Int, Int) {
        let first = (4 * index + 1) * length / (4 * count)
        let last = (4 * index + 3) * length / (4 * count) - 1
        return (first, min(max(first, last), length - 1))
    }
}
