import Signalling
import Testing

@testable import Gateway

@Suite struct LiveViewMetricsTests {
    private func session(_ stream: LiveViewSnapshot.Stream?, estimate: UInt64 = 0) -> LiveViewSnapshot {
        var statistics = LiveViewSnapshot.Statistics()
        statistics.estimatedBitrate = estimate
        return LiveViewSnapshot(
            mediaSessionId: "session", deviceID: "door", principal: "owner", state: .connected, expiresInSeconds: 60,
            isTalking: false, codecs: ["H264"], steps: [], statistics: statistics, notes: [], stream: stream)
    }

    private func lines(_ sessions: [LiveViewSnapshot], of name: String) -> [String] {
        PrometheusText.encode(LiveViewMetrics.families(sessions))
            .split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix(name + "{") || $0.hasPrefix(name + " ") }
    }

    @Test func viewersAreCountedByTheReasonForTheirStream() {
        let sessions = [
            session(LiveViewSnapshot.Stream(name: .sub, reason: .path)),
            session(LiveViewSnapshot.Stream(name: .sub, reason: .path)),
            session(LiveViewSnapshot.Stream(name: .main, reason: .only)),
            // Sound alone.
            session(nil),
        ]
        #expect(
            lines(sessions, of: "gatehouse_relay_viewers_by_reason") == [
                #"gatehouse_relay_viewers_by_reason{stream="main",reason="only"} 1"#,
                #"gatehouse_relay_viewers_by_reason{stream="main",reason="largest"} 0"#,
                #"gatehouse_relay_viewers_by_reason{stream="sub",reason="only"} 0"#,
                #"gatehouse_relay_viewers_by_reason{stream="sub",reason="hint"} 0"#,
                #"gatehouse_relay_viewers_by_reason{stream="sub",reason="path"} 2"#,
            ])
    }

    /// As in a histogram, a bound counts every viewer at or below it.
    @Test func viewersAreCountedByWhatTheirPathCarries() {
        let sessions = [900_000, 1_000_000, 1_000_001, 70_000_000, 0].map { session(nil, estimate: $0) }
        #expect(
            lines(sessions, of: "gatehouse_relay_viewers_by_estimate") == [
                #"gatehouse_relay_viewers_by_estimate{le="250000"} 0"#,
                #"gatehouse_relay_viewers_by_estimate{le="500000"} 0"#,
                #"gatehouse_relay_viewers_by_estimate{le="1000000"} 2"#,
                #"gatehouse_relay_viewers_by_estimate{le="2000000"} 3"#,
                #"gatehouse_relay_viewers_by_estimate{le="4000000"} 3"#,
                #"gatehouse_relay_viewers_by_estimate{le="8000000"} 3"#,
                #"gatehouse_relay_viewers_by_estimate{le="16000000"} 3"#,
                #"gatehouse_relay_viewers_by_estimate{le="32000000"} 3"#,
                #"gatehouse_relay_viewers_by_estimate{le="+Inf"} 4"#,
            ])
        #expect(
            lines(sessions, of: "gatehouse_relay_estimated_bits_per_second") == [
                "gatehouse_relay_estimated_bits_per_second 72900001"
            ])
    }

    @Test func withoutViewersEverySampleIsThere() {
        let families = LiveViewMetrics.families([])
        #expect(families.map(\.samples.count) == [5, 9, 1])
        #expect(families.allSatisfy { family in family.samples.allSatisfy { $0.value == 0 } })
    }
}
