import RTP
import SDP
import Transport

@testable import MediaRelay

/// The tracks of a camera that a publisher plays: what has come from it in order goes on to viewers.
final class PublishedCamera {
    let video: TrackID
    let audio: TrackID
    private let inlets: [TrackInlet]
    private var pictures = PacketBatchPool()
    private var sounds = PacketBatchPool()

    init(_ camera: String, of host: RelayHost, requestKeyFrame: @escaping @Sendable () -> Void) {
        video = TrackID(camera: camera, index: 0)
        audio = TrackID(camera: camera, kind: .audio, index: 1)
        inlets = host.relay.setTracks(
            camera: camera,
            [
                RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: requestKeyFrame),
                RelayTrackDescription(isVideo: false, codec: .opus, requestKeyFrame: {}),
            ])
        host.settle()
    }

    /// Hands on a packet, which is a whole picture or a whole sound.
    func deliver(_ packet: RTPPacketView, track: Int, at now: Instant) {
        guard track == 0 else {
            Self.append(packet, [.startsFrame, .keyFrame], to: &sounds)
            if let batch = sounds.finish(arrival: now) { inlets[1].deliver(batch) }
            return
        }
        var flags: PacketBatch.Flags = [.startsFrame, .marker]
        if VP8.isKeyFrameStart(payload: packet.payload) { flags.insert(.keyFrame) }
        Self.append(packet, flags, to: &pictures)
        if let batch = pictures.finish(arrival: now) { inlets[0].deliver(batch) }
    }

    private static func append(_ packet: RTPPacketView, _ flags: PacketBatch.Flags, to pool: inout PacketBatchPool) {
        pool.append(
            PacketBatch.Packet(
                offset: 0, length: 0, timestamp: packet.timestamp, sequenceNumber: packet.sequenceNumber,
                payloadType: packet.payloadType, flags: flags),
            payload: packet.payload)
    }
}
