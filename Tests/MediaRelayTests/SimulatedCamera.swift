import NetworkSimulator
import RTP
import SDP
import Transport

@testable import MediaRelay

/// Counts what the relay asks of a source.
final class KeyFrameRequests: Sendable {
    private let state = Locked((asked: 0, pending: false))

    var count: Int { state.withLock { $0.asked } }

    func ask() {
        state.withLock {
            $0.asked += 1
            $0.pending = true
        }
    }

    func take() -> Bool {
        state.withLock { state in
            defer { state.pending = false }
            return state.pending
        }
    }
}

/// What a frame's bytes say, so that a receiver knows that it got the right ones whole.
enum FrameContent {
    static func make(number: Int, isKeyFrame: Bool, size: Int) -> [UInt8] {
        var bytes: [UInt8] = [isKeyFrame ? 0x10 : 0x11, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01]
        bytes += withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
        bytes += withUnsafeBytes(of: UInt32(size).bigEndian) { Array($0) }
        for position in bytes.count..<max(size, bytes.count) {
            bytes.append(UInt8(truncatingIfNeeded: position &* 31 &+ number &* 7))
        }
        return bytes
    }

    /// The frame's number; nil when a byte is missing or not what it should be.
    static func number(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= 14 else { return nil }
        let number = bytes[10..<14].reduce(0) { $0 << 8 | Int($1) }
        let expected = make(number: number, isKeyFrame: bytes[0] & 1 == 0, size: bytes.count)
        return expected == bytes ? number : nil
    }
}

/// A camera in virtual time: VP8 pictures and a sound packet each 20 ms, handed in on the relay's thread.
final class SimulatedCamera: SimulatedEndpoint {
    struct Shape {
        var framesPerSecond = 15
        /// A key frame each so many frames; nil for on request only, after the first.
        var keyFrameInterval: Int? = 60
        var keyFrameSize = 14_000
        var frameSize = 3_400
        /// The longest payload of a packet of the larger stream.
        var payloadLimit = PayloadLimit.standard
        var answersRequests = true
        var hasSound = true
        /// How long a picture takes from the sensor to the relay.
        var pictureDelay = Duration.zero
        /// Every so many frames a packet without payload follows.
        var paddingInterval: Int?
        /// The sizes of the frames of a smaller stream; nil for none.
        var substream: (frameSize: Int, keyFrameSize: Int)?
        /// The last of so many frames, counted from the key frame, is one that no other needs; nil for none.
        var unreferencedInterval: Int?
    }

    static let videoRate = 90_000
    static let audioRate = 48_000

    let host: RelayHost
    let requests = KeyFrameRequests()
    var shape: Shape
    let addresses: [TransportAddress] = []
    let video = TrackID(camera: "door", index: 0)
    let audio = TrackID(camera: "door", kind: .audio, index: 1)
    let subvideo = TrackID(camera: "door", stream: .sub, index: 0)
    /// What the relay asks of the smaller stream.
    let subrequests = KeyFrameRequests()
    var isRunning = true
    /// Capture times of pictures and sounds by number.
    private(set) var pictureTimes: [Instant] = []
    private(set) var soundTimes: [Instant] = []
    private(set) var keyFrames: [Int] = []

    private var inlets: [TrackInlet] = []
    private var videoPool = PacketBatchPool()
    private var audioPool = PacketBatchPool()
    private var subvideoPool = PacketBatchPool()
    private var subpacketizer = VP8Packetizer(firstPictureID: 7)
    private var subvideoSequence: UInt16 = 400
    private var packetizer: VP8Packetizer
    private var videoSequence: UInt16 = 65_000
    private var audioSequence: UInt16 = 65_500
    private var videoTimestamp: UInt32 = .max - 400_000
    private var audioTimestamp: UInt32 = .max - 90_000
    private var nextPicture: Instant
    private var nextSound: Instant
    private var nextReport: Instant?

    init(host: RelayHost, start: Instant, shape: Shape) {
        self.host = host
        self.shape = shape
        packetizer = VP8Packetizer(maximumPayloadLength: shape.payloadLimit, firstPictureID: 32_700)
        nextPicture = start
        nextSound = start
        setTracks(at: start)
    }

