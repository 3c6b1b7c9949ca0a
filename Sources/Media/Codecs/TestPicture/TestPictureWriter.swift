/// Draws a ``TestPictureStamp`` into a picture.
public enum TestPictureWriter {
    /// Draws `stamp` along the lower edge of `frame`.
    public static func draw(_ stamp: TestPictureStamp, in frame: inout I420Frame) {
        let rows = TestPictureBand.rowBits(of: stamp)
        drawRow(TestPictureBand.firstRow, bits: rows.0, in: &frame)
        drawRow(TestPictureBand.firstRow + 1, bits: rows.1, in: &frame)
    }

    private static func drawRow(_ row: Int, bits: UInt64, in frame: inout I420Frame) {
        let (top, bottom) = edges(row, of: TestPictureBand.rows, length: frame.height)
        for column in 0..<TestPictureBand.bandColumns {
            let (left, right) = edges(
                TestPictureBand.firstColumn + column, of: TestPictureBand.columns, length: frame.width)
            let colour =
                TestPictureBand.isLight(column: column, bits: bits) ? TestPictureBand.light : TestPictureBand.dark
            fill(&frame.luma, stride: frame.width, (left, right), (top, bottom), colour.luma)
            let chromaColumns = (left / 2, min((right + 1) / 2, frame.chromaWidth))
            let chromaRows = (top / 2, min((bottom + 1) / 2, frame.chromaHeight))
            fill(&frame.chromaBlue, stride: frame.chromaWidth, chromaColumns, chromaRows, colour.chromaBlue)
            fill(&frame.chromaRed, stride: frame.chromaWidth, chromaColumns, chromaRows, colour.chromaRed)
        }
    }

    private static func edges(_ index: Int, of count: Int, length: Int) -> (Int, Int) {
        (index * length / count, (index + 1) * length / count)
    }

    private static func fill(
        _ plane: inout [UInt8], stride: Int, _ columns: (Int, Int), _ rows: (Int, Int), _ value: UInt8
    ) {
        plane.withUnsafeMutableBufferPointer { plane in
            for row in rows.0..<rows.1 {
                for column in columns.0..<columns.1 {
                    plane[row * stride + column] = value
                }
            }
        }
    }
}
