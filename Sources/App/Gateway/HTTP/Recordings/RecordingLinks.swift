import HomeTypes
import Signalling
import Transport

/// Addresses of footage that need no token, for players that cannot send one: Safari's, ffplay, and downloads by the
/// browser itself. Each holds 128 random bits, is for one device and one range, and ends after some hours.
final class RecordingLinks: Sendable {
    /// What an address opens.
    struct Link: Sendable, Equatable {
        var device: String
        /// Microseconds since 1970, UTC.
        var range: Range<Int64>
        var principal: String
        var expires: Instant
    }

    /// How long an address works.
    static let lifetime = Duration.seconds(6 * 3_600)
    /// How many there are. Principals share them.
    static let shares = PlaceShares(total: 512)

    private struct State {
        var links: [String: Link] = [:]
        var random = SystemRandomNumberGenerator()
    }

    private let state = Locked(State())

    /// Makes an address. The oldest one of the same principal gives way when it holds too many.
    /// - Returns: the secret part.
    func make(device: String, range: Range<Int64>, principal: String, now: Instant) throws(HomeError) -> String {
        let made = state.withLock { state -> String? in
            state.links = state.links.filter { $0.value.expires > now }
            if Self.shares.refusal(of: principal, holders: state.links.values.map(\.principal)) != nil {
                let own = state.links.filter { $0.value.principal == principal }
                guard let oldest = own.min(by: { $0.value.expires < $1.value.expires }) else { return nil }
                state.links[oldest.key] = nil
            }
            let secret = (0..<2).map { _ in
                let part = String(UInt64.random(in: .min ... .max, using: &state.random), radix: 16)
                return String(repeating: "0", count: 16 - part.count) + part
            }.joined()
            state.links[secret] = Link(
                device: device, range: range, principal: principal, expires: now + Self.lifetime)
            return secret
        }
        guard let made else {
            throw .resourceExhausted("too many links to recordings; they expire after six hours")
        }
        return made
    }

    /// Ends the addresses of a principal that may no longer see their devices.
    func end(of principal: String, unless permitted: @Sendable (_ device: String) -> Bool) {
        state.withLock { state in
            state.links = state.links.filter { $0.value.principal != principal || permitted($0.value.device) }
        }
    }

    /// What an address opens; nil when it has ended or was never made.
    func link(_ secret: String, now: Instant) -> Link? {
        state.withLock { state in
            guard let link = state.links[secret], link.expires > now else { return nil }
            return link
        }
    }
}
