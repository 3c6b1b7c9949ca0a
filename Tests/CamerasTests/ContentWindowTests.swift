import StreamFormats
import Testing

@testable import Cameras
@testable import HTTPMedia

struct ContentWindowTests {
    private static func head(_ status: Int, _ range: String? = nil) -> HTTPHead {
        HTTPHead(status: status, fields: range.map { [.init(name: "content-range", value: $0)] } ?? [])
    }

    /// The positions that are taken of content that comes in pieces of 10 bytes.
    private static func taken(
        _ bytes: Range<Int64>?, of head: HTTPHead, pieces: Int
    ) throws(CameraFailure) -> [Range<Int>] {
        var window = try ContentWindow(bytes, of: head)
        return (0..<pieces).map { _ in window.take(10) }
    }

    @Test func `A whole file is taken whole`() throws {
        var window = try ContentWindow(nil, of: Self.head(200))
        #expect(window.take(10) == 0..<10 && window.take(0) == 0..<0 && !window.isComplete)
    }

    @Test func `A part of a file is taken as it comes`() throws {
        #expect(try Self.taken(25..<40, of: Self.head(206, "bytes 25-39/100"), pieces: 3) == [0..<10, 0..<5, 0..<0])
    }

    @Test func `A server that sends the whole file is understood`() throws {
        var window = try ContentWindow(15..<32, of: Self.head(200))
        #expect((0..<4).map { _ in window.take(10) } == [10..<10, 5..<10, 0..<10, 0..<2] && window.isComplete)
    }

    @Test(arguments: ["bytes 24-39/100", "bytes */100", "lines 25-39/100", "bytes -25-39", nil])
    func `Another part of the file is refused`(range: String?) {
        #expect(throws: CameraFailure.self) { _ = try ContentWindow(25..<40, of: Self.head(206, range)) }
    }
}
