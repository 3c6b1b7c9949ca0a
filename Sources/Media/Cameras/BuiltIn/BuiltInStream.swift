import BuiltInPictures
import Codecs
import Intake
import RTP
import SDP
import Transport

/// Makes the built-in camera's packets: given the time, it draws, encodes and packetizes what is due. It reads no clock
/// and waits for nothing, so a test can run minutes in a moment.
struct BuiltInStream: ~Copyable {
    static let videoTrack = 0
    static let audioTrack = 1
    static let videoPayloadType: UInt8 = 96
    static let audioPayloadType: UInt8 = 111

    /// The tracks, in the order of their indices; without sound only the first.
    ///
    /// The sound announces no redundancy (`useinbandfec`, RFC 7587, section 6.1): nobody tells the encoder what viewers lose,
    /// so its packets carry none.
    static let tracks = [
        TrackDescription(
            kind: .video, codec: MediaCodec(name: "VP8", clockRate: 90_000), payloadType: videoPayloadType),
        TrackDescription(
            kind: .audio,
            codec: MediaCodec(
                name: "opus", clockRate: 48_000, channels: 2,
                formatParameters: [.init(name: "minptime", value: "10")]),
            payloadType: audioPayloadType),
    ]

    private static let packetNanoseconds: Int64 = 20_000_000
    private static let pressShownSeconds = 3.0

    private let configuration: BuiltInCamera.Configuration
    private let start: Instant

    private var picture: BuiltInPicture
    private var videoEncoder: VP8Encoder
    private var videoPacketizer: VP8Packetizer
    private var videoPool: PacketBatchPool
    private var videoSequenceNumber: UInt16
    private let firstVideoTimestamp: UInt32
    /// The next picture's position on the grid of the frame rate. Positions that come too late are skipped.
    private var videoIndex: Int64 = 0
    private var frameNumber: UInt32 = 0
    private var framesSinceKeyFrame = 0
    private var isKeyFrameWanted = false
    private var nextVideoReport: Instant

