import HTTPTypes
import Hummingbird
import Logging

/// Counts requests and writes one log line for each. The line holds the route, not the path: that may hold a
/// session id.
struct ObservationMiddleware: RouterMiddleware {
    let metrics: HTTPMetrics

    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await next(request, context)
        let duration = start.duration(to: .now)
        let route = context.endpointPath ?? "unknown"
        self.metrics.record(
            method: request.method.rawValue, route: route, status: response.status.code, duration: duration)
        let isQuiet = response.status.code < 400 && request.method == .get
        context.logger.log(
            level: isQuiet ? .debug : .info, "http request",
            metadata: [
                "method": "\(request.method.rawValue)", "route": "\(route)", "status": "\(response.status.code)",
                "milliseconds": "\(Self.milliseconds(duration))", "client": "\(context.remoteHost ?? "unknown")",
            ])
        return response
    }

    static func milliseconds(_ duration: Duration) -> String {
        let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
        let fraction = String(microseconds % 1000)
        return "\(microseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}
