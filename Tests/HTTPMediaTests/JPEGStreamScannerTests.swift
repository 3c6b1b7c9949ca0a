import Codecs
import Testing
import Transport

@testable import HTTPMedia

@Suite struct JPEGStreamScannerTests {
    private let pictures: [[UInt8]]

    init() throws {
        pictures = try [40, 80, 120].map { luma in
            var frame = I420Frame(width: 64, height: 48)
            for index in frame.luma.indices { frame.luma[index] = UInt8(luma + index % 64) }
            return try JPEGEncoder.encode(frame)
        }
    }

    /// The pictures that are found when the bytes come in pieces of `size`.
    private func scan(
        _ bytes: [UInt8], size: Int = 100_000, limit: Int = 1 << 20
    ) -> (found: [[UInt8]], damaged: UInt64) {
        var scanner = JPEGStreamScanner(maximumLength: limit)
        var found: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { piece in
                scanner.append(piece) { found.append($0) }
            }
        }
        return (found, scanner.damaged)
    }

    private func part(_ picture: [UInt8], _ head: String) -> [UInt8] { Array(head.utf8) + picture }

    @Test(
        arguments: [
            "\r\n--frame\r\nContent-Type: image/jpeg\r\nContent-Length: 1\r\n\r\n",
            "--somethingElse\r\nContent-type:image/jpeg\r\n\r\n", "\r\n", "",
            "\r\n--x\r\nContent-Length: 999999\r\nX-Timestamp: 1.2\r\n\r\n",
        ], [1, 5, 100_000])
    func `pictures are found whatever stands between them`(head: String, size: Int) {
        let stream = pictures.flatMap { part($0, head) }
        let (found, damaged) = scan(stream, size: size)
        #expect(found == pictures)
        #expect(damaged == 0)
    }

    @Test func `a picture is handed out with its last byte`() {
        var scanner = JPEGStreamScanner()
        var found = 0
        pictures[0].dropLast().withUnsafeBytes { bytes in scanner.append(bytes) { _ in found += 1 } }
        #expect(found == 0)
        [UInt8(0xD9)].withUnsafeBytes { bytes in scanner.append(bytes) { _ in found += 1 } }
        #expect(found == 1)
    }

    @Test func `a preview inside a picture is not a picture of its own`() {
        let preview = pictures[1]
        let length = preview.count + 2
        let segment = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + preview
        let picture = pictures[0][..<2] + segment + pictures[0][2...]
        #expect(scan(Array(picture)).found == [Array(picture)])
    }

    @Test func `a picture that is cut off does not spoil the next one`() {
        // The end of the coded data is missing, with the marker after it.
        let cut = pictures[0].dropLast(3)
        let (found, damaged) = scan(cut + part(pictures[1], "\r\n--x\r\n\r\n") + pictures[2])
        #expect(found == [pictures[1], pictures[2]])
        #expect(damaged == 1)
    }

    @Test func `a picture without end is dropped before it fills memory`() {
        let endless = pictures[0].dropLast(2) + [UInt8](repeating: 0x11, count: 50_000)
        let (found, damaged) = scan(endless + pictures[1], size: 700, limit: 8192)
        #expect(found == [pictures[1]])
        #expect(damaged == 1)
    }

    @Test func `damaged streams give only what begins and ends like a picture`() {
        var random = RandomSource.seeded(14)
        let stream = pictures.flatMap { part($0, "\r\n--frame\r\nContent-Type: image/jpeg\r\n\r\n") }
        for _ in 0..<2000 {
            var bytes = stream
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                if Bool.random(using: &random) {
                    bytes[place] = UInt8.random(in: 0...255, using: &random)
                } else {
                    bytes.removeSubrange(place..<min(place + Int.random(in: 1...40, using: &random), bytes.count))
                }
            }
            let whole = scan(bytes)
            #expect(scan(bytes, size: 13).found == whole.found)
            #expect(whole.found.allSatisfy { $0.starts(with: [0xFF, 0xD8, 0xFF]) && $0.suffix(2) == [0xFF, 0xD9] })
        }
    }
}
