import Codecs

extension I420Frame {
    /// Lays `colour` over the picture where `mask`, with its upper left corner at (`x`, `y`), covers it.
    mutating func blend(_ mask: CoverageMask, x: Int, y: Int, colour: YUVColour, opacity: Double = 1) {
        let strength = Int(min(max(opacity, 0), 1) * 256)
        guard strength > 0, x < width, y < height, x > -mask.width, y > -mask.height else { return }
        Self.blend(
            mask.coverage, maskWidth: mask.width, maskHeight: mask.height, x: x, y: y, value: colour.luma,
            strength: strength, on: &luma, width: width, height: height)
        // The sample that covers the mask's corner: rounded down, also left of the picture.
        let (chromaX, chromaY) = (x >> 1, y >> 1)
        let parity = (x & 1) | (y & 1) << 1
        guard mask.chroma.indices.contains(parity) else { return }
        let chroma = mask.chroma[parity]
        Self.blend(
            chroma.coverage, maskWidth: chroma.width, maskHeight: chroma.height, x: chromaX, y: chromaY,
            value: colour.chromaBlue, strength: strength, on: &chromaBlue, width: chromaWidth, height: chromaHeight)
        Self.blend(
            chroma.coverage, maskWidth: chroma.width, maskHeight: chroma.height, x: chromaX, y: chromaY,
            value: colour.chromaRed, strength: strength, on: &chromaRed, width: chromaWidth, height: chromaHeight)
    }

    private static func blend(
        _ coverage: [UInt8], maskWidth: Int, maskHeight: Int, x: Int, y: Int, value: UInt8, strength: Int,
        on plane: inout [UInt8], width: Int, height: Int
    ) {
        let (left, right) = (max(x, 0), min(x + maskWidth, width))
        let (top, bottom) = (max(y, 0), min(y + maskHeight, height))
        guard left < right, top < bottom else { return }
        let target = Int(value)
        coverage.withUnsafeBufferPointer { coverage in
            plane.withUnsafeMutableBufferPointer { plane in
                // `while`, since without optimisation a range costs more than the work for a pixel.
                var row = top
                while row < bottom {
                    var source = (row - y) * maskWidth + left - x
                    var index = row * width + left
                    let end = index + right - left
                    while index < end {
                        let cover = coverage[source]
                        if cover != 0 {
                            let old = Int(plane[index])
                            // Cover 255 counts as 256, so that full cover at full strength gives exactly the colour.
                            let weight = (Int(cover) &+ Int(cover >> 7)) &* strength
                            let change = ((target &- old) &* weight &+ 32768) >> 16
                            plane[index] = UInt8(truncatingIfNeeded: old &+ change)
                        }
                        source &+= 1
                        index &+= 1
                    }
                    row += 1
                }
            }
        }
    }
}
