import NIOConcurrencyHelpers

/// Counts HTTP requests. Routes and statuses are few, so the table is bounded.
final class HTTPMetrics: Sendable {
    private struct Key: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    private struct Counts {
        var requests: [Key: UInt64] = [:]
        var seconds: Double = 0
    }

    private let counts = NIOLockedValueBox(Counts())

    /// Methods that are counted by name. A client may invent any number of others.
    private static let methods: Set<String> = ["GET", "POST", "PATCH", "DELETE", "OPTIONS", "HEAD", "PUT"]

    func record(method: String, route: String, status: Int, duration: Duration) {
        let key = Key(method: Self.methods.contains(method) ? method : "other", route: route, status: status)
        let (seconds, attoseconds) = duration.components
        self.counts.withLockedValue { counts in
            counts.requests[key, default: 0] &+= 1
            counts.seconds += Double(seconds) + Double(attoseconds) / 1e18
        }
    }

    func families() -> [MetricFamily] {
        let counts = self.counts.withLockedValue { $0 }
        let samples = counts.requests
            .sorted { ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status) }
            .map { key, value in
                MetricFamily.Sample(
                    Double(value),
                    labels: [("method", key.method), ("route", key.route), ("status", String(key.status))])
            }
        return [
            MetricFamily(
                name: "gatehouse_http_requests_total", help: "HTTP requests answered.", kind: .counter, samples: samples
            ),
            MetricFamily(
                name: "gatehouse_http_request_seconds_total", help: "Seconds from request to response head.",
                kind: .counter, samples: [.init(counts.seconds)]),
        ]
    }
}
