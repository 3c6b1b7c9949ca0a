import Codecs
import Intake
import RTP
import StreamFormats
import Transport

/// Makes a track of the frames of a camera of this machine: H.264 is passed on, and JPEG is encoded as H.264. It reads no
/// clock and waits for nothing.
struct DeviceFrames: ~Copyable {
    private let format: VideoDeviceAddress.Format
    private let framesPerSecond: Double
    private let sink: any CameraSink
    private var output: StreamOutput
    private var random: RandomSource
    private var encoding: PictureEncoding?
    private var inlet: (any PacketInlet)?
    private var lastTaken: Instant?
    private var nextReport = Instant.zero
    private var damagedInARow = 0
    /// When the first frame was taken.
    private(set) var flowingSince: Instant?

    /// So many pictures in a row that cannot be decoded are a failure.
    private static let maximumDamaged = 20

    init(
        _ format: VideoDeviceAddress.Format, framesPerSecond: Double, sink: any CameraSink, findings: SourceFindings,
        random: RandomSource
    ) {
        self.format = format
        self.framesPerSecond = framesPerSecond
        self.sink = sink
        self.random = random
        output = StreamOutput(sink: sink, findings: findings, random: random)
    }

    /// Takes a frame that came at `now`.
    /// - Parameters:
    ///   - time: the device's time in microseconds; 0 where it is not known.
    ///   - wallClock: nanoseconds since 1970 at `now`.
    mutating func take(
        _ frame: UnsafeRawBufferPointer, time: Int64, at now: Instant, wallClock: Int64
    ) throws(CameraFailure) {
        guard !frame.isEmpty else { return }
        switch format {
        case .h264:
            let ticks = time > 0 ? time / 1000 * 90 + time % 1000 * 9 / 100 : Self.ticks(now)
            flowingSince = flowingSince ?? now
            output.take(
                StreamUnit(track: 0, bytes: Array(frame), presentation: ticks, decoding: ticks),
                of: [StreamTrack(.h264(parameterSets: []))], awaitsTracks: false, at: now, wallClock: wallClock)
        case .mjpeg: try takePicture(frame, at: now, wallClock: wallClock)
        }
    }

    /// The next picture becomes one from which decoding can start.
    mutating func requestKeyFrame() { encoding?.requestKeyFrame() }

    private static func ticks(_ now: Instant) -> Int64 {
        let nanoseconds = (now - Instant.zero).wholeNanoseconds
        return nanoseconds / 1_000_000 * 90 + nanoseconds % 1_000_000 * 9 / 100_000
    }

    private mutating func takePicture(
        _ frame: UnsafeRawBufferPointer, at now: Instant, wallClock: Int64
    ) throws(CameraFailure) {
        // A tenth of the interval is forgiven, so that a camera with exactly this rate loses no picture.
        let interval = Duration.milliseconds(Int64(900 / framesPerSecond))
        if let lastTaken, now - lastTaken < interval { return }
        lastTaken = now
        let encoding =
            self.encoding
            ?? PictureEncoding(
                framesPerSecond: framesPerSecond, keyFrameInterval: .seconds(2), start: now, random: &random)
        self.encoding = encoding
        do throws(CodecError) {
            let made = try encoding.encode(jpeg: Array(frame), at: now)
            damagedInARow = 0
            guard let batch = made.batch else { return }
            if let description = made.description { inlet = sink.open([description]).first }
            flowingSince = flowingSince ?? now
            report(encoding, at: now, wallClock: wallClock)
            inlet?.deliver(batch)
        } catch {
            damagedInARow += 1
            if damagedInARow >= Self.maximumDamaged { throw .pictures(.damaged(error)) }
        }
    }

    private mutating func report(_ encoding: PictureEncoding, at now: Instant, wallClock: Int64) {
        guard now >= nextReport, let last = encoding.last else { return }
        nextReport = now + .seconds(1)
        sink.handle(
            .senderReport(
                track: 0, ntp: NTPTimestamp(unixNanoseconds: wallClock).rawValue, rtpTimestamp: last.timestamp))
    }
}
