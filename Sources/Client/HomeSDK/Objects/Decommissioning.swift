import Foundation
import GatewayClient
import HomeTypes

/// Whether a device can be removed from the home, and what would happen (Home APIs, `DecommissionEligibility`).
public struct DecommissionEligibility: Sendable, Hashable, Decodable {
    /// What a device has recorded.
    public struct Recordings: Sendable, Hashable, Decodable {
        /// How many recordings there are.
        public var count: Int
        /// Their size in bytes.
        public var byteCount: Int
    }

    /// Whether it can be removed.
    public var isEligible: Bool
    /// Why it cannot, and what to do; nil when it can.
    public var reason: String?
    /// The identifiers of all devices that would be removed.
    public var removes: Set<String>
    /// What the device has recorded. The recordings stay.
    public var recordings: Recordings
    /// What happens to its events, as a text.
    public var history: String
    /// The names of the automations that use the device. They stay, but the parts that need the device stop working.
    public var automations: [String]
    /// The names of the tokens with grants for this device alone. These grants are removed, and a token without other
    /// grants is revoked.
    public var tokens: [String]
    /// Whether the device reports its events with a token of its own, which is revoked.
    public var webhook: Bool
}

extension HomeDevice {
    private struct Removed: Decodable {
        var removed: Set<String>
    }

    /// Whether the device can be removed from the home, and what would happen.
    public var decommissionEligibility: DecommissionEligibility {
        get async throws(HomeError) { try await model.request(.get, "/v1/devices/\(id)/decommission") }
    }

    /// Removes the device from the home. Its recordings stay.
    /// - Returns: the identifiers of all devices that were removed.
    /// - Throws: `failedPrecondition` when `decommissionEligibility` says that it cannot be removed.
    @discardableResult
    public func decommission() async throws(HomeError) -> Set<String> {
        let removed: Removed = try await model.request(.delete, "/v1/devices/\(id)")
        await model.settle(.devices) { home in removed.removed.allSatisfy { home.devices[$0] == nil } }
        return removed.removed
    }
}
