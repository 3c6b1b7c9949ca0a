import Intake
import RTP
import RTSP
import Transport

/// A camera's session description with one of its tracks, fed by hand: turns a camera's bytes into batches, without
/// threads and sockets. The fuzz targets use it.
package struct CameraReception: ~Copyable {
    /// Measures payloads.
    private final class Scale: PacketInlet {
        let lengths = Locked((largest: 0, total: 0))

        func deliver(_ batch: PacketBatch) {
            lengths.withLock { lengths in
                for packet in batch.packets {
                    let length = batch.payload(of: packet).count
                    lengths = (max(lengths.largest, length), lengths.total + length)
                }
            }
        }
    }

    private var track: IncomingTrack
    private let scale: Scale

    /// The length of the largest payload that came out, and of all together, in bytes.
    package var lengths: (largest: Int, total: Int) { scale.lengths.withLock { $0 } }

    /// Reads a session description; nil where it cannot be read, or holds no track that would be pulled.
    package init?(description text: String, limit: Int) {
        guard let address = try? RTSPURL(parsing: "rtsp://camera/live"),
            let description = try? CameraDescription(parsing: text, baseURI: address.requestURI, address: address),
            let first = description.tracks.first
        else { return nil }
        // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
        scale = Scale()
        track = IncomingTrack(
            first.incoming, firstSequenceNumber: 65_530, limit: limit, inlet: scale)
    }

    /// Receives one RTP packet.
    package mutating func receive(_ packet: UnsafeRawBufferPointer, at now: Instant) {
        track.receive(packet, at: now)
    }

    /// Hands out the collected packets.
    package mutating func flush(at now: Instant) {
        track.flush(at: now)
    }
}