    private var sound: BuiltInSound
    private var audioEncoder: OpusEncoder
    private var audioPool: PacketBatchPool
    private var audioSequenceNumber: UInt16
    private let firstAudioTimestamp: UInt32
    private var audioIndex: Int64 = 0
    private var nextAudioReport: Instant
    private var samples = [Int16](repeating: 0, count: BuiltInSound.samplesPerPacket)
    private var audioPacket = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketSize)
    private var isFirstAudioPacket = true

    private var lastPress: Instant?

    /// Begins a stream at `start`.
    init(
        configuration: BuiltInCamera.Configuration, random: inout RandomSource, start: Instant
    ) throws(CodecError) {
        // The picture is calm, so a narrow range of quantizers keeps the bit rate and avoids a jump in quality at each
        // key frame.
        let videoEncoder = try VP8Encoder(
            .init(
                width: configuration.width, height: configuration.height,
                framesPerSecond: configuration.framesPerSecond, bitsPerSecond: configuration.videoBitsPerSecond,
                quantizers: 6...32))
        let audioEncoder = try OpusEncoder(
            .init(bitsPerSecond: configuration.audioBitsPerSecond, application: .audio))
        self.init(
            configuration: configuration, videoEncoder: videoEncoder, audioEncoder: audioEncoder, random: &random,
            start: start)
    }

    // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
    private init(
        configuration: BuiltInCamera.Configuration, videoEncoder: consuming VP8Encoder,
        audioEncoder: consuming OpusEncoder, random: inout RandomSource, start: Instant
    ) {
        self.videoEncoder = videoEncoder
        self.audioEncoder = audioEncoder
        videoPool = PacketBatchPool()
        audioPool = PacketBatchPool()
        self.configuration = configuration
        self.start = start
        nextVideoReport = start
        nextAudioReport = start
        picture = BuiltInPicture(
            name: configuration.name, width: configuration.width, height: configuration.height,
            framesPerSecond: configuration.framesPerSecond)
        sound = BuiltInSound(toneFrequency: configuration.toneFrequency)
        // RFC 3550, section 5.1: both start at random.
        let first = random.next()
        videoPacketizer = VP8Packetizer(firstPictureID: UInt16(truncatingIfNeeded: first >> 48))
        videoSequenceNumber = UInt16(truncatingIfNeeded: first)
        audioSequenceNumber = UInt16(truncatingIfNeeded: first >> 16)
        let second = random.next()
        firstVideoTimestamp = UInt32(truncatingIfNeeded: second)
        firstAudioTimestamp = UInt32(truncatingIfNeeded: second >> 32)
    }

    /// When ``advance(to:wallClock:speakerLevel:sink:clock:)`` has something to do.
    var nextDeadline: Instant {
        let video = videoDeadline(videoIndex)
        return configuration.hasSound ? min(video, audioDeadline(audioIndex)) : video
    }

    /// Whether each track has sent something.
    var hasSentEveryTrack: Bool { frameNumber > 0 && (!configuration.hasSound || !isFirstAudioPacket) }

    /// Rings the doorbell in picture and sound.
    mutating func ring(at now: Instant) {
        lastPress = now
        sound.ring()
    }

    /// Makes the next picture one from which decoding can start.
    mutating func requestKeyFrame() {
        isKeyFrameWanted = true
    }

    /// Makes what is due at `now`, hands it to the tracks' inlets, and reports the clock to `sink`.
    ///
    /// - Parameters:
    ///   - wallClock: microseconds since 1970 (UTC) at `now`.
    ///   - clock: the time after encoding, which becomes the packets' arrival.
    mutating func advance(
        to now: Instant, wallClock: UInt64, speakerLevel: Double?, inlets: [any PacketInlet], sink: any CameraSink,
        clock: () -> Instant
    ) throws(CodecError) {
        skipWhatIsTooLate(at: now)
        // After a pause of the machine, several packets are due at once.
        while configuration.hasSound, audioDeadline(audioIndex) <= now {
            try sendSound(at: now, wallClock: wallClock, inlets: inlets, sink: sink, clock: clock)
        }
        if videoDeadline(videoIndex) <= now {
            try sendPicture(
                at: now, wallClock: wallClock, speakerLevel: speakerLevel, inlets: inlets, sink: sink,
                clock: clock)
        }
    }

    // MARK: Time

    private func videoDeadline(_ index: Int64) -> Instant {
        start + .nanoseconds(index * 1_000_000_000 / Int64(configuration.framesPerSecond))
    }

    /// A packet is due when its last sample has played.
    private func audioDeadline(_ index: Int64) -> Instant {
        start + .nanoseconds((index + 1) * Self.packetNanoseconds)
    }

    private mutating func skipWhatIsTooLate(at now: Instant) {
        let elapsed = max(0, (now - start).wholeNanoseconds)
        // A single late picture is shown; of several only the newest.
        let newestPicture = Int64(Double(elapsed) / 1e9 * Double(configuration.framesPerSecond))
        videoIndex = max(videoIndex, newestPicture)
        // Missed sound is made up, but no more than a viewer's buffer can hold.
        let newestPacket = elapsed / Self.packetNanoseconds - 1
        if newestPacket - audioIndex > 10 {
            audioIndex = newestPacket
        }
    }

    /// The wall clock at `time`, by what it is at `now`.
    private func wallClock(at time: Instant, _ now: Instant, _ wallClock: UInt64) -> Int64 {
        Int64(clamping: wallClock) - (now - time).wholeNanoseconds / 1000
    }

    // MARK: Tracks

    private mutating func sendPicture(
        at now: Instant, wallClock: UInt64, speakerLevel: Double?, inlets: [any PacketInlet], sink: any CameraSink,
        clock: () -> Instant
    ) throws(CodecError) {
        if let press = lastPress, (now - press).inSeconds > Self.pressShownSeconds { lastPress = nil }
        let frame = picture.draw(
            .init(
                frameNumber: frameNumber, wallClock: wallClock, elapsed: (now - start).inSeconds,
                isBeeping: BuiltInSound.isBeeping(at: wallClock),
                sincePress: lastPress.map { (now - $0).inSeconds }, speakerLevel: speakerLevel))
        let due = videoDeadline(videoIndex)
        let ticks = videoIndex * 90_000 / Int64(configuration.framesPerSecond)
        let timestamp = firstVideoTimestamp &+ UInt32(truncatingIfNeeded: ticks)
        if now >= nextVideoReport {
            nextVideoReport = now + .seconds(1)
            report(Self.videoTrack, wallClock: self.wallClock(at: due, now, wallClock), timestamp, sink)
        }
        let isKeyFrame =
            isKeyFrameWanted || frameNumber == 0
            || framesSinceKeyFrame >= configuration.keyFrameSeconds * configuration.framesPerSecond
        isKeyFrameWanted = false
        framesSinceKeyFrame = isKeyFrame ? 1 : framesSinceKeyFrame + 1
        frameNumber &+= 1
        videoIndex += 1

        try videoEncoder.encode(frame, asKeyFrame: isKeyFrame) { bytes, _ in
            videoPacketizer.packetize(bytes) { payload in
                videoPool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: timestamp, sequenceNumber: videoSequenceNumber,
                        payloadType: Self.videoPayloadType, flags: payload.flags),
                    payload: payload.bytes)
                videoSequenceNumber &+= 1
            }
        }
        if let batch = videoPool.finish(arrival: clock()) {
            inlets[Self.videoTrack].deliver(batch)
        }
    }

    private mutating func sendSound(
        at now: Instant, wallClock: UInt64, inlets: [any PacketInlet], sink: any CameraSink,
        clock: () -> Instant
    ) throws(CodecError) {
        let firstSample = audioDeadline(audioIndex - 1)
        let heardAt = self.wallClock(at: firstSample, now, wallClock)
        let ticks = audioIndex * Int64(BuiltInSound.samplesPerPacket)
        let timestamp = firstAudioTimestamp &+ UInt32(truncatingIfNeeded: ticks)
        if now >= nextAudioReport {
            nextAudioReport = now + .seconds(1)
            report(Self.audioTrack, wallClock: heardAt, timestamp, sink)
        }
        audioIndex += 1
        sound.fill(&samples, startingAt: UInt64(clamping: heardAt))
        let length = try samples.withUnsafeBufferPointer { samples throws(CodecError) in
            try audioPacket.withUnsafeMutableBufferPointer { packet throws(CodecError) in
                try audioEncoder.encode(samples, into: UnsafeMutableRawBufferPointer(packet))
            }
        }
        // RFC 7587, section 4.2: the marker is set on the first packet after silence, which here is the very first.
        let flags: PacketBatch.Flags =
            isFirstAudioPacket ? [.startsFrame, .keyFrame, .marker] : [.startsFrame, .keyFrame]
        isFirstAudioPacket = false
        audioPacket.withUnsafeBytes { bytes in
            audioPool.append(
                PacketBatch.Packet(
                    offset: 0, length: 0, timestamp: timestamp, sequenceNumber: audioSequenceNumber,
                    payloadType: Self.audioPayloadType, flags: flags),
                payload: UnsafeRawBufferPointer(rebasing: bytes[..<length]))
        }
        audioSequenceNumber &+= 1
        if let batch = audioPool.finish(arrival: clock()) {
            inlets[Self.audioTrack].deliver(batch)
        }
    }

    private func report(_ track: Int, wallClock: Int64, _ timestamp: UInt32, _ sink: any CameraSink) {
        let ntp = NTPTimestamp(unixNanoseconds: wallClock &* 1000)
        sink.handle(.senderReport(track: track, ntp: ntp.rawValue, rtpTimestamp: timestamp))
    }
}
