import Foundation
import GatewayClient
import HomeTypes
import Testing

@Suite struct TimeTextTests {
    private static let now = Date(timeIntervalSince1970: 1_764_547_200)  // 2025-12-01T00:00:00Z

    private func timestamp(_ text: String) throws -> String {
        try TimeText.timestamp(text, option: "--from", now: Self.now)
    }

    @Test(arguments: [
        ("0s", "2025-12-01T00:00:00Z"), ("30m", "2025-11-30T23:30:00Z"), ("1h", "2025-11-30T23:00:00Z"),
        ("2d", "2025-11-29T00:00:00Z"), ("1.5h", "2025-11-30T22:30:00Z"), ("90s", "2025-11-30T23:58:30Z"),
    ])
    func `a time ago counts from now`(text: String, timestamp: String) throws {
        #expect(try self.timestamp(text) == timestamp)
    }

    @Test(arguments: ["2026-01-31T12:00:00Z", "2026-01-31T13:00:00+01:00", "2026-01-31T12:00:00.250Z"])
    func `a time stays as it is written`(text: String) throws {
        #expect(try timestamp(text) == text)
    }

    @Test(arguments: [
        "", "h", "1", "-1h", "+1h", "1e3d", "0x1h", "nanh", "infd", "1.2.3h", ".h", "1w", "1 h", "h1", "yesterday",
        "99999999d", "2026-01-31", "2026-01-31T12:00:00",
    ])
    func `any other text is refused with what is taken`(text: String) throws {
        let error = #expect(throws: HomeError.self) { try timestamp(text) }
        #expect(error?.code == .invalidArgument)
        for part in ["--from", "2026-01-31T12:00:00Z", "30m", "1h", "2d"] {
            #expect(error?.message.contains(part) == true, "\(part)")
        }
    }
}
