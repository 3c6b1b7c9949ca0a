import HTTPTypes
import Hummingbird
import Logging

/// Counts requests and writes one debug line per request to the log. The line contains the route and the device, but
/// not the path, which may contain a session id.
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
        metrics.record(
            method: request.method.rawValue, route: route, status: response.status.code, duration: duration)
        guard context.logger.logLevel <= .debug else { return response }
        var metadata: Logger.Metadata = [
            "method": "\(request.method.rawValue)", "route": "\(route)", "status": "\(response.status.code)",
            "milliseconds": "\(Self.milliseconds(duration))", "client": "\(context.remoteHost ?? "unknown")",
        ]
        if let device = context.parameters.get("device") ?? context.parameters.get("camera") {
            metadata["camera"] = "\(device.prefix(64))"
        }
        context.logger.debug("http request", metadata: metadata)
        return response
    }

    static func milliseconds(_ duration: Duration) -> String {
        let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
        let fraction = String(microseconds % 1000)
        return "\(microseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}
