import Glibc

/// How much of each pixel a shape covers, 0 to 255, for drawing with a colour.
struct CoverageMask {
    let width: Int
    let height: Int
    /// The cover of each pixel, row by row.
    private(set) var coverage: [UInt8]
    /// The cover of each chroma sample, for each of the four positions of the mask on the grid of chroma samples.
    /// ``prepare()`` makes it, so that drawing need not average.
    private(set) var chroma: [ChromaCoverage] = []

    /// The mean cover of the two by two pixels of each chroma sample.
    struct ChromaCoverage {
        let width: Int
        let height: Int
        let coverage: [UInt8]
    }

    /// An empty mask.
    init(width: Int, height: Int) {
        self.width = max(width, 1)
        self.height = max(height, 1)
        coverage = Array(repeating: 0, count: self.width * self.height)
    }

    /// A mask from the cover, 0 to 1, of each pixel, evaluated at its centre.
    init(width: Int, height: Int, cover: (_ x: Double, _ y: Double) -> Double) {
        self.init(width: width, height: height)
        for row in 0..<self.height {
            for column in 0..<self.width {
                let value = cover(Double(column) + 0.5, Double(row) + 0.5)
                coverage[row * self.width + column] = UInt8(min(max(value, 0), 1) * 255)
            }
        }
        prepare()
    }

    /// Computes the cover of the chroma samples. Call it after the last change.
    mutating func prepare() {
        chroma = (0..<4).map { parity in
            let (shiftX, shiftY) = (parity & 1, parity >> 1)
            let (chromaWidth, chromaHeight) = ((width + shiftX + 1) / 2, (height + shiftY + 1) / 2)
            var sums = [Int](repeating: 0, count: chromaWidth * chromaHeight)
            for row in 0..<height {
                for column in 0..<width {
                    sums[(row + shiftY) / 2 * chromaWidth + (column + shiftX) / 2] += Int(
                        coverage[row * width + column])
                }
            }
            return ChromaCoverage(
                width: chromaWidth, height: chromaHeight, coverage: sums.map { UInt8(truncatingIfNeeded: $0 / 4) })
        }
    }

    /// The smallest part that holds the whole shape, and its position; nil when nothing is covered.
    func trimmed() -> (mask: CoverageMask, x: Int, y: Int)? {
        let rows = (0..<height).filter { row in coverage[(row * width)..<((row + 1) * width)].contains { $0 > 0 } }
        let columns = (0..<width).filter { column in
            stride(from: column, to: coverage.count, by: width).contains { coverage[$0] > 0 }
        }
        guard let top = rows.first, let bottom = rows.last, let left = columns.first, let right = columns.last else {
            return nil
        }
        var mask = CoverageMask(width: right - left + 1, height: bottom - top + 1)
        for row in top...bottom {
            for column in left...right {
                mask.coverage[(row - top) * mask.width + column - left] = coverage[row * width + column]
            }
        }
        mask.prepare()
        return (mask, left, top)
    }

    /// A rectangle with round corners that fills the mask.
    static func roundedRectangle(width: Int, height: Int, radius: Double) -> CoverageMask {
        let (halfWidth, halfHeight) = (Double(width) / 2, Double(height) / 2)
        return CoverageMask(width: width, height: height) { x, y in
            let dx = max(abs(x - halfWidth) - (halfWidth - radius), 0)
            let dy = max(abs(y - halfHeight) - (halfHeight - radius), 0)
            return 0.5 - (sqrt(dx * dx + dy * dy) - radius)
        }
    }

    /// A disc that fills a square mask.
    static func disc(diameter: Double) -> CoverageMask {
        let side = Int(diameter.rounded(.up)) + 1
        let centre = Double(side) / 2
        return CoverageMask(width: side, height: side) { x, y in
            let distance = sqrt((x - centre) * (x - centre) + (y - centre) * (y - centre))
            return 0.5 + diameter / 2 - distance
        }
    }

    /// A line of the pen from `start` to `end`, added to the existing cover.
    mutating func addSegment(from start: StrokeFont.Point, to end: StrokeFont.Point, halfWidth: Double) {
        let reach = halfWidth + 1
        let left = max(Int(min(start.x, end.x) - reach), 0)
        let right = min(Int(max(start.x, end.x) + reach) + 1, width)
        let top = max(Int(min(start.y, end.y) - reach), 0)
        let bottom = min(Int(max(start.y, end.y) + reach) + 1, height)
        guard left < right, top < bottom else { return }
        let (dx, dy) = (end.x - start.x, end.y - start.y)
        let squaredLength = max(dx * dx + dy * dy, 1e-9)
        for row in top..<bottom {
            for column in left..<right {
                let (x, y) = (Double(column) + 0.5 - start.x, Double(row) + 0.5 - start.y)
                let along = min(max((x * dx + y * dy) / squaredLength, 0), 1)
                let (offX, offY) = (x - along * dx, y - along * dy)
                let cover = halfWidth + 0.5 - sqrt(offX * offX + offY * offY)
                guard cover > 0 else { continue }
                let value = UInt8(min(cover, 1) * 255)
                if value > coverage[row * width + column] {
                    coverage[row * width + column] = value
                }
            }
        }
    }
}