    func setTracks(at now: Instant) {
        let requests = requests
        var tracks = [RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: { requests.ask() })]
        if shape.hasSound {
            tracks.append(RelayTrackDescription(isVideo: false, codec: .opus, requestKeyFrame: {}))
        }
        host.now = now
        var named = tracks.enumerated().map { index, description in
            (
                id: TrackID(camera: "door", kind: description.isVideo ? .video : .audio, index: index),
                description: description
            )
        }
        if shape.substream != nil {
            let subrequests = subrequests
            named.append(
                (
                    subvideo,
                    RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: { subrequests.ask() })
                ))
        }
        inlets = host.relay.setTracks(camera: "door", named)
        host.settle()
    }

    /// The camera reboots: other numbers, other timestamps, and a key frame first.
    func restart(at now: Instant, videoSequence: UInt16, pause: Duration) {
        self.videoSequence = videoSequence
        audioSequence = 7
        videoTimestamp = 1_234
        audioTimestamp = 77
        nextPicture = now + pause
        nextSound = now + pause
        needsKeyFrame = true
        setTracks(at: now)
    }

    /// Sends sender reports each second from now on, by a wall clock of its own.
    func startReports(at now: Instant) { nextReport = now }

    var nextDeadline: Instant? {
        guard isRunning else { return nil }
        return [nextPicture + shape.pictureDelay, shape.hasSound ? nextSound : nil, nextReport].compactMap { $0 }.min()
    }

    func handleDeadline(at now: Instant) {
        host.now = now
        if let due = nextReport, due <= now {
            nextReport = due + .seconds(1)
            sendReports(at: now)
        }
        if shape.hasSound, nextSound <= now { sendSound(at: now) }
        if nextPicture + shape.pictureDelay <= now { sendPicture(at: now) }
        host.settle()
    }

    func receive(_ datagram: SimulatedDatagram) {}
    func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)? { nil }

    private var needsKeyFrame = true

    private func sendPicture(at now: Instant) {
        let number = pictureTimes.count
        let isDue = shape.keyFrameInterval.map { number.isMultiple(of: $0) } ?? false
        let isAsked = requests.take() && shape.answersRequests
        let isKeyFrame = isDue || isAsked || needsKeyFrame
        needsKeyFrame = false
        pictureTimes.append(nextPicture)
        if isKeyFrame { keyFrames.append(number) }
        let content = FrameContent.make(
            number: number, isKeyFrame: isKeyFrame, size: isKeyFrame ? shape.keyFrameSize : shape.frameSize)
        let position = number - (keyFrames.last ?? 0)
        let isUnreferenced = shape.unreferencedInterval.map { position % $0 == $0 - 1 } ?? false
        content.withUnsafeBytes { frame in
            packetizer.packetize(frame) { payload in
                var flags: PacketBatch.Flags = isUnreferenced ? .unreferenced : []
                if payload.isFirst { flags.insert(.startsFrame) }
                if payload.isLast { flags.insert(.marker) }
                if payload.isKeyFrame { flags.insert(.keyFrame) }
                append(payload.bytes, flags)
            }
        }
        if let sizes = shape.substream { sendSubpicture(number, isKeyFrame: isDue || number == 0, sizes, at: now) }
        if let interval = shape.paddingInterval, number.isMultiple(of: interval) {
            append(UnsafeRawBufferPointer(start: nil, count: 0), [])
        }
        if let batch = videoPool.finish(arrival: now) { inlets[0].deliver(batch) }
        videoTimestamp &+= UInt32(Self.videoRate / shape.framesPerSecond)
        nextPicture += .nanoseconds(1_000_000_000 / Int64(shape.framesPerSecond))
    }

    /// The smaller stream has the same pictures, numbers and timestamps of its own, and key frames of its own.
    private func sendSubpicture(
        _ number: Int, isKeyFrame isDue: Bool, _ sizes: (frameSize: Int, keyFrameSize: Int), at now: Instant
    ) {
        let isKeyFrame = subrequests.take() && shape.answersRequests || isDue
        let content = FrameContent.make(
            number: number, isKeyFrame: isKeyFrame, size: isKeyFrame ? sizes.keyFrameSize : sizes.frameSize)
        content.withUnsafeBytes { frame in
            subpacketizer.packetize(frame) { payload in
                var flags: PacketBatch.Flags = []
                if payload.isFirst { flags.insert(.startsFrame) }
                if payload.isLast { flags.insert(.marker) }
                if payload.isKeyFrame { flags.insert(.keyFrame) }
                subvideoPool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: videoTimestamp &+ 12_345, sequenceNumber: subvideoSequence,
                        payloadType: 96, flags: flags),
                    payload: payload.bytes)
                subvideoSequence &+= 1
            }
        }
        if let batch = subvideoPool.finish(arrival: now) { inlets[shape.hasSound ? 2 : 1].deliver(batch) }
    }

    private func append(_ payload: UnsafeRawBufferPointer, _ flags: PacketBatch.Flags) {
        videoPool.append(
            PacketBatch.Packet(
                offset: 0, length: 0, timestamp: videoTimestamp, sequenceNumber: videoSequence, payloadType: 96,
                flags: flags),
            payload: payload)
        videoSequence &+= 1
    }

    private func sendSound(at now: Instant) {
        let payload = [UInt8](repeating: 0x78, count: 4) + withUnsafeBytes(of: UInt32(soundTimes.count)) { Array($0) }
        soundTimes.append(nextSound)
        payload.withUnsafeBytes {
            audioPool.append(
                PacketBatch.Packet(
                    offset: 0, length: 0, timestamp: audioTimestamp, sequenceNumber: audioSequence, payloadType: 111,
                    flags: [.startsFrame, .keyFrame]),
                payload: $0)
        }
        if let batch = audioPool.finish(arrival: now) { inlets[1].deliver(batch) }
        audioSequence &+= 1
        audioTimestamp &+= 960
        nextSound += .milliseconds(20)
    }

    /// The camera's clock is in 1970, and its reports name the moment of capture.
    private func sendReports(at now: Instant) {
        func report(_ track: TrackID, _ timestamp: UInt32, of capture: Instant) {
            let ntp = NTPTimestamp(unixNanoseconds: capture.nanoseconds)
            host.relay.recordSenderReport(track, ntp: ntp.rawValue, rtpTimestamp: timestamp)
        }
        report(video, videoTimestamp, of: nextPicture)
        report(audio, audioTimestamp, of: nextSound)
    }
}
