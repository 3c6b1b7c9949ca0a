import ICE
import Transport

/// A session's place among the relay's shards. It is taken before the session's credentials are made, because the
/// username fragment names the shard, and counts as a session of that shard for as long as it is kept.
public final class RelayPlacement: Sendable {
    /// The shard's number, from 0.
    public let shard: Int
    private let placements: Placements

    fileprivate init(shard: Int, placements: Placements) {
        self.shard = shard
        self.placements = placements
    }

    deinit {
        placements.leave(shard)
    }

    /// Makes local credentials for the session, at its start or at a restart of ICE.
    public func credentials(using random: inout RandomSource) -> ICECredentials {
        ShardMark.credentials(for: shard, of: placements.shards, using: &random)
    }
}

/// How many sessions each shard has.
final class Placements: Sendable {
    let shards: Int
    private let counts: Locked<[Int]>

    init(shards: Int) {
        self.shards = shards
        counts = Locked(Array(repeating: 0, count: shards))
    }

    /// A place on the shard with the fewest sessions, the first of several.
    func take() -> RelayPlacement {
        let shard = counts.withLock { counts in
            var fewest = 0
            for shard in counts.indices where counts[shard] < counts[fewest] { fewest = shard }
            counts[fewest] += 1
            return fewest
        }
        return RelayPlacement(shard: shard, placements: self)
    }

    fileprivate func leave(_ shard: Int) {
        counts.withLock { $0[shard] -= 1 }
    }
}

extension MediaRelay {
    /// A place for another session.
    public func place() -> RelayPlacement { placements.take() }
}
