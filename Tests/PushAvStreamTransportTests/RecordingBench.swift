import Foundation
import FragmentedMP4
import RTP
import Synchronization
import Transport

@testable import PushAvStreamTransport

/// A camera in virtual time, and what its recording looks like. Pictures are VP8 key frames of a few bytes, or nothing
/// that could be decoded.
struct RecordingBench {
    var assembler: RecordingAssembler
    var now: Instant
    /// What has come out, in order.
    var outputs: [(session: RecordingSession.ID, output: RecordingOutput)] = []
    /// The camera's clocks.
    var pictureClock: UInt32 = 4_294_900_000
    var soundClock: UInt32 = 77
    /// How far the moments of capture are before the arrivals.
    var delay = Duration.milliseconds(80)
    var width: UInt8 = 64
    /// How wrong the moments of capture are.
    var captureError = Duration.zero
    /// Whether pictures look like those of H.264 without parameter sets.
    var framesAreH264 = false

    static let trigger = RecordingSession.Trigger(kind: .motion, reason: "motion in Driveway", events: ["e1"])
    static let start = Instant(nanoseconds: 500_000_000_000)
    /// 2026-11-22 17:43:51 UTC.
    static let wallClock: Int64 = 1_795_369_431_000_000_000

    init(
        pictures: String? = "VP8", sound: Bool = true, segment: Duration = .seconds(2),
        chunk: Duration = .milliseconds(500), _ change: (inout RecordingAssembler.Configuration) -> Void = { _ in }
    ) {
        var configuration = RecordingAssembler.Configuration()
        configuration.device = "d1"
        configuration.parameters = CMAFParameters(segmentDuration: segment, chunkDuration: chunk)
        change(&configuration)
        let count = Counter()
        now = Self.start
        assembler = RecordingAssembler(
            configuration, wallClockOffset: Self.wallClock - Self.start.nanoseconds, at: Self.start
        ) { start, known in
            let number = count.next()
            return (
                RecordingSession.ID(device: "d1", start: start, epoch: 1, sequence: number),
                known ?? UInt64(number) + 40
            )
        }
        assembler.setPictures(codecName: pictures)
        assembler.setSound(clockRate: sound ? 48_000 : nil)
    }

    private final class Counter: Sendable {
        private let value = Atomic<UInt32>(0)
        func next() -> UInt32 { value.add(1, ordering: .relaxed).newValue }
    }

    static let soundTrack = MP4Track(codec: .opus(channels: 1, preSkip: 0), timescale: 48_000)

    /// A VP8 key frame of this width (RFC 6386, section 9.1), or another frame.
    func frame(isKeyFrame: Bool) -> [UInt8] {
        if framesAreH264 { return [0, 0, 0, 1, isKeyFrame ? 0x65 : 0x41, 1, 2] }
        return isKeyFrame ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, width, 0, 48, 0, 1, 2, 3] : [0x11, 0, 0, 9, 9, 9]
    }

    mutating func begin(preRoll: Bool = false) {
        assembler.start(Self.trigger, triggeredAt: now, at: now)
    }

    /// A picture comes. Its timestamp is the clock's, or that plus `later` ticks.
    mutating func picture(isKeyFrame: Bool, later: Int64 = 0, late: Duration = .zero) {
        assembler.append(
            RecordedPicture(
                data: frame(isKeyFrame: isKeyFrame),
                timestamp: pictureClock &+ UInt32(truncatingIfNeeded: later), isKeyFrame: isKeyFrame,
                capture: now - delay - late + captureError + .nanoseconds(later * 1_000_000_000 / 90_000),
                arrival: now),
            at: now)
        take()
    }

    /// 20 ms of sound come.
    mutating func sound() {
        assembler.append(
            RecordedSound(
                data: [0xFC, 1, 2], timestamp: soundClock, duration: 960, description: Self.soundTrack,
                capture: now - delay + captureError, arrival: now),
            at: now)
        take()
    }

    /// Time passes.
    mutating func wait(_ duration: Duration) {
        now += duration
        pictureClock &+= UInt32(truncatingIfNeeded: duration.wholeNanoseconds * 9 / 100_000)
        soundClock &+= UInt32(truncatingIfNeeded: duration.wholeNanoseconds * 48 / 1_000_000)
        assembler.advance(to: now)
        take()
    }

    /// The camera sends for this long: ten pictures and fifty pieces of sound in a second.
    mutating func run(
        _ duration: Duration, keyFrameEvery interval: Int = 10, pictures: Bool = true, sounds: Bool = true
    ) {
        for step in 0..<Int(duration.wholeNanoseconds / 20_000_000) {
            if sounds { sound() }
            if pictures, step % 5 == 0 { picture(isKeyFrame: step / 5 % interval == 0) }
            wait(.milliseconds(20))
        }
    }

    mutating func stop(_ reason: RecordingEnd.Reason = .lengthReached) {
        assembler.stop(reason, at: now)
        take()
    }

    mutating func take() { outputs += assembler.takeOutputs() }

    /// The recordings that came out.
    var recordings: [Recording] { Recording.all(in: outputs) }
}

