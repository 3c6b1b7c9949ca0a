extension I420Frame {
    /// The largest even size with the picture's shape that is not larger than given. If the picture's own size fits,
    /// it is that size, made even.
    public func size(within maximumWidth: Int, _ maximumHeight: Int) -> (width: Int, height: Int) {
        let (maximumWidth, maximumHeight) = (max(2, maximumWidth), max(2, maximumHeight))
        var (width, height) = (width, height)
        if width > maximumWidth {
            height = max(1, height * maximumWidth / width)
            width = maximumWidth
        }
        if height > maximumHeight {
            width = max(1, width * maximumHeight / height)
            height = maximumHeight
        }
        return (max(2, width & ~1), max(2, height & ~1))
    }

    /// The picture in another size, interpolated between neighbouring samples. A picture that shrinks to less than half
    /// is first halved by means, so that fine patterns do not flicker.
    public func scaled(toWidth width: Int, height: Int) -> I420Frame {
        guard width != self.width || height != self.height else { return self }
        var result = I420Frame(width: width, height: height)
        result.luma = Self.scale(
            luma, from: (self.width, self.height), to: (result.width, result.height))
        let chroma = (chromaWidth, chromaHeight)
        let target = (result.chromaWidth, result.chromaHeight)
        result.chromaBlue = Self.scale(chromaBlue, from: chroma, to: target)
        result.chromaRed = Self.scale(chromaRed, from: chroma, to: target)
        return result
    }

    private static func scale(_ plane: [UInt8], from source: (Int, Int), to target: (Int, Int)) -> [UInt8] {
        var (plane, source) = (plane, source)
        // A side is at most 8192, so it is halved at most thirteen times.
        while source.0 >= target.0 * 2, source.1 >= target.1 * 2 {
            plane = halve(plane, source)
            source = (source.0 / 2, source.1 / 2)
        }
        return source == target ? plane : interpolate(plane, from: source, to: target)
    }

    private static func halve(_ plane: [UInt8], _ size: (Int, Int)) -> [UInt8] {
        let (width, height) = (size.0 / 2, size.1 / 2)
        return Array(unsafeUninitializedCapacity: width * height) { output, count in
            plane.withUnsafeBufferPointer { input in
                for y in 0..<height {
                    let (upper, lower) = (2 * y * size.0, (2 * y + 1) * size.0)
                    for x in 0..<width {
                        let sum =
                            UInt16(input[upper + 2 * x]) + UInt16(input[upper + 2 * x + 1])
                            + UInt16(input[lower + 2 * x]) + UInt16(input[lower + 2 * x + 1])
                        output[y * width + x] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
                    }
                }
            }
            count = width * height
        }
    }

    /// Bilinear, in fixed point with 8 fractional bits. The centres of the outer samples stay within the source.
    private static func interpolate(_ plane: [UInt8], from source: (Int, Int), to target: (Int, Int)) -> [UInt8] {
        let columns = places(from: source.0, to: target.0)
        let rows = places(from: source.1, to: target.1)
        return Array(unsafeUninitializedCapacity: target.0 * target.1) { output, count in
            plane.withUnsafeBufferPointer { input in
                columns.withUnsafeBufferPointer { columns in
                    for (y, row) in rows.enumerated() {
                        let (upper, lower) = (Int(row.index) * source.0, Int(row.next) * source.0)
                        let (below, above) = (UInt32(row.weight), 256 - UInt32(row.weight))
                        for x in 0..<target.0 {
                            let column = columns[x]
                            let (left, right) = (Int(column.index), Int(column.next))
                            let (after, before) = (UInt32(column.weight), 256 - UInt32(column.weight))
                            let top = UInt32(input[upper + left]) &* before &+ UInt32(input[upper + right]) &* after
                            let bottom = UInt32(input[lower + left]) &* before &+ UInt32(input[lower + right]) &* after
                            output[y * target.0 + x] =
                                UInt8(truncatingIfNeeded: (top &* above &+ bottom &* below &+ 32768) >> 16)
                        }
                    }
                }
            }
            count = target.0 * target.1
        }
    }

    private static func places(from source: Int, to target: Int) -> [(index: Int32, next: Int32, weight: UInt16)] {
        (0..<target).map { position in
            // The centre of the sample, in 256ths of a source sample from the centre of the first.
            let place = max(0, ((2 * position + 1) * source * 128) / target - 128)
            let index = min(place / 256, source - 1)
            return (Int32(index), Int32(min(index + 1, source - 1)), UInt16(place % 256))
        }
    }
}
