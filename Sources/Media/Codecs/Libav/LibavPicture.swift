import CAVCodec

extension I420Frame {
    /// Copies a picture that libavcodec decoded: planes of YUV with any chroma resolution, depth and range.
    ///
    /// It ignores the colour matrix: a picture in BT.709 is shown as BT.601, as in most viewers.
    init(_ picture: borrowing gatehouse_av_frame, codec: String) throws(CodecError) {
        let (width, height) = (Int(picture.width), Int(picture.height))
        guard (1...Self.maximumSide).contains(width), (1...Self.maximumSide).contains(height) else {
            throw CodecError(
                codec: codec, operation: "decode",
                reason: "a picture of \(width)×\(height) pixels is not between 1 and \(Self.maximumSide) on a side")
        }
        let (planeCount, depth) = (Int(picture.picture_planes), Int(picture.depth))
        guard planeCount > 0, (8...16).contains(depth), let luma = picture.planes.0 else {
            throw CodecError(codec: codec, operation: "decode", reason: "the picture is not planar YUV")
        }
        let isFull = picture.is_full_range != 0
        self.init(emptyWithWidth: width, height: height)
        let shifts = (x: Int(picture.chroma_shift_x), y: Int(picture.chroma_shift_y))
        let lumaPlane = SourcePlane(samples: luma, stride: Int(picture.strides.0), depth: depth)
        self.luma = lumaPlane.copy(width: width, height: height, table: isFull ? SampleRange.limitedLuma : nil)
        guard planeCount == 3, let blue = picture.planes.1, let red = picture.planes.2 else {
            chromaBlue = Array(repeating: 128, count: chromaWidth * chromaHeight)
            chromaRed = chromaBlue
            return
        }
        let table = isFull ? SampleRange.limitedChroma : nil
        let planes = [(blue, Int(picture.strides.1)), (red, Int(picture.strides.2))].map { samples, stride in
            let plane = SourcePlane(samples: samples, stride: stride, depth: depth)
            return shifts == (1, 1)
                ? plane.copy(width: chromaWidth, height: chromaHeight, table: table)
                : plane.halve(pictureWidth: width, pictureHeight: height, shifts: shifts, table: table)
        }
        chromaBlue = planes[0]
        chromaRed = planes[1]
    }
}

/// One plane of a decoded picture: samples of one byte, or of two with the least significant first.
private struct SourcePlane {
    var samples: UnsafePointer<UInt8>
    /// Bytes from one row to the next; may be negative.
    var stride: Int
    var depth: Int

    @inline(__always)
    private func sample(_ row: UnsafePointer<UInt8>, _ column: Int) -> Int {
        depth == 8
            ? Int(row[column])
            : (Int(row[column * 2]) | Int(row[column * 2 + 1]) << 8) >> (depth - 8)
    }

    /// Copies the plane with eight bits per sample.
    func copy(width: Int, height: Int, table: [UInt8]?) -> [UInt8] {
        Array(unsafeUninitializedCapacity: width * height) { output, count in
            for y in 0..<height {
                let row = samples + y * stride
                let start = y * width
                if depth == 8, table == nil, let base = output.baseAddress {
                    (base + start).initialize(from: row, count: width)
                } else if let table {
                    for x in 0..<width { output[start + x] = table[min(sample(row, x), 255)] }
                } else {
                    for x in 0..<width { output[start + x] = UInt8(truncatingIfNeeded: min(sample(row, x), 255)) }
                }
            }
            count = width * height
        }
    }

    /// Makes a chroma plane of half the picture's resolution from one of any other. Each sample is the mean of those
    /// over its two by two pixels.
    func halve(pictureWidth: Int, pictureHeight: Int, shifts: (x: Int, y: Int), table: [UInt8]?) -> [UInt8] {
        let (width, height) = ((pictureWidth + 1) / 2, (pictureHeight + 1) / 2)
        return Array(unsafeUninitializedCapacity: width * height) { output, count in
            for y in 0..<height {
                let rows = (
                    samples + ((2 * y) >> shifts.y) * stride,
                    samples + (min(2 * y + 1, pictureHeight - 1) >> shifts.y) * stride
                )
                for x in 0..<width {
                    let (left, right) = ((2 * x) >> shifts.x, min(2 * x + 1, pictureWidth - 1) >> shifts.x)
                    let sum =
                        sample(rows.0, left) + sample(rows.0, right) + sample(rows.1, left) + sample(rows.1, right)
                    let mean = min((sum + 2) >> 2, 255)
                    output[y * width + x] = table.map { $0[mean] } ?? UInt8(truncatingIfNeeded: mean)
                }
            }
            count = width * height
        }
    }
}
