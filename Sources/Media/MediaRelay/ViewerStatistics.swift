import PeerConnection
import Transport

/// What was sent to one viewer, and what it reported about its reception.
public struct ViewerStatistics: Sendable, Equatable {
    /// RTP packets sent, without retransmissions.
    public var packetsSent: UInt64 = 0
    /// RTP payload bytes sent.
    public var bytesSent: UInt64 = 0
    /// Packets retransmitted on request.
    public var packetsRetransmitted: UInt64 = 0
    /// Their RTP payload bytes.
    public var bytesRetransmitted: UInt64 = 0
    /// Requests for retransmissions that were not met: the packet would have arrived too late, or the viewer's budget did not
    /// allow it.
    public var retransmissionsRefused: UInt64 = 0
    /// Pictures that were skipped because the viewer was too slow.
    public var framesDropped: UInt64 = 0
    /// Key frames that the viewer asked for.
    public var keyFrameRequests: UInt64 = 0
    /// Key frames that were sent again, with all that followed them, because the camera made no other on request.
    public var keyFramesReplayed: UInt64 = 0
    /// The share of video packets lost as the viewer last reported it, 0 to 1.
    public var fractionLost: Double = 0
    /// The round-trip time by RTCP, nil while unknown.
    public var roundTrip: Duration?
    /// What the path carries in bits a second, with all headers: the limit where there is one, otherwise the highest rate that
    /// has arrived. 0 while unknown.
    public var estimatedBitrate: UInt64 = 0
    /// Whether less than everything is sent, because the path does not carry it.
    public var isLimited = false
    /// Packets that the viewer's microphone sent.
    public var talkbackPackets: UInt64 = 0
    /// Datagrams from the viewer that were refused: forged, damaged, or repeated.
    public var refusedDatagrams: UInt64 = 0

    /// No counts yet.
    public init() {}
}

extension Viewer {
    func readStatistics() -> ViewerStatistics {
        var result = ViewerStatistics()
        for index in egress.indices {
            result.packetsSent += egress[index].packetsSent
            result.bytesSent += egress[index].bytesSent
            result.packetsRetransmitted += egress[index].packetsRetransmitted
            result.bytesRetransmitted += egress[index].bytesRetransmitted
            result.retransmissionsRefused += egress[index].retransmissionsRefused
            result.framesDropped += egress[index].framesDropped
            if let from = egress[index].leftOutFrom {
                result.framesDropped += UInt64(max(0, egress[index].track.ring.framesStarted - from))
            }
        }
        result.keyFrameRequests = feedback.keyFrameRequests
        result.keyFramesReplayed = feedback.keyFramesReplayed
        result.fractionLost = feedback.fractionLost
        result.roundTrip = feedback.roundTrip
        result.estimatedBitrate = UInt64(line.estimate ?? 0)
        result.isLimited = line.isLimited
        result.talkbackPackets = talkback.packets
        result.refusedDatagrams = refusedDatagrams
        return result
    }

    /// The camera has restarted: nothing that this viewer has seen can be the base of what follows.
    func sourceRestarted(_ track: RelayTrack, at now: Instant) {
        guard mediaFlows else { return }
        for index in egress.indices where egress[index].track === track {
            egress[index].nextBurst = nil
            egress[index].behindSince = nil
            if egress[index].configuration.isVideo {
                egress[index].cursor = nil
                egress[index].leftOutFrom = nil
                // The home shard asks for all shards: it knows when the source to ask is the new one.
                if track.feed == nil { track.requestKeyFrame(at: now) }
            } else {
                egress[index].start(at: track.ring.head, now: now)
            }
        }
    }
}