extension Recording {
    /// The recordings that outputs make.
    static func all(in outputs: [(session: RecordingSession.ID, output: RecordingOutput)]) -> [Recording] {
        var result: [Recording] = []
        for (id, output) in outputs {
            if case .began(let session) = output {
                result.append(Recording(session: session))
                continue
            }
            guard let index = result.firstIndex(where: { $0.session.id == id }) else { continue }
            switch output {
            case .began: break
            case .chunk(let chunk): result[index].chunks.append(chunk)
            case .segmentEnded(let segment): result[index].segments.append(segment)
            case .gap(let gap): result[index].gaps.append(gap)
            case .trigger(let trigger): result[index].triggers.append(trigger)
            case .ended(let end): result[index].end = end
            }
        }
        return result
    }
}

/// One session, as a store would have it.
struct Recording {
    var session: RecordingSession
    var chunks: [RecordedChunk] = []
    var segments: [RecordedSegment] = []
    var gaps: [RecordingGap] = []
    var triggers: [RecordingSession.Trigger] = []
    var end: RecordingEnd?

    /// The samples of a track, read back from its chunks.
    func samples(_ track: Int) -> [ReadSample] {
        chunks.filter { $0.track == track }.flatMap { ReadSample.all(in: $0.bytes) ?? [] }
    }

    /// How long the samples of a track last together, in seconds.
    func length(_ track: Int) -> Double {
        Double(samples(track).reduce(0) { $0 + $1.duration }) / Double(session.tracks[track].timescale)
    }

    /// The time after the last sample of a track, in seconds since the start.
    func end(_ track: Int) -> Double {
        samples(track).last.map { Double($0.time + Int64($0.duration)) / Double(session.tracks[track].timescale) } ?? 0
    }

