import RTP
import RTSP
import Transport

/// A camera's session description with one of its tracks, fed by hand: turns a camera's bytes into batches, without
/// threads and sockets. The fuzz targets use it.
package struct CameraReception: ~Copyable {
    private var track: IncomingTrack

    /// Reads a session description; nil where it cannot be read, or holds no track that would be pulled. `deliver` gets
    /// the length of each payload of each batch.
    package init?(description text: String, limit: Int, deliver: @escaping ([Int]) -> Void) {
        guard let address = try? RTSPURL(parsing: "rtsp://camera/live"),
            let description = try? CameraDescription(parsing: text, baseURI: address.requestURI, address: address),
            let first = description.tracks.first
        else { return nil }
        track = IncomingTrack(first, firstSequenceNumber: 65_530, limit: limit) { batch in
            deliver(batch.packets.map { batch.payload(of: $0).count })
        }
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
