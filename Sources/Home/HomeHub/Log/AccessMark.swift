import Foundation
import HomeTypes

/// A short text that differs between principals that may not read the same. A cursor carries it. The hub thereby recognizes a
/// returning watcher whose access has changed, even if the gateway has restarted since then.
///
/// It depends only on the grants: a device that moves to another structure is an entry of the log (``DeviceDeparture``).
enum AccessMark {
    /// The mark of those who may read the whole home. Their cursors have none, so all of them get the same events.
    static let wholeHome = ""

    /// The scopes that decide what a watcher of a part of the home gets. The alarms of automations need the last two.
    private static let scopes: [Caller.Scope] = [.read, .automate, .admin]

    /// The mark of an access. It is the same in every run of the gateway, and in whatever order the grants are.
    static func text(of access: Access) -> String {
        guard !access.permitsInWholeHome(.read) else { return wholeHome }
        var parts: Set<String> = []
        for grant in access.grants {
            let place = grant.deviceID.map { "device/\($0)" } ?? grant.structureID.map { "structure/\($0)" } ?? "home"
            for scope in scopes where grant.scopes.contains(scope) { parts.insert("\(scope.rawValue) \(place)") }
        }
        let grants = Data(parts.sorted().joined(separator: "\n").utf8)
        // Two accesses with the same mark would only mean that a watcher does not get the state again.
        return String(ContentVersion.fingerprint(grants), radix: 16)
    }
}
