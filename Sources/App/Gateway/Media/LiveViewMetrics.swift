import Signalling

/// The metrics of live views that only their descriptions contain, for Prometheus.
enum LiveViewMetrics {
    private typealias Stream = LiveViewSnapshot.Stream

    /// What a viewer may get, and why.
    private static let choices: [Stream] = [
        Stream(name: .main, reason: .only), Stream(name: .main, reason: .largest), Stream(name: .sub, reason: .only),
        Stream(name: .sub, reason: .hint), Stream(name: .sub, reason: .path),
    ]

    /// The upper bounds of the estimates, in bits a second: from a poor mobile connection to what a few cameras send.
    static let bounds: [UInt64] = [
        250_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000, 32_000_000,
    ]

    static func families(_ sessions: [LiveViewSnapshot]) -> [MetricFamily] {
        let streams = sessions.compactMap(\.stream)
        // 0 is unknown.
        let estimates = sessions.map(\.statistics.estimatedBitrate).filter { $0 > 0 }
        let byReason = choices.map { choice in
            MetricFamily.Sample(
                Double(streams.count { $0 == choice }),
                labels: [("stream", choice.name.rawValue), ("reason", choice.reason.rawValue)])
        }
        let byEstimate =
            bounds.map { bound in
                MetricFamily.Sample(Double(estimates.count { $0 <= bound }), labels: [("le", "\(bound)")])
            } + [MetricFamily.Sample(Double(estimates.count), labels: [("le", "+Inf")])]
        return [
            MetricFamily(
                name: "gatehouse_relay_viewers_by_reason",
                help: "Viewers by the camera's stream that they get, and why they get that one.", kind: .gauge,
                samples: byReason),
            MetricFamily(
                name: "gatehouse_relay_viewers_by_estimate",
                help: "Viewers whose path is estimated to carry so many bits a second (le) or less, now.",
                kind: .gauge, samples: byEstimate),
            MetricFamily(
                name: "gatehouse_relay_estimated_bits_per_second",
                help: "The sum of the estimates of what viewers' paths carry, now.", kind: .gauge,
                samples: [MetricFamily.Sample(Double(estimates.reduce(0, +)))]),
        ]
    }
}
