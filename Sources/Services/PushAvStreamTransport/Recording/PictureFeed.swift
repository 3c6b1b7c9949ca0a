import MediaRelay
import RTP
import SDP
import Transport

/// Takes the pictures out of a track's packets.
struct PictureFeed: Sendable {
    private let format: FrameAssembler.Format
    private let clockRate: Int64
    private var assembler: VideoFrameAssembler
    private var droppedBefore: UInt64 = 0
    /// Pictures that were lost or incomplete.
    private(set) var lostPictures: UInt64 = 0

    /// Nil for a codec whose pictures cannot be taken out.
    init?(_ codec: MediaCodec) {
        guard let format = FrameAssembler.Format(named: codec.name) else { return nil }
        self.format = format
        clockRate = Int64(max(codec.clockRate, 1))
        assembler = VideoFrameAssembler(format: format)
    }

    /// What follows cannot be decoded with what came before.
    mutating func restart() {
        lostPictures += assembler.droppedFrames - droppedBefore
        assembler = VideoFrameAssembler(format: format)
        droppedBefore = 0
    }

    /// What comes out.
    enum Output {
        case picture(RecordedPicture)
        /// Pictures before the next one have been lost.
        case loss
    }

    /// Hands the pictures that a batch completes to `output`.
    mutating func read(_ tapped: TappedBatch, _ output: (Output) -> Void) {
        let packets = tapped.batch.packets
        guard packets.indices.contains(tapped.firstPacket) else { return }
        let first = packets[tapped.firstPacket].timestamp
        for packet in packets[tapped.firstPacket...] {
            assembler.append(packet, payload: tapped.batch.payload(of: packet), arrival: tapped.batch.arrival) {
                let ticks = Int64(Int32(bitPattern: $0.timestamp &- first))
                let picture = RecordedPicture(
                    data: $0.data, timestamp: $0.timestamp &+ tapped.timestampOffset, isKeyFrame: $0.isKeyFrame,
                    capture: tapped.capture + .nanoseconds(ticks * 1_000_000_000 / clockRate),
                    arrival: $0.firstArrival)
                output(.picture(picture))
            }
            guard assembler.droppedFrames > droppedBefore else { continue }
            lostPictures += assembler.droppedFrames - droppedBefore
            droppedBefore = assembler.droppedFrames
            output(.loss)
        }
    }
}
