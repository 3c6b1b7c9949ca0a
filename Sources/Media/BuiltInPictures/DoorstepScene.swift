import Codecs
import Glibc

/// The still part of the test picture: a house on a hill in the evening, seen from its garden path.
struct DoorstepScene {
    /// The picture without anything that moves.
    let background: I420Frame
    /// Pixels for each of the 360 units in which the scene is laid out.
    let scale: Double

    /// Where the middle of the doorbell's button is, in units.
    static let button = (x: 585.0, y: 284.0)

    private typealias Colour = (red: Double, green: Double, blue: Double)

    init(width: Int, height: Int) {
        scale = Double(height) / 360
        var frame = Self.landscape(width: width, height: height, scale: scale)
        Self.drawHouse(on: &frame, scale: scale)
        background = frame
    }

    // MARK: Sky and hills

    private static func landscape(width: Int, height: Int, scale: Double) -> I420Frame {
        var pixels = [UInt8](repeating: 0, count: width * height * 3)
        // The height of each hill's edge at each column, from the farthest to the nearest.
        let hills: [(edge: [Double], colour: Colour, lower: Colour)] = [
            (edge(width, scale, base: 236, swings: [(16, 61, 0.4), (7, 23, 1.9)]), (112, 92, 142), (146, 104, 140)),
            (edge(width, scale, base: 262, swings: [(15, 83, 2.7), (5, 29, 0.3)]), (66, 66, 112), (82, 74, 114)),
            (edge(width, scale, base: 292, swings: [(12, 118, 1.2), (3, 37, 2.2)]), (32, 52, 70), (22, 36, 50)),
        ]
        for row in 0..<height {
            let y = (Double(row) + 0.5) / scale
            let sky = skyColour(y)
            for column in 0..<width {
                let x = (Double(column) + 0.5) / scale
                var colour = sky
                // The glow of the sun that has just set.
                let (dx, dy) = ((x - 250) / 330, (y - 250) / 120)
                let glow = max(0, 1 - dx * dx - dy * dy)
                colour = mix(colour, (255, 206, 142), glow * glow * 0.75)
                for hill in y < 200 ? [] : hills {
                    let cover = min(max((y - hill.edge[column]) * scale + 0.5, 0), 1)
                    if cover > 0 {
                        let depth = min(max((y - hill.edge[column]) / 60, 0), 1)
                        colour = mix(colour, mix(hill.colour, hill.lower, depth), cover)
                    }
                }
                let offset = (row * width + column) * 3
                pixels[offset] = UInt8(min(max(colour.red, 0), 255))
                pixels[offset + 1] = UInt8(min(max(colour.green, 0), 255))
                pixels[offset + 2] = UInt8(min(max(colour.blue, 0), 255))
            }
        }
        guard let image = RGBImage(width: width, height: height, pixels: pixels) else {
            return I420Frame(width: width, height: height)
        }
        return I420Frame(image)
    }

    private static func skyColour(_ y: Double) -> Colour {
        let stops: [(Double, Colour)] = [
            (0, (24, 36, 84)), (110, (62, 74, 140)), (185, (150, 116, 160)), (250, (244, 168, 120)),
            (360, (244, 168, 120)),
        ]
        for (from, to) in zip(stops, stops.dropFirst()) where y <= to.0 {
            return mix(from.1, to.1, (y - from.0) / (to.0 - from.0))
        }
        return stops[0].1
    }

    private static func edge(
        _ width: Int, _ scale: Double, base: Double, swings: [(height: Double, length: Double, phase: Double)]
    ) -> [Double] {
        (0..<width).map { column in
            let x = Double(column) / scale
            return swings.reduce(base) { $0 + $1.height * sin(x / $1.length + $1.phase) }
        }
    }

    private static func mix(_ first: Colour, _ second: Colour, _ share: Double) -> Colour {
        (
            first.red + (second.red - first.red) * share, first.green + (second.green - first.green) * share,
            first.blue + (second.blue - first.blue) * share
        )
    }

    // MARK: House

    private static func drawHouse(on frame: inout I420Frame, scale: Double) {
        let wall = YUVColour(red: 58, green: 62, blue: 88)
        let trim = YUVColour(red: 88, green: 90, blue: 118)
        let roof = YUVColour(red: 36, green: 34, blue: 56)
        let light = YUVColour(red: 255, green: 208, blue: 128)
        let door = YUVColour(red: 150, green: 68, blue: 62)
        func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ radius: Double, _ colour: YUVColour) {
            let mask = CoverageMask.roundedRectangle(
                width: Int(width * scale), height: Int(height * scale), radius: radius * scale)
            frame.blend(mask, x: Int(x * scale), y: Int(y * scale), colour: colour)
        }
        let house = 470.0
        box(house + 120, 150, 18, 52, 2, roof)
        box(house, 208, 172, 124, 2, wall)
        let gable = CoverageMask(width: Int(208 * scale), height: Int(66 * scale)) { x, y in
            let slope = 66.0 / 104
            return (y / scale - abs(x / scale - 104) * slope) * scale * 0.84 + 0.5
        }
        frame.blend(gable, x: Int((house - 18) * scale), y: Int(146 * scale), colour: roof)
        // Light falls from the windows onto the wall around them.
        let glow = CoverageMask(width: Int(120 * scale), height: Int(120 * scale)) { x, y in
            let (dx, dy) = (x / scale / 60 - 1, y / scale / 60 - 1)
            let nearness = max(0, 1 - dx * dx - dy * dy)
            return nearness * nearness * 0.5
        }
        frame.blend(glow, x: Int((house - 24) * scale), y: Int(200 * scale), colour: light)
        box(house + 14, 232, 44, 50, 3, trim)
        box(house + 17, 235, 18, 21, 1, light)
        box(house + 37, 235, 18, 21, 1, light)
        box(house + 17, 258, 18, 21, 1, light)
        box(house + 37, 258, 18, 21, 1, light)
        box(house + 64, 180, 26, 26, 13, trim)
        box(house + 67, 183, 20, 20, 10, light)
        box(house + 72, 228, 36, 104, 3, trim)
        box(house + 75, 231, 30, 101, 2, door)
        box(house + 81, 238, 18, 26, 9, light)
        box(house + 97, 284, 4, 9, 2, light)
        // The doorbell's housing; its ring of light is one of the moving parts.
        box(button.x - 10, button.y - 20, 20, 42, 9, YUVColour(red: 22, green: 24, blue: 36))
        let lens = CoverageMask.disc(diameter: 7 * scale)
        frame.blend(
            lens, x: Int((button.x - 4) * scale), y: Int((button.y - 15.5) * scale),
            colour: YUVColour(red: 96, green: 116, blue: 150))
        // The strip for the stamp, and a soft shade above it for the line of text.
        let shade = CoverageMask(width: frame.width, height: Int(44 * scale)) { _, y in min(y / scale / 30, 1) * 0.8 }
        frame.blend(
            shade, x: 0, y: frame.height - shade.height, colour: YUVColour(red: 12, green: 16, blue: 28))
    }
}
