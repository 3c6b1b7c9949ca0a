import Foundation
import Testing

@testable import RecordingUpload

@Suite("Retry-After") struct RetryAfterTests {
    private let now = Date(timeIntervalSince1970: 1_445_412_480)

    @Test(
        arguments: [
            ("120", 120.0), (" 0 ", 0), ("Wed, 21 Oct 2015 07:29:00 GMT", 60), ("Wed, 21 Oct 2015 07:27:00 GMT", nil),
            ("-5", nil), ("1e9", nil), ("", nil), ("99999999999", nil), ("soon", nil),
        ] as [(String, Double?)])
    func `seconds and dates are read, and nothing else`(text: String, seconds: Double?) {
        #expect(RetryAfter.parse(text, now: now) == seconds.map { .seconds($0) })
    }
}