    /// What every recording keeps to, whatever the camera does; empty if this one does.
    var faults: [String] {
        var faults: [String] = []
        if end == nil { faults.append("it has no end") }
        for index in session.tracks.indices {
            let own = chunks.filter { $0.track == index }
            var time: Int64 = 0
            var segment: UInt32 = 0
            for chunk in own {
                if chunk.decodeTime < time { faults.append("\(index): a chunk begins before the one before it ends") }
                if chunk.duration <= 0 { faults.append("\(index): a chunk lasts \(chunk.duration)") }
                if chunk.beginsSegment != (chunk.segment == segment + 1) || chunk.segment < segment {
                    faults.append("\(index): segment \(chunk.segment) follows \(segment)")
                }
                if chunk.beginsSegment, !chunk.beginsWithKeyFrame { faults.append("\(index): no key frame") }
                segment = chunk.segment
                guard let samples = ReadSample.all(in: chunk.bytes), let first = samples.first else {
                    faults.append("\(index): a chunk cannot be read")
                    continue
                }
                if first.time != chunk.decodeTime { faults.append("\(index): tfdt differs") }
                if samples.contains(where: { $0.duration == 0 }) { faults.append("\(index): a sample lasts 0") }
                if samples.reduce(0, { $0 + Int64($1.duration) }) != chunk.duration {
                    faults.append("\(index): the durations do not add up")
                }
                if chunk.beginsSegment, !first.isKeyFrame { faults.append("\(index): a segment without key frame") }
                time = chunk.decodeTime + chunk.duration
            }
            let ended = segments.filter { $0.track == index }
            if ended.map(\.segment) != (segment == 0 ? [] : Array(1...segment)) {
                faults.append("\(index): segments end as \(ended.map(\.segment)) of \(segment)")
            }
            for segment in ended {
                let parts = own.filter { $0.segment == segment.segment }
                if parts.first?.decodeTime != segment.decodeTime
                    || parts.last.map({ $0.decodeTime + $0.duration }) != segment.decodeTime + segment.duration
                {
                    faults.append("\(index): segment \(segment.segment) does not cover its chunks")
                }
            }
        }
        for gap in gaps where gap.until <= gap.from { faults.append("a gap that ends before it begins") }
        return faults
    }
}

/// One sample of a chunk, read back.
struct ReadSample: Equatable {
    var time: Int64
    var duration: UInt32
    var compositionOffset: Int32
    var isKeyFrame: Bool
    var data: [UInt8]

    /// The samples of a chunk; nil if its boxes do not fit together.
    static func all(in bytes: [UInt8]) -> [ReadSample]? {
        guard let boxes = boxes(bytes[...]), let moof = boxes.first(where: { $0.type == "moof" }),
            let mdat = boxes.first(where: { $0.type == "mdat" }), let parts = self.boxes(moof.content),
            let traf = parts.first(where: { $0.type == "traf" }), let inner = self.boxes(traf.content),
            let tfdt = inner.first(where: { $0.type == "tfdt" })?.content,
            let trun = inner.first(where: { $0.type == "trun" })?.content
        else { return nil }
        var time = Int64(integer(tfdt, 4)) << 32 | Int64(integer(tfdt, 8))
        var position = moof.start + integer(trun, 8)
        var samples: [ReadSample] = []
        for index in 0..<integer(trun, 4) {
            let entry = 12 + index * 16
            let length = integer(trun, entry + 4)
            guard position >= mdat.content.startIndex, position + length <= mdat.content.endIndex else { return nil }
            let duration = UInt32(truncatingIfNeeded: integer(trun, entry))
            samples.append(
                ReadSample(
                    time: time, duration: duration,
                    compositionOffset: Int32(truncatingIfNeeded: integer(trun, entry + 12)),
                    isKeyFrame: integer(trun, entry + 8) & 0x1_0000 == 0,
                    data: Array(bytes[position..<position + length])))
            time += Int64(duration)
            position += length
        }
        return position == mdat.content.endIndex ? samples : nil
    }

    private static func boxes(
        _ bytes: ArraySlice<UInt8>
    ) -> [(type: String, start: Int, content: ArraySlice<UInt8>)]? {
        var result: [(String, Int, ArraySlice<UInt8>)] = []
        var place = bytes.startIndex
        while place < bytes.endIndex {
            guard bytes.endIndex - place >= 8 else { return nil }
            let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= bytes.endIndex - place else { return nil }
            result.append(
                (String(decoding: bytes[place + 4..<place + 8], as: UTF8.self), place, bytes[place + 8..<place + size]))
            place += size
        }
        return result
    }

    private static func integer(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> Int {
        let start = bytes.startIndex + offset
        guard start + 4 <= bytes.endIndex else { return 0 }
        return bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
