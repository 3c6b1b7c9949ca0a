import Glibc

/// The lettering of the test picture: each character is a few strokes of a round pen, so it is sharp at any size and
/// needs no font file.
///
/// Strokes are separated by `;`. A stroke is a list of points `x,y` and of arcs `@x,y,rx,ry,from,to` (centre, radii,
/// angles in degrees, 0 to the right and 90 down). Capitals reach from 0 (top) to 7 (baseline), small letters begin at
/// 2.3, and tails reach to 9.
enum StrokeFont {
    /// The height of a capital in the units of the strokes.
    static let capitalHeight = 7.0
    /// The width of every digit, so that a running clock does not move sideways.
    static let digitWidth = 4.2

    struct Point: Hashable {
        var x: Double
        var y: Double
    }

    /// A character's strokes as polylines, and how wide it is.
    struct Glyph {
        var strokes: [[Point]]
        var width: Double
    }

    /// The glyph of `character`: a hollow box where the font has none.
    static func glyph(_ character: Character) -> Glyph {
        glyphs[character] ?? composed(character) ?? Glyph(strokes: parse("0,0 3.4,0 3.4,7 0,7 0,0"), width: 3.4)
    }

    private static let glyphs: [Character: Glyph] = {
        var glyphs: [Character: Glyph] = [" ": Glyph(strokes: [], width: 2.4)]
        for (character, path) in capitals.merging(smallLetters, uniquingKeysWith: { $1 })
            .merging(signs, uniquingKeysWith: { $1 })
        {
            glyphs[character] = makeGlyph(parse(path))
        }
        for (character, path) in digits {
            glyphs[character] = Glyph(strokes: parse(path), width: digitWidth)
        }
        return glyphs
    }()

    private static func makeGlyph(_ strokes: [[Point]]) -> Glyph {
        Glyph(strokes: strokes, width: strokes.joined().map(\.x).max() ?? 0)
    }

    /// A letter with a mark above or below it, combined from both.
    private static func composed(_ character: Character) -> Glyph? {
        guard let (base, mark) = marked[character], let letter = glyphs[base], let path = marks[mark] else {
            return nil
        }
        let isCapital = base.isUppercase
        // The mark replaces the dot of an i.
        let strokes = base == "i" ? Array(letter.strokes.prefix(1)) : letter.strokes
        let raised = isCapital && mark != "¸" ? -2.1 : 0
        let markStrokes = parse(path).map { $0.map { Point(x: $0.x + letter.width / 2, y: $0.y + raised) } }
        return Glyph(strokes: strokes + markStrokes, width: letter.width)
    }

    static func parse(_ path: String) -> [[Point]] {
        path.split(separator: ";").map { stroke in
            stroke.split(separator: " ").flatMap { item -> [Point] in
                let isArc = item.first == "@"
                let numbers = item.dropFirst(isArc ? 1 : 0).split(separator: ",").compactMap { Double($0) }
                guard numbers.count == (isArc ? 6 : 2) else { return [] }
                return isArc ? arc(numbers) : [Point(x: numbers[0], y: numbers[1])]
            }
        }
    }

    private static func arc(_ numbers: [Double]) -> [Point] {
        let (from, to) = (numbers[4] * .pi / 180, numbers[5] * .pi / 180)
        let steps = max(2, Int((abs(to - from) / 0.16).rounded(.up)))
        return (0...steps).map { step in
            let angle = from + (to - from) * Double(step) / Double(steps)
            return Point(x: numbers[0] + numbers[2] * cos(angle), y: numbers[1] + numbers[3] * sin(angle))
        }
    }
}
