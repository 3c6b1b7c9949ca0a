import Foundation
import Signalling

/// A live-view session as the API shows it: the signalling service's snapshot with the end of the lease.
public struct SessionSnapshot: Sendable, Codable, Equatable {
    /// The session.
    public var session: LiveViewSnapshot
    /// When the lease ends.
    public var expiresAt: Date

    /// Describes a session seen at `now`.
    public init(_ session: LiveViewSnapshot, now: Date) {
        self.session = session
        // Whole seconds: the lease changes in seconds, and two snapshots of an unchanged session should be equal.
        let end = now.timeIntervalSince1970 + session.expiresInSeconds
        self.expiresAt = Date(timeIntervalSince1970: end.rounded())
    }

    private enum CodingKeys: String, CodingKey {
        case expiresAt
    }

    public init(from decoder: any Decoder) throws {
        session = try LiveViewSnapshot(from: decoder)
        expiresAt = try decoder.container(keyedBy: CodingKeys.self).decode(Date.self, forKey: .expiresAt)
    }

    public func encode(to encoder: any Encoder) throws {
        try session.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(expiresAt, forKey: .expiresAt)
    }

    /// The same session after its end.
    var ended: SessionSnapshot {
        var ended = self
        ended.session.state = .ended
        ended.session.expiresInSeconds = 0
        return ended
    }

    /// Whether a watcher should get the difference. Counters and the passing of time alone are not reported.
    func isNews(comparedTo earlier: SessionSnapshot) -> Bool {
        session.state != earlier.session.state || session.isTalking != earlier.session.isTalking
            || session.talkback?.state != earlier.session.talkback?.state
            || session.talkback?.reason != earlier.session.talkback?.reason
            || session.steps.count != earlier.session.steps.count || session.codecs != earlier.session.codecs
            || session.notes != earlier.session.notes || session.path != earlier.session.path
            || session.wantsICERestart != earlier.session.wantsICERestart
            || abs(expiresAt.timeIntervalSince(earlier.expiresAt)) > 2
    }
}
