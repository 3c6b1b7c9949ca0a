import Codecs
import Glibc

/// The hot-air balloon that crosses the test picture.
struct Balloon {
    private var parts: [(mask: CoverageMask, x: Double, y: Double, colour: YUVColour)] = []
    private let scale: Double

    init(scale: Double) {
        self.scale = scale
        let envelope = { (x: Double, y: Double) -> Double in
            // A circle above, narrowed to the width of the basket below.
            let (dx, dy) = (x - 24, y - 23)
            if dy < 6 { return 23 - sqrt(dx * dx + dy * dy) }
            let halfWidth = 22.2 - (dy - 6) * 0.66
            return min(halfWidth - abs(dx), 31 - dy) * 0.83
        }
        let red = YUVColour(red: 226, green: 88, blue: 76)
        let cream = YUVColour(red: 255, green: 232, blue: 196)
        parts.append((Self.mask(48, 56, scale, envelope), 0, 0, red))
        // Stripes follow the curve of the envelope.
        let stripes = { (x: Double, y: Double) -> Double in
            let dy = min(abs(y - 23) / 23, 1)
            let halfWidth = y < 29 ? 23 * sqrt(max(1 - dy * dy, 0.02)) : 22.2 - (y - 29) * 0.66
            let place = abs(x - 24) / max(halfWidth, 1)
            let edge = min(place - 0.3, 0.68 - place) * halfWidth
            return min(edge, envelope(x, y))
        }
        parts.append((Self.mask(48, 56, scale, stripes), 0, 0, cream))
        let basket = { (x: Double, y: Double) -> Double in min(min(x - 1, 11 - x), min(y - 1, 8 - y)) }
        parts.append((Self.mask(12, 9, scale, basket), 18, 57, YUVColour(red: 122, green: 78, blue: 52)))
    }

    /// Draws the balloon with its upper left corner at (`x`, `y`) pixels.
    func draw(x: Double, y: Double, on frame: inout I420Frame) {
        for part in parts {
            frame.blend(
                part.mask, x: Int((x + part.x * scale).rounded()), y: Int((y + part.y * scale).rounded()),
                colour: part.colour)
        }
    }

    /// A mask from the distance to a shape's edge, positive inside, in units.
    private static func mask(
        _ width: Double, _ height: Double, _ scale: Double, _ depth: (Double, Double) -> Double
    ) -> CoverageMask {
        CoverageMask(width: Int(width * scale), height: Int(height * scale)) { x, y in
            depth(x / scale, y / scale) * scale + 0.5
        }
    }
}
