import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import PushAvStreamTransport

/// Ending the life of a device.
extension GatewayAPI {
    /// The response to `GET /v1/devices/{device}/decommission`: what would happen.
    struct DecommissionPlan: Codable, Sendable, Equatable {
        /// What is known of a device's recordings.
        struct Recordings: Codable, Sendable, Equatable {
            var count: Int
            var byteCount: Int64
        }

        var deviceID: String
        var isEligible: Bool
        /// Why the device cannot be decommissioned here, and what to do; missing for one that can.
        var reason: String?
        /// The devices that would be gone.
        var removes: [String]
        /// What the device has recorded. It stays unless the request deletes it.
        var recordings: Recordings
        /// Whether the device reports its events with a token, which would end.
        var webhook: Bool
        /// Until when its events can be read: the log keeps them by their age.
        var history: String
        /// The names of the automations that use the device; the identifier of one without a name. They stay, and what
        /// needs the device stops.
        var automations: [String]
        /// The names of the tokens with grants for this device alone. These grants go away, and a token without any other
        /// ends.
        var tokens: [String]
    }

    /// The response to `DELETE /v1/devices/{device}`.
    struct Decommissioned: Codable, Sendable, Equatable {
        /// The devices that are gone.
        var removed: [String]
        /// How many recordings were deleted, and how many stay.
        var recordings: RecordingDeletion
    }

    func addDecommissionRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/devices/:device/decommission") { _, context in
            try JSONBody.response(try await decommissionPlan(of: deviceID(context)))
        }
        router.delete("/v1/devices/:device") { request, context in
            let device = try deviceID(context)
            let deletes: Bool
            switch request.uri.queryParameters["recordings"] {
            case nil, "keep": deletes = false
            case "delete": deletes = true
            default: throw HomeError.invalidArgument("recordings must be keep or delete")
            }
            // Without the recordings nothing is known of them, and the device stays.
            _ = try await recordingTotals(of: device)
            do throws(HomeError) {
                try await keeper.decommission(device)
            } catch {
                guard error.code == .failedPrecondition else { throw error }
                throw HomeError(error.code, error.message, subtype: .decommission(.ineligible))
            }
            try await tokens.removeGrants(forDevice: device)
            if deletes { try await pictures?.removeAll(of: device) }
            return try JSONBody.response(
                Decommissioned(
                    removed: [device], recordings: try await recordings(ofRemoved: device, deleting: deletes)))
        }
    }

    private func decommissionPlan(of device: String) async throws -> DecommissionPlan {
        guard let record = hub.directory.record(ofDevice: device) else { throw HomeHub.unknownDevice(device) }
        var reason: String?
        do throws(HomeError) {
            try await keeper.requireRemovable(record)
        } catch {
            reason = error.message
        }
        let totals = try await recordingTotals(of: device)
        return DecommissionPlan(
            deviceID: device, isEligible: reason == nil, reason: reason, removes: reason == nil ? [device] : [],
            recordings: .init(count: totals.recordings, byteCount: totals.byteCount),
            webhook: webhooks.hasToken(record.key), history: "kept under the id until it is too old",
            automations: await automations.automations(naming: device).map { $0.name.isEmpty ? $0.id : $0.name },
            tokens: tokens.tokens(forDevice: device).map(\.record.name))
    }

    private func recordingTotals(of device: String) async throws -> RecordingTotals {
        guard let access = recordingAccess else { return RecordingTotals() }
        return try await access.read { store throws(PlaybackError) in
            do throws(RecordingFault) { return try store.totals()[device] ?? .init() } catch { throw .store(error) }
        }
    }

    /// What becomes of the recordings of a device that is gone. One that is still being written stays.
    private func recordings(ofRemoved device: String, deleting: Bool) async throws -> RecordingDeletion {
        guard deleting, let access = recordingAccess else {
            return RecordingDeletion(deleted: 0, kept: try await recordingTotals(of: device).recordings)
        }
        return try await access.read { store throws(PlaybackError) in
            try RecordingDeletion(of: device, .min..<(.max), in: store)
        }
    }
}
