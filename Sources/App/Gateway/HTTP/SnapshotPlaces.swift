import HomeTypes
import Signalling
import Transport

/// Limits how many snapshots, or answers about recordings, are made and sent at once, with a share for each principal. A
/// snapshot in 4K takes several megabytes from its request until the client has read it.
final class SnapshotPlaces: Sendable {
    /// How many places there are.
    static let shares = PlaceShares(total: 32)

    /// A place. It is free again when its last reference goes, so a response that is never sent returns its place too.
    final class Place: Sendable {
        private let giveBack: @Sendable () -> Void

        init(giveBack: @escaping @Sendable () -> Void) {
            self.giveBack = giveBack
        }

        deinit { giveBack() }
    }

    private let holders = Locked<[String: Int]>([:])
    private let name: String
    private let shares: PlaceShares

    /// Makes the places of one kind of request.
    /// - Parameters:
    ///   - name: what there are too many of when none is free, for the message: "snapshots".
    ///   - shares: how many places there are.
    init(name: String, shares: PlaceShares = SnapshotPlaces.shares) {
        self.name = name
        self.shares = shares
    }

    /// Takes a place for a principal.
    func take(for principal: String) throws(HomeError) -> Place {
        let refusal = holders.withLock { holders -> PlaceShares.Refusal? in
            let all = holders.flatMap { Array(repeating: $0.key, count: $0.value) }
            if let refusal = shares.refusal(of: principal, holders: all) { return refusal }
            holders[principal, default: 0] += 1
            return nil
        }
        if let refusal { throw .resourceExhausted("too many \(name) at once: \(refusal.words)") }
        return Place { [weak self] in
            self?.holders.withLock { holders in
                let count = holders[principal, default: 1]
                holders[principal] = count > 1 ? count - 1 : nil
            }
        }
    }
}
