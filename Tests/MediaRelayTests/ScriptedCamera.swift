import RTP
import SDP
import Testing
import Transport

@testable import MediaRelay

/// A camera whose every packet a test knows: ten pictures and fifty sounds each second, on a shard in virtual time.
final class ScriptedCamera {
    struct Shape {
        var hasPicture = true
        var hasSound = true
        /// A key frame each so many pictures; nil for the first one only, and on request.
        var keyFrameInterval: Int? = 10
        var answersRequests = true
        /// The pictures come in the order I P B B P B B.
        var hasBFrames = false
        /// Of each packet of a picture, in bytes. A picture has two.
        var pictureBytes = 100
        /// How long a picture takes to the relay. Sound takes no time.
        var pictureDelay = Duration.zero
    }

    let shard: RelayShard
    let video = TrackID(camera: "yard", index: 0)
    let audio = TrackID(camera: "yard", kind: .audio, index: 1)
    let requests = KeyFrameRequests()
    var shape: Shape
    private(set) var now: Instant
    private var inlets: [TrackInlet] = []
    private var videoPool = PacketBatchPool()
    private var audioPool = PacketBatchPool()
    private var videoSequence: UInt16 = 65_000
    private var audioSequence: UInt16 = 65_500
    /// Pictures and sounds since the camera's start.
    private(set) var pictures = 0
    private var sounds = 0
    /// Where the group of pictures that is being sent began.
    private var groupStart = 0
    private var begin: Instant

    init(_ shard: RelayShard, at start: Instant, _ change: (inout Shape) -> Void = { _ in }) {
        self.shard = shard
        now = start
        begin = start
        var shape = Shape()
        change(&shape)
        self.shape = shape
        announce()
    }

    /// The camera starts, or starts again: its numbers and timestamps begin again.
    func announce() {
        let requests = requests
        inlets = [TrackInlet(lists: [shard.ready]), TrackInlet(lists: [shard.ready])]
        var tracks: [(id: TrackID, description: RelayTrackDescription, inlet: TrackInlet)] = []
        if shape.hasPicture {
            tracks.append(
                (
                    video, RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: { requests.ask() }),
                    inlets[0]
                ))
        }
        if shape.hasSound {
            tracks.append(
                (audio, RelayTrackDescription(isVideo: false, codec: .opus, requestKeyFrame: {}), inlets[1]))
        }
        begin = now
        pictures = 0
        sounds = 0
        groupStart = 0
        shard.setTracks(tracks, camera: video.camera, at: now)
    }

    /// Lets the camera send for a while. What it sends is taken in at once, the last of it only if `isLastTakenIn`.
    func run(_ duration: Duration, isLastTakenIn: Bool = true) {
        let end = now + duration
        while true {
            let nextPicture = begin + .milliseconds(100 * pictures) + shape.pictureDelay
            let nextSound = begin + .milliseconds(20 * sounds)
            let next = min(shape.hasPicture ? nextPicture : .distantFuture, shape.hasSound ? nextSound : .distantFuture)
            guard next < end else { break }
            now = next
            if shape.hasPicture, nextPicture == next { sendPicture() } else { sendSound() }
            let isLast =
                min(
                    shape.hasPicture ? begin + .milliseconds(100 * pictures) + shape.pictureDelay : .distantFuture,
                    shape.hasSound ? begin + .milliseconds(20 * sounds) : .distantFuture) >= end
            if isLastTakenIn || !isLast {
                shard.handleInlets(at: now)
                shard.handleDeadline(at: now)
            }
        }
        now = end
        // What a muted microphone would have sent is left out, and not sent later.
        if !shape.hasSound { sounds = Int(((now - begin).wholeNanoseconds + 19_999_999) / 20_000_000) }
    }

    private func sendPicture() {
        let isDue = pictures == 0 || shape.keyFrameInterval.map { pictures - groupStart == $0 } ?? false
        let isKeyFrame = isDue || shape.answersRequests && requests.take()
        if isKeyFrame { groupStart = pictures }
        let place = pictures - groupStart
        // After the key frame, threes of P B B: the P is shown after the two that follow it.
        let shown = shape.hasBFrames && place > 0 ? ((place - 1) % 3 == 0 ? place + 2 : place - 1) : place
        for packet in 0..<2 {
            var flags: PacketBatch.Flags = isKeyFrame ? .keyFrame : []
            flags.insert(packet == 0 ? .startsFrame : .marker)
            let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: pictures), count: shape.pictureBytes)
            payload.withUnsafeBytes {
                videoPool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: UInt32(9_000 * (groupStart + shown)),
                        sequenceNumber: videoSequence, payloadType: 96, flags: flags), payload: $0)
            }
            videoSequence &+= 1
        }
        pictures += 1
        if let batch = videoPool.finish(arrival: now) { inlets[0].deliver(batch) }
    }

    private func sendSound() {
        let payload = [UInt8](repeating: 1, count: 100)
        payload.withUnsafeBytes {
            audioPool.append(
                PacketBatch.Packet(
                    offset: 0, length: 0, timestamp: UInt32(960 * sounds), sequenceNumber: audioSequence,
                    payloadType: 111, flags: [.startsFrame, .keyFrame]), payload: $0)
        }
        audioSequence &+= 1
        sounds += 1
        if let batch = audioPool.finish(arrival: now) { inlets[1].deliver(batch) }
    }
}

/// Keeps everything that a tap receives.
final class RecordingTap: TrackTap {
    struct State {
        var beginnings: [TapBeginning] = []
        var batches: [TappedBatch] = []
        var restarts = 0
        var hasEnded = false
    }

    let state = Locked(State())

    func tapBegins(_ beginning: TapBeginning) { state.withLock { $0.beginnings.append(beginning) } }
    func receive(_ batch: TappedBatch) { state.withLock { $0.batches.append(batch) } }
    func trackRestarted() { state.withLock { $0.restarts += 1 } }
    func trackEnded() { state.withLock { $0.hasEnded = true } }

    var batches: [TappedBatch] { state.withLock { $0.batches } }
    /// Where it began; nil before that.
    var beginning: TapBeginning? { state.withLock { $0.beginnings.count == 1 ? $0.beginnings[0] : nil } }

    /// The numbers of all packets from the first one on, on the track's line.
    var sequences: [Int64] {
        batches.flatMap { tapped in
            (tapped.firstPacket..<tapped.batch.packets.count).map { tapped.sequence(of: $0) }
        }
    }

    /// Whether no packet is missing up to the newest one of `track`.
    func hasEverything(of track: RelayTrack) -> Bool {
        let sequences = sequences
        guard let first = sequences.first else { return false }
        return sequences == Array(first..<track.timeline.nextSequence)
    }

    /// Whether the first packet begins a key frame.
    var startsWithKeyFrame: Bool {
        batches.first.map { $0.batch.packets[$0.firstPacket].flags.contains([.keyFrame, .startsFrame]) } ?? false
    }
}
