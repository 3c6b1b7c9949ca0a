import Codecs

/// Characters of one size and weight, drawn once and kept.
struct Lettering {
    /// The height of a capital in pixels.
    let size: Double
    private let scale: Double
    private let halfWidth: Double
    private let gap: Double
    private var glyphs: [Character: DrawnGlyph] = [:]

    private struct DrawnGlyph {
        /// nil for a blank.
        var mask: (mask: CoverageMask, x: Int, y: Int)?
        /// The distance to the next character.
        var advance: Double
    }

    /// - Parameters:
    ///   - size: the height of a capital in pixels.
    ///   - weight: the width of the pen as a part of that height.
    init(size: Double, weight: Double) {
        self.size = size
        scale = size / StrokeFont.capitalHeight
        halfWidth = size * weight / 2
        gap = size * (0.16 + weight)
    }

    /// The width of `text` in pixels.
    func width(of text: String) -> Double {
        text.reduce(-gap) { $0 + StrokeFont.glyph($1).width * scale + gap }
    }

    /// Draws `text` with its left edge at `x` and the tops of its capitals at `y`.
    mutating func draw(
        _ text: String, x: Double, y: Double, colour: YUVColour, opacity: Double = 1, on frame: inout I420Frame
    ) {
        var x = x
        for character in text {
            let glyph = drawnGlyph(character)
            if let mask = glyph.mask {
                frame.blend(
                    mask.mask, x: Int(x.rounded()) + mask.x, y: Int(y.rounded()) + mask.y, colour: colour,
                    opacity: opacity)
            }
            x += glyph.advance
        }
    }

    private mutating func drawnGlyph(_ character: Character) -> DrawnGlyph {
        if let glyph = glyphs[character] { return glyph }
        let glyph = StrokeFont.glyph(character)
        // Room for the pen on all sides, and for marks above the capitals.
        let left = Int(halfWidth + 2)
        let top = left + Int(2.2 * scale + 1)
        var mask = CoverageMask(width: Int((glyph.width + 1) * scale) + 2 * left, height: Int(9.2 * scale) + top + left)
        for stroke in glyph.strokes {
            let points = stroke.map {
                StrokeFont.Point(x: $0.x * scale + Double(left), y: $0.y * scale + Double(top))
            }
            for (start, end) in zip(points, points.dropFirst()) {
                mask.addSegment(from: start, to: end, halfWidth: halfWidth)
            }
        }
        let drawn = DrawnGlyph(
            mask: mask.trimmed().map { ($0.mask, $0.x - left, $0.y - top) }, advance: glyph.width * scale + gap)
        // Names are short and the alphabet small, but the administrator chooses the name.
        if glyphs.count < 256 { glyphs[character] = drawn }
        return drawn
    }
}
