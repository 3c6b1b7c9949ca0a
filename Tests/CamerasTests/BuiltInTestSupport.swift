import Cameras
import Codecs
import Intake
import RTP
import Transport

/// Keeps what a camera brings.
final class CollectingSink: CameraSink {
    struct Packet: Sendable {
        var track: Int
        var header: PacketBatch.Packet
        var payload: [UInt8]
        var arrival: Instant
    }

    struct Collection: Sendable {
        var packets: [Packet] = []
        var events: [CameraEvent] = []
        var batches = 0
    }

    private let collection = Locked(Collection())
    private let onEvent: @Sendable (CameraEvent) -> Void

    init(onEvent: @escaping @Sendable (CameraEvent) -> Void = { _ in }) {
        self.onEvent = onEvent
    }

    var collected: Collection { collection.withLock { $0 } }

    private struct Inlet: PacketInlet {
        let sink: CollectingSink
        let track: Int

        func deliver(_ batch: PacketBatch) { sink.receive(batch, track: track) }
    }

    func open(_ tracks: [TrackDescription]) -> [any PacketInlet] {
        handle(.tracks(tracks))
        return tracks.indices.map { Inlet(sink: self, track: $0) }
    }

    private func receive(_ batch: PacketBatch, track: Int) {
        collection.withLock { collection in
            collection.batches += 1
            for packet in batch.packets {
                collection.packets.append(
                    Packet(
                        track: track, header: packet, payload: Array(batch.payload(of: packet)), arrival: batch.arrival)
                )
            }
        }
    }

    func handle(_ event: CameraEvent) {
        collection.withLock { $0.events.append(event) }
        onEvent(event)
    }
}

extension CollectingSink.Collection {
    func packets(of track: Int) -> [CollectingSink.Packet] {
        packets.filter { $0.track == track }
    }

    /// The VP8 frames, put together from their packets.
    var frames: [(timestamp: UInt32, isKeyFrame: Bool, bytes: [UInt8])] {
        var frames: [(timestamp: UInt32, isKeyFrame: Bool, bytes: [UInt8])] = []
        for packet in packets(of: 0) {
            let length = packet.payload.withUnsafeBytes { VP8PayloadDescriptor(parsing: $0)?.length ?? $0.count }
            if packet.header.flags.contains(.startsFrame) {
                frames.append((packet.header.timestamp, packet.header.flags.contains(.keyFrame), []))
            }
            guard !frames.isEmpty else { continue }
            frames[frames.count - 1].bytes += packet.payload[length...]
        }
        return frames
    }

    /// The sound of all audio packets.
    func sound() throws(CodecError) -> [Int16] {
        var decoder = try OpusDecoder()
        var samples: [Int16] = []
        for packet in packets(of: 1) {
            samples += try decoder.decode(packet.payload)
        }
        return samples
    }
}
