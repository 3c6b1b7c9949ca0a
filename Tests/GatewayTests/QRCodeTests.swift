import Foundation
import Testing

@testable import Gateway

/// `test_share_links.py` has a real decoder read the codes.
@Suite struct QRCodeTests {
    @Test func `the size is the smallest that the text fits in`() throws {
        for (count, version) in [(1, 1), (14, 1), (15, 2), (26, 2), (27, 3), (180, 9), (181, 10), (666, 20)] {
            let code = try #require(QRCode(String(repeating: "a", count: count)))
            #expect(code.size == version * 4 + 17, "\(count) bytes")
        }
        #expect(QRCode(String(repeating: "a", count: QRCode.longest + 1)) == nil)
    }

    @Test func `the correction is that of the standard's example`() {
        // ISO/IEC 18004, annex I: the digits 01234567 in version 1-M.
        let data: [UInt8] = [
            0x10, 0x20, 0x0C, 0x56, 0x61, 0x80, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11,
        ]
        #expect(
            ReedSolomon(correctionLength: 10).correction(of: data)
                == [0xA5, 0x24, 0xD4, 0xC1, 0xED, 0x36, 0xC7, 0x87, 0x2C, 0x55])
    }

    @Test(arguments: [1, 100, 300, 666]) func `the fixed patterns are where readers look for them`(count: Int) throws {
        let code = try #require(QRCode(String(repeating: "z", count: count)))
        let last = code.size - 1
        for (column, row) in [(0, 0), (last - 6, 0), (0, last - 6)] {
            for step in 0...6 {
                #expect(code.isDark(column + step, row) && code.isDark(column + step, row + 6))
                #expect(code.isDark(column, row + step) && code.isDark(column + 6, row + step))
            }
            #expect(code.isDark(column + 3, row + 3) && !code.isDark(column + 1, row + 1))
        }
        for index in 8..<code.size - 8 { #expect(code.isDark(index, 6) == index.isMultiple(of: 2)) }
        #expect(code.isDark(8, last - 7))
    }

    @Test func `the picture and the text have the border that readers need`() throws {
        let code = try #require(QRCode("a"))
        #expect(code.svg.contains(#"viewBox="0 0 29 29""#) && code.svg.contains(##"fill="#fff""##))
        let lines = code.text().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 15 && lines.allSatisfy { $0.count == 29 })
        #expect(lines[0].allSatisfy { $0 == "█" } && lines[5].hasPrefix("████"))
        let inverted = code.text(isInverted: true).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(inverted[0].allSatisfy { $0 == " " })
    }

    @Test func `a day ends at midnight, and a time is taken as it is`() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        func seconds(_ text: String) -> Double? { ShareEnd.date(text, zone: zone)?.timeIntervalSince1970 }
        #expect(seconds("2026-12-24T18:00") == 1_798_131_600)
        #expect(seconds("2026-12-24 18:00") == 1_798_131_600)
        #expect(seconds("2026-12-24T18:00:00Z") == 1_798_135_200)
        #expect(seconds("2026-12-24") == 1_798_153_200)
        for wrong in ["", "tomorrow", "2026-13-01", "2026-02-30", "24.12.2026", "2026-12-24T25:00"] {
            #expect(seconds(wrong) == nil, "\(wrong)")
        }
    }
}
