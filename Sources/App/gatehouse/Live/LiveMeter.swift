import Codecs
import DatagramPort
import Foundation
import LiveViewClient
import RTP
import SDP
import Transport

/// Decodes what a view receives, and measures it.
struct LiveMeter: ~Copyable {
    private(set) var steps: [LiveReport.Step] = []
    private(set) var lastPicture: I420Frame?
    private(set) var framesDecoded = 0
    private(set) var endReason: String?
    private(set) var codecProblems: [String] = []

    private let posted: Instant
    private var vp8: VP8Decoder?
    private var h264: H264Decoder?
    private var sound: SoundMeter
    private var stamps: [TestPictureStamp] = []
    private var latencies: [Double] = []
    private var rate: FrameRateMeter?

    /// - Parameter posted: when the offer was posted.
    init(negotiated: NegotiatedSession, posted: Instant) throws {
        var vp8: VP8Decoder?
        var h264: H264Decoder?
        var rate: FrameRateMeter?
        for media in negotiated.media where media.kind == .video && media.direction.receives {
            if media.codec.isNamed("VP8") { vp8 = try VP8Decoder() }
            if media.codec.isNamed("H264") { h264 = try H264Decoder() }
            rate = FrameRateMeter(clockRate: UInt32(clamping: media.codec.clockRate))
        }
        let audio = negotiated.media.first { $0.kind == .audio && $0.direction.receives }
        let sound = try SoundMeter(codecs: audio?.receivePayloadTypes ?? [:])
        self.init(posted: posted, vp8: vp8, h264: h264, rate: rate, sound: sound)
    }

    // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
    private init(
        posted: Instant, vp8: consuming VP8Decoder?, h264: consuming H264Decoder?, rate: FrameRateMeter?,
        sound: consuming SoundMeter
    ) {
        self.posted = posted
        self.vp8 = vp8
        self.h264 = h264
        self.rate = rate
        self.sound = sound
    }

    mutating func record(_ name: String, at instant: Instant) {
        guard !steps.contains(where: { $0.name == name }) else { return }
        steps.append(LiveReport.Step(name: name, milliseconds: (instant - posted).inMilliseconds))
    }

    mutating func take(_ event: ViewingEvent) {
        switch event {
        case .pathFound(let instant): record("pathFound", at: instant)
        case .connected(let instant): record("connected", at: instant)
        case .firstPacket(let instant): record("firstPacket", at: instant)
        case .firstKeyFrame(let instant): record("firstKeyFrame", at: instant)
        case .frame(let frame): decode(frame)
        case .audio(let packet): sound.take(packet)
        case .ended(let reason): endReason = reason
        }
    }

    private mutating func decode(_ frame: EncodedFrame) {
        let picture: I420Frame?
        do {
            if vp8 != nil {
                picture = try vp8?.decode(frame.data)
            } else {
                picture = try h264?.decode(frame.data)
            }
        } catch {
            if codecProblems.count < 5 { codecProblems.append("a frame could not be decoded: \(error)") }
            return
        }
        guard let picture else { return }
        let now = MonotonicClock.now
        framesDecoded += 1
        record("firstPicture", at: now)
        rate?.add(timestamp: frame.timestamp, arrival: frame.lastArrival)
        lastPicture = picture
        guard let stamp = TestPictureReader.read(picture) else { return }
        stamps.append(stamp)
        // The backlog of a start is old by design. Only the live picture counts.
        if framesDecoded > 1, now - posted > .milliseconds(500) {
            latencies.append((Double(WallClock.now) / 1000 - Double(stamp.captureTime)) / 1000)
        }
    }

    /// The results, together with the loop's counts.
    consuming func report(
        device: String, duration: Duration, statistics: ViewingStatistics, notes: [String]
    ) -> LiveReport {
        let video = statistics.tracks.first { $0.kind == "video" }.map { track in
            LiveReport.Video(
                codec: track.codec, width: lastPicture?.width ?? 0, height: lastPicture?.height ?? 0,
                framesDecoded: framesDecoded, backlogFrames: rate?.backlogFrames ?? 0, keyFrames: Int(track.keyFrames),
                packets: track.packets,
                packetsLost: track.lost, packetsRetransmitted: track.retransmitted,
                framesPerSecond: rate?.framesPerSecond ?? 0,
                testPictureFramesMissing: missingFrames)
        }
        let audio = statistics.tracks.first { $0.kind == "audio" }.map { track in
            sound.report(codec: track.codec, packets: track.packets, lost: track.lost)
        }
        let sorted = latencies.sorted()
        return LiveReport(
            device: device, durationSeconds: duration.inSeconds, steps: steps, video: video, audio: audio,
            glassToGlass: sorted.isEmpty
                ? nil
                : LiveReport.Latency(
                    median: sorted[sorted.count / 2], p95: sorted[min(sorted.count * 95 / 100, sorted.count - 1)],
                    maximum: sorted[sorted.count - 1]),
            notes: notes + codecProblems, endReason: endReason)
    }

    private var missingFrames: Int? {
        guard let first = stamps.first?.frameNumber, let last = stamps.last?.frameNumber, last >= first else {
            return nil
        }
        return max(0, Int(last - first) + 1 - Set(stamps.map(\.frameNumber)).count)
    }
}
