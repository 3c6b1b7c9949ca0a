import Codecs
import Testing

@testable import BuiltInPictures

@Suite struct BuiltInPictureTests {
    private static func moment(_ number: UInt32 = 0, at wallClock: UInt64 = 1_795_176_000_000_000)
        -> BuiltInPicture.Moment
    {
        BuiltInPicture.Moment(frameNumber: number, wallClock: wallClock, elapsed: Double(number) / 15)
    }

    private static func differs(_ first: I420Frame, _ second: I420Frame, rows: Range<Int>, columns: Range<Int>) -> Bool
    {
        rows.contains { row in
            columns.contains { first.luma[row * first.width + $0] != second.luma[row * first.width + $0] }
        }
    }

    @Test func everyPrintableCharacterHasAGlyph() {
        let box = StrokeFont.glyph("\u{1F6AA}")
        for character in (0x21...0x7A).map({ Character(Unicode.Scalar(UInt8($0))) })
        where character != "`" && character != "^" && character != "$" {
            let glyph = StrokeFont.glyph(character)
            #expect(glyph.strokes != box.strokes, "\(character)")
            #expect(glyph.strokes.allSatisfy { $0.count >= 2 }, "\(character)")
            #expect(glyph.strokes.joined().allSatisfy { (-2...8).contains($0.x) && (-1...9.1).contains($0.y) })
        }
        #expect(StrokeFont.glyph("ü").strokes.count == StrokeFont.glyph("u").strokes.count + 2)
        #expect(StrokeFont.glyph("Å").strokes.count == StrokeFont.glyph("A").strokes.count + 1)
        #expect(StrokeFont.glyph(" ").strokes.isEmpty)
    }

    @Test func thePictureMovesWithTheClockAndTheFrameNumber() {
        var picture = BuiltInPicture(name: "Front door", width: 640, height: 360, framesPerSecond: 15)
        let first = picture.draw(Self.moment(0))
        #expect(first == picture.draw(Self.moment(0)))
        let later = picture.draw(Self.moment(15, at: 1_795_176_001_000_000))
        // The last digit of the clock, the frame number, and the stamp.
        #expect(Self.differs(first, later, rows: 92..<160, columns: 366..<416))
        #expect(!Self.differs(first, later, rows: 92..<160, columns: 34..<140))
        #expect(Self.differs(first, later, rows: 328..<340, columns: 48..<140))
        #expect(TestPictureReader.read(later)?.frameNumber == 15)
    }

    @Test func aPressAndATalkerAreShown() {
        var picture = BuiltInPicture(name: "Front door", width: 640, height: 360, framesPerSecond: 15)
        let plain = picture.draw(Self.moment())
        var pressed = Self.moment()
        pressed.sincePress = 0.1
        #expect(Self.differs(plain, picture.draw(pressed), rows: 18..<45, columns: 500..<620))
        var quiet = Self.moment()
        quiet.speakerLevel = 0.1
        var loud = Self.moment()
        loud.speakerLevel = 1
        let (quietPicture, loudPicture) = (picture.draw(quiet), picture.draw(loud))
        #expect(Self.differs(plain, quietPicture, rows: 18..<45, columns: 500..<620))
        #expect(Self.differs(quietPicture, loudPicture, rows: 18..<45, columns: 500..<620))
    }

    @Test(arguments: [(320, 180), (1280, 720), (64, 36), (642, 362)])
    func thePictureCanBeDrawnInOtherSizes(width: Int, height: Int) {
        var picture = BuiltInPicture(
            name: String(repeating: "Ünïcödé 🚪 ", count: 9), width: width, height: height, framesPerSecond: 15)
        let frame = picture.draw(Self.moment(7))
        #expect(frame.width == width && frame.height == height)
        if width >= 320 { #expect(TestPictureReader.read(frame)?.frameNumber == 7) }
    }

    @Test func drawingBeyondTheEdgesIsCutOff() {
        let mask = CoverageMask(width: 9, height: 9) { _, _ in 1 }
        let white = YUVColour(red: 255, green: 255, blue: 255)
        for x in [-40, -10, -9, -1, 0, 15, 19, 20, 90] {
            for y in [-40, -10, -1, 0, 8, 11, 12, 90] {
                var frame = I420Frame(width: 20, height: 12)
                frame.blend(mask, x: x, y: y, colour: white)
                let isInside = x > -9 && x < 20 && y > -9 && y < 12
                #expect(frame.luma.contains { $0 > 16 } == isInside, "\(x) \(y)")
            }
        }
    }

    @Test func fullCoverGivesExactlyTheColour() {
        let mask = CoverageMask(width: 4, height: 4) { _, _ in 1 }
        var frame = I420Frame(width: 8, height: 8)
        let colour = YUVColour(red: 200, green: 30, blue: 60)
        frame.blend(mask, x: 2, y: 2, colour: colour)
        #expect(frame.luma[3 * 8 + 3] == colour.luma && frame.luma[0] == 16)
        #expect(frame.chromaBlue[1 * 4 + 1] == colour.chromaBlue && frame.chromaRed[1 * 4 + 1] == colour.chromaRed)
    }
}
