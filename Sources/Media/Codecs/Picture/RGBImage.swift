/// A picture with eight bits each of red, green and blue, rows without padding.
public struct RGBImage: Sendable, Equatable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// Red, green, blue of each pixel, row by row.
    public var pixels: [UInt8]

    /// Makes an image; nil unless `pixels` holds exactly three bytes per pixel.
    public init?(width: Int, height: Int, pixels: [UInt8]) {
        guard (1...I420Frame.maximumSide).contains(width), (1...I420Frame.maximumSide).contains(height),
            pixels.count == width * height * 3
        else { return nil }
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// Converts a decoded picture (BT.601, limited range; fixed point with 16 fractional bits).
    public init(_ frame: I420Frame) {
        width = frame.width
        height = frame.height
        let (width, height, chromaWidth) = (frame.width, frame.height, frame.chromaWidth)
        pixels = Array(unsafeUninitializedCapacity: width * height * 3) { output, count in
            frame.luma.withUnsafeBufferPointer { luma in
                frame.chromaBlue.withUnsafeBufferPointer { chromaBlue in
                    frame.chromaRed.withUnsafeBufferPointer { chromaRed in
                        for row in 0..<height {
                            for column in 0..<width {
                                let scaled = (Int(luma[row * width + column]) - 16) * 76309
                                let chroma = (row / 2) * chromaWidth + column / 2
                                let blue = Int(chromaBlue[chroma]) - 128
                                let red = Int(chromaRed[chroma]) - 128
                                let target = (row * width + column) * 3
                                output[target] = Self.clamp(scaled + 104597 * red)
                                output[target + 1] = Self.clamp(scaled - 25675 * blue - 53279 * red)
                                output[target + 2] = Self.clamp(scaled + 132201 * blue)
                            }
                        }
                    }
                }
            }
            count = width * height * 3
        }
    }

    @inline(__always)
    private static func clamp(_ fixedPoint: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: min(max((fixedPoint + 32768) >> 16, 0), 255))
    }
}

extension I420Frame {
    /// Converts an image (BT.601, limited range); each chroma sample is the mean of the pixels that it covers.
    public init(_ image: RGBImage) {
        self.init(width: image.width, height: image.height)
        for row in 0..<height {
            for column in 0..<width {
                let colour = image.colour(column: column, row: row)
                luma[row * width + column] = YUVColour(red: colour.0, green: colour.1, blue: colour.2).luma
            }
        }
        for row in 0..<chromaHeight {
            for column in 0..<chromaWidth {
                var sum = (0, 0, 0)
                var pixels = 0
                for y in (row * 2)..<min(row * 2 + 2, height) {
                    for x in (column * 2)..<min(column * 2 + 2, width) {
                        let colour = image.colour(column: x, row: y)
                        sum = (sum.0 + Int(colour.0), sum.1 + Int(colour.1), sum.2 + Int(colour.2))
                        pixels += 1
                    }
                }
                let mean = YUVColour(
                    red: UInt8(clamping: sum.0 / pixels), green: UInt8(clamping: sum.1 / pixels),
                    blue: UInt8(clamping: sum.2 / pixels))
                chromaBlue[row * chromaWidth + column] = mean.chromaBlue
                chromaRed[row * chromaWidth + column] = mean.chromaRed
            }
        }
    }
}

extension RGBImage {
    @inline(__always)
    fileprivate func colour(column: Int, row: Int) -> (UInt8, UInt8, UInt8) {
        let offset = (row * width + column) * 3
        return (pixels[offset], pixels[offset + 1], pixels[offset + 2])
    }
}
