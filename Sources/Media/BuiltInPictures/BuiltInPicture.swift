import Codecs
import Glibc

/// Draws the built-in camera's pictures: an evening scene with clouds and a balloon that drift, a large clock, the
/// camera's name, the frame number, and the stamp that a program reads.
public struct BuiltInPicture: Sendable {
    /// What a picture shows about its moment.
    public struct Moment: Sendable {
        /// The number of the picture, also in the stamp.
        public var frameNumber: UInt32
        /// Microseconds since 1970 (UTC).
        public var wallClock: UInt64
        /// Seconds since the camera was started.
        public var elapsed: Double
        /// Whether the camera's tone is playing.
        public var isBeeping: Bool
        /// Seconds since the doorbell was pressed; nil when that is long ago.
        public var sincePress: Double?
        /// How loud the speaker plays, 0 to 1; nil without a talk.
        public var speakerLevel: Double?

        public init(
            frameNumber: UInt32, wallClock: UInt64, elapsed: Double, isBeeping: Bool = false,
            sincePress: Double? = nil, speakerLevel: Double? = nil
        ) {
            self.frameNumber = frameNumber
            self.wallClock = wallClock
            self.elapsed = elapsed
            self.isBeeping = isBeeping
            self.sincePress = sincePress
            self.speakerLevel = speakerLevel
        }
    }

    private let name: String
    private let description: String
    private let scene: DoorstepScene
    private var frame: I420Frame
    private var clockDigits: Lettering
    private var clockTenths: Lettering
    private var title: Lettering
    private var small: Lettering
    private let clouds: [(mask: CoverageMask, y: Double, speed: Double, start: Double)]
    private let balloon: Balloon
    private let dot: CoverageMask
    private let ringDot: CoverageMask
    private let namePlate: CoverageMask
    private let talkPlate: CoverageMask
    private let levelBar: CoverageMask
    private let sweepTrack: CoverageMask
    private var minute: (number: UInt64, text: CivilTime)?

    private static let white = YUVColour(red: 255, green: 255, blue: 255)
    private static let shadow = YUVColour(red: 10, green: 14, blue: 32)
    private static let soft = YUVColour(red: 218, green: 222, blue: 240)
    private static let amber = YUVColour(red: 255, green: 204, blue: 112)
    private static let red = YUVColour(red: 240, green: 70, blue: 64)
    private static let cyan = YUVColour(red: 96, green: 214, blue: 255)

    /// - Parameters:
    ///   - name: what stands at the top. At most 28 characters are shown.
    ///   - width: pixels.
    ///   - height: pixels.
    ///   - framesPerSecond: what the picture says of its rate.
    public init(name: String, width: Int, height: Int, framesPerSecond: Int) {
        // A longer name would run over the picture's edge.
        self.name = name.count > 28 ? name.prefix(27) + "." : name
        description = "\(width)×\(height) · \(framesPerSecond) fps"
        scene = DoorstepScene(width: width, height: height)
        frame = scene.background
        let scale = scene.scale
        clockDigits = Lettering(size: 66 * scale, weight: 0.13)
        clockTenths = Lettering(size: 26 * scale, weight: 0.13)
        title = Lettering(size: 13 * scale, weight: 0.14)
        small = Lettering(size: 9 * scale, weight: 0.14)
        clouds = [
            (Self.cloud(150, 40, scale), 44, 5, 60), (Self.cloud(210, 48, scale), 96, 8, 360),
            (Self.cloud(120, 30, scale), 176, 12, 250),
        ]
        balloon = Balloon(scale: scale)
        dot = .disc(diameter: 9 * scale)
        ringDot = .disc(diameter: 3.4 * scale)
        namePlate = .roundedRectangle(
            width: Int(title.width(of: self.name) + 44 * scale), height: Int(27 * scale), radius: 13.4 * scale)
        talkPlate = .roundedRectangle(width: Int(128 * scale), height: Int(27 * scale), radius: 13.4 * scale)
        levelBar = .roundedRectangle(width: Int(4 * scale), height: Int(15 * scale), radius: 1.5 * scale)
        sweepTrack = .roundedRectangle(width: Int(300 * scale), height: Int(4 * scale), radius: 2 * scale)
    }

    /// Draws the picture of `moment`.
    public mutating func draw(_ moment: Moment) -> I420Frame {
        frame = scene.background
        drawSky(moment)
        drawDoorbell(moment)
        drawClock(moment)
        drawLabels(moment)
        TestPictureWriter.draw(
            TestPictureStamp(frameNumber: moment.frameNumber, captureTime: moment.wallClock), in: &frame)
        return frame
    }

    // MARK: Parts

    private mutating func drawSky(_ moment: Moment) {
        let scale = scene.scale
        let width = Double(frame.width) / scale
        for cloud in clouds {
            let travel = width + Double(cloud.mask.width) / scale
            let x = (cloud.start + moment.elapsed * cloud.speed).truncatingRemainder(dividingBy: travel)
            frame.blend(
                cloud.mask, x: Int((x * scale).rounded()) - cloud.mask.width, y: Int(cloud.y * scale),
                colour: YUVColour(red: 255, green: 214, blue: 206), opacity: 0.5)
        }
        let travel = width + 120
        let x = (470 + moment.elapsed * 9).truncatingRemainder(dividingBy: travel) - 60
        let y = 62 + 9 * sin(moment.elapsed * 0.7)
        balloon.draw(x: x * scale, y: y * scale, on: &frame)
    }

