import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

/// The events of one device: their history, and reports from the device or on its behalf.
extension GatewayAPI {
    /// The response to `GET /v1/devices/{device}/events`.
    struct EventList: Codable, Sendable, Equatable {
        var events: [DeviceEvent]
    }

    /// The response to a reported event.
    struct ReportAnswer: Codable, Sendable, Equatable {
        /// Whether it was new; false if it repeats what is known.
        var accepted: Bool
    }

    func addDeviceEventRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/devices/:device/events") { request, context in
            let device = try deviceID(context)
            let query = request.uri.queryParameters
            var limit = 50
            if let text = query["limit"] {
                guard let value = Int(text), (1...HomeHub.maximumEvents).contains(value) else {
                    throw HomeError.invalidArgument("limit must be a whole number from 1 to \(HomeHub.maximumEvents)")
                }
                limit = value
            }
            var (since, after): (Date?, String?) = (nil, nil)
            if let text = query["since"].map(String.init) {
                since = Self.date(text)
                after = since == nil ? text : nil
                guard since != nil || (text.utf8.count <= LogCursor.maximumLength && text.contains("-")) else {
                    throw HomeError.invalidArgument(
                        "since must be a time like 2026-01-31T12:00:00Z or the id of an event")
                }
            }
            let events = try await hub.events(of: device, since: since, after: after, limit: limit)
            return try JSONBody.response(EventList(events: events))
        }
        router.post("/v1/devices/:device/events") { request, context in
            let device = try deviceID(context)
            // Only the device's own token gets here without a principal.
            return try await take(
                JSONBody.read(ReportedEvent.self, from: request), of: device, byDevice: context.principal == nil)
        }
        // For cameras that can only open an address when something happens. The secret in the path is the permission,
        // so this route needs no header.
        for method in [HTTPRequest.Method.get, .post] {
            router.on("/v1/webhooks/:device/:secret/:type", method: method) { request, context in
                let device = try deviceID(context)
                let holder = webhooks.device(holding: try context.parameters.require("secret"))
                guard holder.map({ hub.names.id(of: $0) }) == device else {
                    throw HomeError.permissionDenied(
                        "the device does not exist, or the webhook token is wrong; gatehouse token --webhook "
                            + "shows the right address")
                }
                let name = try context.parameters.require("type")
                guard let type = ReportedEvent.Kind(rawValue: name) else {
                    throw HomeError.invalidArgument("the type must be one of \(ReportedEvent.Kind.names)")
                }
                var event = ReportedEvent(type: type)
                switch request.uri.queryParameters["active"] {
                case nil: break
                case "true", "1", "on": event.active = true
                case "false", "0", "off": event.active = false
                default: throw HomeError.invalidArgument("active must be true or false")
                }
                return try await take(event, of: device, byDevice: true)
            }
        }
    }

    private func take(_ event: ReportedEvent, of device: String, byDevice: Bool) async throws -> Response {
        if let tone = event.complementaryToneId, tone.utf8.count > 64 {
            throw HomeError.invalidArgument("complementaryToneId is longer than 64 bytes")
        }
        // Only devices that exist have a place among the limits.
        _ = try await hub.device(device)
        if event.type == .privacy { return try await takePrivacy(event, of: device, byDevice: byDevice) }
        // What tokens report must not keep what the device itself reports from being heard.
        guard eventLimiter.allows(byDevice ? "\(device) itself" : device, at: Date()) else {
            throw HomeError.resourceExhausted("too many events for device \(device); send at most one per second")
        }
        return try JSONBody.response(ReportAnswer(accepted: try await hub.report(event, of: device)))
    }

    /// The camera's privacy switch. Apps cannot operate it, and neither can the owner's token: it is a switch that
    /// somebody at the camera moves.
    private func takePrivacy(_ event: ReportedEvent, of device: String, byDevice: Bool) async throws -> Response {
        guard byDevice else {
            throw HomeError.permissionDenied(
                "only device \(device) itself reports its privacy switch, with its webhook token; apps use "
                    + "softRecordingPrivacyModeEnabled and softLivestreamPrivacyModeEnabled")
        }
        guard let isOn = event.active else {
            throw HomeError.invalidArgument("active is missing; privacy is on (true) or off (false)")
        }
        // Motion and presses have their own limit, and must not keep the switch from being heard. Turning it on is never
        // refused: without turning it off in between, it changes nothing, and costs no write to the disk.
        guard isOn || eventLimiter.allows("\(device) privacy", at: Date()) else {
            throw HomeError.resourceExhausted(
                "the privacy switch of device \(device) is turned off too often; at most once per second")
        }
        return try JSONBody.response(ReportAnswer(accepted: try await hub.setPrivacySwitch(isOn, of: device)))
    }

    private static func date(_ text: String) -> Date? {
        // In a query, the plus sign of a time zone means a space.
        let text = text.replacingOccurrences(of: " ", with: "+")
        let formatter = ISO8601DateFormatter()
        if let date = formatter.date(from: text) { return date }
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter.date(from: text)
    }
}
