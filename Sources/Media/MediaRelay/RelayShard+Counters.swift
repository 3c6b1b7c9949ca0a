import ICE
import PeerConnection

/// What the shard has counted.
extension RelayShard {
    /// What the shard has done.
    func readCounters() -> RelayCounters {
        var result = counters
        result.datagramsSent = sender.datagrams
        result.sendCalls = sender.calls
        result.datagramsRefused = sender.refused
        if index == ShardLinks.relayedDoor {
            result.handOverDrops += links.handOverDrops
            result.strayDatagrams += links.strays
        }
        for session in sessions { result.add(session.peer.connectivityCounters) }
        result.publishers = publishers.count
        result.viewers = viewers.count
        for viewer in viewers.values {
            result.streamSwitches += viewer.streamSwitches
            if let kind = viewer.peer.pathKind { result.viewersByPath[kind, default: 0] += 1 }
            if viewer.line.isLimited { result.viewersLimited += 1 }
            if let video = viewer.egress.first(where: \.configuration.isVideo) {
                result.viewersByStream[video.track.id.stream, default: 0] += 1
            }
        }
        // The home shard counts what came in; the other shards share it.
        for track in tracks.values where track.feed == nil {
            if let inlet = track.inlet { result.inletDrops += inlet.drops }
            result.ringBytes += track.ring.footprint
            result.packetsReceived += track.packetsReceived
        }
        result.retentions = retention.count
        result.retentionsShort = retention.shortCount
        result.retentionShortfalls = retention.shortfalls
        return result
    }
}