    /// The ring around the button: a spark runs around it once in two seconds; a press lights up the whole ring.
    private mutating func drawDoorbell(_ moment: Moment) {
        let scale = scene.scale
        let count = 20
        for index in 0..<count {
            let angle = Double(index) / Double(count) * 2 * .pi - .pi / 2
            let head = moment.elapsed / 2 - Double(index) / Double(count)
            let age = head - head.rounded(.down)
            let pressed = moment.sincePress.map { 0.5 + 0.5 * cos($0 * 2 * .pi * 2) } ?? 0
            let x = (DoorstepScene.button.x + 7 * cos(angle)) * scale - Double(ringDot.width) / 2
            let y = (DoorstepScene.button.y + 8 + 7 * sin(angle)) * scale - Double(ringDot.height) / 2
            frame.blend(
                ringDot, x: Int(x.rounded()), y: Int(y.rounded()),
                colour: moment.sincePress == nil ? Self.cyan : Self.amber, opacity: max(0.15, 1 - age * 1.6, pressed))
        }
    }

    private mutating func drawClock(_ moment: Moment) {
        let scale = scene.scale
        let second = moment.wallClock / 1_000_000
        if minute?.number != second / 60 {
            minute = (second / 60, CivilTime(secondsSince1970: Int(clamping: second)))
        }
        guard let civil = minute?.text else { return }
        let text = "\(civil.hourAndMinute):\(CivilTime.twoDigits(Int(second % 60)))"
        let tenths = ".\(moment.wallClock / 100_000 % 10)"
        let (x, y) = (34 * scale, 92 * scale)
        let tenthsX = x + clockDigits.width(of: text) + 12 * scale
        let tenthsY = y + 40 * scale
        for (offset, colour, opacity) in [(2.5 * scale, Self.shadow, 0.45), (0, Self.white, 1)] {
            clockDigits.draw(text, x: x, y: y + offset, colour: colour, opacity: opacity, on: &frame)
            clockTenths.draw(tenths, x: tenthsX, y: tenthsY + offset, colour: colour, opacity: opacity, on: &frame)
        }
        // The progress of the current second: it shows at once when the picture is frozen.
        let trackY = Int(176 * scale)
        frame.blend(sweepTrack, x: Int(x), y: trackY, colour: Self.white, opacity: 0.25)
        let fraction = Double(moment.wallClock % 1_000_000) / 1_000_000
        let knobX = x + fraction * Double(sweepTrack.width) - Double(dot.width) / 2
        frame.blend(
            dot, x: Int(knobX.rounded()), y: trackY + sweepTrack.height / 2 - dot.height / 2,
            colour: moment.isBeeping ? Self.amber : Self.white)
        title.draw(civil.date, x: x, y: 194 * scale + 1.5 * scale, colour: Self.shadow, opacity: 0.4, on: &frame)
        title.draw(civil.date, x: x, y: 194 * scale, colour: Self.white, on: &frame)
    }

    private mutating func drawLabels(_ moment: Moment) {
        let scale = scene.scale
        let (plateX, plateY) = (Int(18 * scale), Int(18 * scale))
        frame.blend(namePlate, x: plateX, y: plateY, colour: Self.shadow, opacity: 0.55)
        let isLit = moment.wallClock / 500_000 % 2 == 0
        frame.blend(
            dot, x: plateX + Int(11 * scale), y: plateY + (namePlate.height - dot.height) / 2, colour: Self.red,
            opacity: isLit ? 1 : 0.45)
        title.draw(
            name, x: Double(plateX) + 29 * scale, y: Double(plateY) + 7 * scale, colour: Self.white, on: &frame)

        if let since = moment.sincePress {
            drawPlate("Ding dong", colour: Self.amber, level: nil, opacity: min(1, max(0, (3 - since) * 2)))
        } else if let level = moment.speakerLevel {
            drawPlate("Talking", colour: Self.cyan, level: level, opacity: 1)
        }

        let digits = String(moment.frameNumber)
        let number = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
        let y = Double(frame.height) - 31 * scale
        small.draw("frame \(number)", x: 48 * scale, y: y, colour: Self.soft, on: &frame)
        small.draw(
            description, x: 592 * scale - small.width(of: description), y: y, colour: Self.soft, on: &frame)
    }

    private mutating func drawPlate(_ text: String, colour: YUVColour, level: Double?, opacity: Double) {
        let scale = scene.scale
        let x = frame.width - talkPlate.width - Int(18 * scale)
        let y = Int(18 * scale)
        frame.blend(talkPlate, x: x, y: y, colour: Self.shadow, opacity: 0.55 * opacity)
        title.draw(
            text, x: Double(x) + 15 * scale, y: Double(y) + 7 * scale, colour: colour, opacity: opacity, on: &frame)
        guard let level else { return }
        for bar in 0..<4 {
            frame.blend(
                levelBar, x: x + Int((90 + 6.5 * Double(bar)) * scale), y: y + (talkPlate.height - levelBar.height) / 2,
                colour: colour, opacity: level * 4 > Double(bar) + 0.3 ? 1 : 0.25)
        }
    }

    /// A cloud of a few soft heaps on a flat base.
    private static func cloud(_ width: Double, _ height: Double, _ scale: Double) -> CoverageMask {
        let heaps = [(0.2, 0.68, 0.2), (0.42, 0.45, 0.3), (0.66, 0.55, 0.26), (0.84, 0.72, 0.16)]
        return CoverageMask(width: Int(width * scale), height: Int(height * scale)) { x, y in
            let (x, y) = (x / scale / width, y / scale / height)
            var cover = 0.0
            for (heapX, heapY, size) in heaps {
                let (dx, dy) = ((x - heapX) / size, (y - heapY) / (size * 1.7))
                cover = max(cover, 1 - dx * dx - dy * dy)
            }
            return min(cover * 1.6, 1) * min(max((0.96 - y) * 5, 0), 1)
        }
    }
}
