import Foundation

/// Conversions between the ways in which lights name a colour.
enum Colour {
    /// Hue in degrees and saturation in percent of a colour with red, green and blue from 0 to 255.
    static func hueAndSaturation(red: Double, green: Double, blue: Double) -> (hue: Double, saturation: Double) {
        let highest = max(red, green, blue)
        let spread = highest - min(red, green, blue)
        guard highest > 0, spread > 0 else { return (0, 0) }
        var hue: Double
        if highest == red {
            hue = (green - blue) / spread
        } else if highest == green {
            hue = 2 + (blue - red) / spread
        } else {
            hue = 4 + (red - green) / spread
        }
        if hue < 0 { hue += 6 }
        return (hue * 60, spread / highest * 100)
    }

    /// Red, green and blue from 0 to 255 of the brightest colour with this hue (degrees) and saturation (percent).
    static func redGreenBlue(hue: Double, saturation: Double) -> [Double] {
        let sector = (hue.truncatingRemainder(dividingBy: 360) + 360).truncatingRemainder(dividingBy: 360) / 60
        let saturation = min(max(saturation, 0), 100) / 100
        return [5.0, 3, 1].map { offset in
            let position = (offset + sector).truncatingRemainder(dividingBy: 6)
            return 255 * (1 - saturation * max(0, min(position, 4 - position, 1)))
        }
    }

    /// The chromaticity of a colour with red, green and blue from 0 to 255 (IEC 61966-2-1).
    static func chromaticity(red: Double, green: Double, blue: Double) -> (x: Double, y: Double) {
        let linear = [red, green, blue].map { value in
            let part = min(max(value / 255, 0), 1)
            return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        let x = 0.4124 * linear[0] + 0.3576 * linear[1] + 0.1805 * linear[2]
        let y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        let z = 0.0193 * linear[0] + 0.1192 * linear[1] + 0.9505 * linear[2]
        let sum = x + y + z
        // Black does not have a chromaticity; the white point's is used.
        return sum > 0 ? (x / sum, y / sum) : (0.3127, 0.3290)
    }

    /// The chromaticity of the colour with this hue (degrees) and saturation (percent).
    static func chromaticity(hue: Double, saturation: Double) -> (x: Double, y: Double) {
        let parts = redGreenBlue(hue: hue, saturation: saturation)
        return chromaticity(red: parts[0], green: parts[1], blue: parts[2])
    }

    /// Hue (degrees) and saturation (percent) of a chromaticity, at full brightness.
    static func hueAndSaturation(x: Double, y: Double) -> (hue: Double, saturation: Double) {
        guard y > 0 else { return (0, 0) }
        let large = (x: x / y, z: (1 - x - y) / y)
        let linear = [
            3.2406 * large.x - 1.5372 - 0.4986 * large.z,
            -0.9689 * large.x + 1.8758 + 0.0415 * large.z,
            0.0557 * large.x - 0.2040 + 1.0570 * large.z,
        ].map { max($0, 0) }
        guard let highest = linear.max(), highest > 0 else { return (0, 0) }
        let parts = linear.map { value -> Double in
            let part = value / highest
            return 255 * (part <= 0.0031308 ? 12.92 * part : 1.055 * pow(part, 1 / 2.4) - 0.055)
        }
        return hueAndSaturation(red: parts[0], green: parts[1], blue: parts[2])
    }
}
