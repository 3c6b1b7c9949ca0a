import Transport

/// What one shard has received for another, on both sides.
extension RelayShard {
    /// Takes what other shards have received for this one, as much as one turn allows.
    func takeHandOvers(at now: Instant) {
        // What is left of the turn before comes first, also when nothing more can come.
        guard receivedRemains || links.count > 1 || links.relayed.isInUse || links.connected.isInUse else { return }
        var left = HandOverQueue.datagramsPerTurn
        if receivedRemains { handleReceived(&left, at: now) }
        if !receivedRemains {
            links.handOvers[index].take(into: &received)
            handleReceived(&left, at: now)
        }
        // Nobody else wakes this shard for what it has taken, or for what came while something was left.
        if receivedRemains { links.wake(index) }
    }

    /// Handles the datagrams that others have received, at most `left`, and takes their number from that.
    private func handleReceived(_ left: inout Int, at now: Instant) {
        // The loop below may hand datagrams on, which must not touch what it walks over.
        var handOvers: [HandOver] = []
        swap(&handOvers, &received)
        for source in handOvers.indices where !handOvers[source].isEmpty {
            let handled = handOvers[source].drain(atMost: left) { datagram, path, next in
                // What has come through a TURN server or over TCP has not been looked at yet.
                if source >= links.relayedSource {
                    return handle(datagram, from: path.source, to: path.local, at: now)
                }
                counters.handedOver += 1
                guard let next else { return handle(datagram, path, at: now) }
                if isHeld(path.source, at: now) {
                    counters.contestedChecks += 1
                } else if next == index {
                    handle(datagram, path, at: now)
                } else {
                    handOver(UnsafeRawBufferPointer(datagram), path, to: next)
                }
            }
            left -= handled
        }
        receivedRemains = handOvers.contains { !$0.isEmpty }
        swap(&handOvers, &received)
    }

    func handOver(_ datagram: UnsafeRawBufferPointer, _ path: DatagramPath, to shard: Int, next: Int? = nil) {
        handingOver[shard].append(datagram, path, next: next)
        handsOver = true
    }

    /// Passes on what has been collected for other shards: one lock for each, and a wake-up for one that has nothing else
    /// waiting.
    func flushHandOvers() {
        guard handsOver else { return }
        handsOver = false
        for shard in handingOver.indices where !handingOver[shard].isEmpty {
            let (dropped, isFirst) = links.handOvers[shard].add(&handingOver[shard], from: index)
            counters.handOverDrops += UInt64(dropped)
            if isFirst { links.wake(shard) }
        }
    }
}
