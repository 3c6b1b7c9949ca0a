import RTSP
import Testing

@Suite struct RTSPRangeTests {
    /// The examples of RFC 2326, sections 3.6, 3.7 and 12.29.
    static let good: [(text: String, range: RTSPRange)] = [
        ("npt=123.45-125", .npt(from: 123_450_000, until: 125_000_000)),
        ("npt=12:05:35.3-", .npt(from: 43_535_300_000, until: nil)),
        ("npt=now-", .npt(from: nil, until: nil)),
        ("npt=-20", .npt(from: nil, until: 20_000_000)),
        ("npt = 10 - 15 ;time=19970123T153600Z", .npt(from: 10_000_000, until: 15_000_000)),
        (
            "clock=19961108T142300Z-19961108T143520Z",
            .clock(from: 847_462_980_000_000, until: 847_463_720_000_000)
        ),
        ("clock=19961108T143720.25Z-", .clock(from: 847_463_840_250_000, until: nil)),
    ]

    @Test("ranges of RFC 2326 are read", arguments: good)
    func reads(_ text: String, _ range: RTSPRange) throws {
        #expect(try RTSPRange(parsing: text) == range)
    }

    @Test("a range that was written is read again")
    func roundTrip() throws {
        for (_, range) in Self.good { #expect(try RTSPRange(parsing: range.text) == range) }
        #expect(RTSPRange.clock(from: 847_463_840_250_000, until: nil).text == "clock=19961108T143720.250000Z-")
        #expect(RTSPRange.npt(from: 1_500_000, until: nil).text == "npt=1.500000-")
    }

    @Test("another unit is distinguished from what cannot be read")
    func faults() {
        #expect(throws: RTSPRange.Fault.unknownUnit) { try RTSPRange(parsing: "smpte=10:12:33:20-") }
        for text in [
            "", "npt", "npt=x-", "npt=5-3", "npt=1:2-", "npt=1:60:00-", "npt=99999999999999-", "clock=-", "clock=now-",
            "clock=19961308T142300Z-", "clock=19961108T142300-", "clock=19961108T142300Z-19961108T142259Z",
        ] {
            #expect(throws: RTSPRange.Fault.unreadable, "\(text)") { try RTSPRange(parsing: text) }
        }
    }

    @Test("times of the day are read with separators as well, and leap days are days")
    func clock() {
        #expect(RTSPRange.clock("2026-11-22T17:43:51.5Z") == 1_795_369_431_500_000)
        #expect(RTSPRange.clock("20240229T000000Z") == 1_709_164_800_000_000)
        #expect(RTSPRange.clock("19700101T000000Z") == 0)
    }
}
