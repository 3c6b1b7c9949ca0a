import Transport

/// Writes one track as CMAF (ISO/IEC 23000-19): a header, and chunks that make up segments. Each segment of pictures
/// begins with a key frame.
///
/// It writes no files. Store ``header`` first, then the bytes of the chunks in their order: the header and the chunks
/// of a segment make a file that plays, and so do the header and all chunks.
///
/// A sample lasts until the next one, so the newest sample always waits.
public struct CMAFTrackWriter: Sendable {
    /// The track.
    public let track: MP4Track
    /// The number that the header and the chunks give it.
    public let identifier: UInt32
    /// `ftyp` and `moov`.
    public let header: [UInt8]
    /// How the track is cut.
    public let parameters: CMAFParameters
    /// When the decode time 0 was, in nanoseconds since 1970.
    public let start: Int64
    /// The number of the segment that is being written, from 1; 0 before the first sample.
    public private(set) var segment: UInt32 = 0
    /// When the newest sample that has been written ends. The next one must not begin earlier.
    public private(set) var end: Int64 = 0

    private var waiting: [MP4Sample] = []
    private var waitingLength = 0
    private var events: [CMAFEvent] = []
    private var segmentStart: Int64 = 0
    private var beginsSegment = false
    private var segmentHasEnded = true
    private var sequenceNumber: UInt32 = 0
    private var lastDuration: Int64
    private let segmentTicks: Int64
    private let chunkTicks: Int64

    /// - Parameters:
    ///   - start: when the decode time 0 was, in nanoseconds since 1970.
    ///   - identifier: the number of the track, from 1. Tracks whose chunks become one file need different ones; see
    ///     ``CMAFHeaders``.
    /// - Throws: ``MP4Error/invalidTrack(_:_:)`` for a description that cannot be written.
    public init(
        track: MP4Track, parameters: CMAFParameters, start: Int64, identifier: UInt32 = 1
    ) throws(MP4Error) {
        if let fault = track.fault { throw .invalidTrack(0, fault) }
        self.track = track
        self.parameters = parameters
        self.start = start
        self.identifier = identifier
        var writer = BoxWriter()
        writer.writeCMAFHeader(track, identifier: identifier)
        header = writer.bytes
        segmentTicks = Self.ticks(parameters.segmentDuration, of: track)
        chunkTicks = Self.ticks(parameters.chunkDuration, of: track)
        // Usual values, for a track of a single sample.
        lastDuration = Int64(max(track.timescale / (track.isVideo ? 25 : 50), 1))
    }

    /// How long the sample before the newest lasted: the best guess for the newest.
    public var usualDuration: Int64 { lastDuration }
    /// The decode time of the newest sample; nil if none waits.
    public var newestDecodeTime: Int64? { waiting.last?.decodeTime }
    /// The decode time of the first sample of the segment that is being written.
    public var segmentDecodeTime: Int64 { segmentStart }
    /// How many bytes of samples wait.
    public var waitingByteCount: Int { waitingLength }

    /// Adds a sample, and hands what is complete by it to `output`.
    /// - Parameters:
    ///   - startsSegment: whether a segment begins with it; nil to decide by the durations. Pictures that are not key
    ///     frames never begin one but the first, which is refused.
    ///   - previousDuration: how long the sample before lasted, where this one does not follow at once; nil if it does.
    /// - Throws: ``MP4Error`` for a sample that cannot be written. Nothing has changed then.
    public mutating func append(
        _ sample: MP4Sample, startsSegment: Bool? = nil, previousDuration: Int64? = nil,
        _ output: (CMAFOutput) -> Void
    ) throws(MP4Error) {
        guard !sample.data.isEmpty, sample.data.count <= 1 << 28 else {
            throw .invalidSample(track: 0, length: sample.data.count)
        }
        let earliest = waiting.last.map { $0.decodeTime + 1 } ?? end
        guard sample.decodeTime >= earliest, sample.decodeTime < 1 << 60 else {
            throw .timeNotRising(track: 0, decodeTime: sample.decodeTime, previous: earliest - 1)
        }
        let canStart = sample.isKeyFrame || !track.isVideo
        guard canStart || !segmentHasEnded else { throw .noKeyFrame(decodeTime: sample.decodeTime) }
        var cutsChunk = false
        if let last = waiting.last, let first = waiting.first {
            let distance = sample.decodeTime - last.decodeTime
            // A chunk states no times but that of its first sample, so nothing can be left out inside.
            if let previousDuration, previousDuration < distance { cutsChunk = true } else { lastDuration = distance }
            let length = sample.decodeTime - first.decodeTime + lastDuration / 2
            if chunkTicks > 0, length >= chunkTicks { cutsChunk = true }
            if waitingLength + sample.data.count > parameters.maximumChunkLength { cutsChunk = true }
        }
        let isDue = sample.decodeTime - segmentStart + lastDuration / 2 >= segmentTicks
        let cutsSegment = segmentHasEnded || canStart && (startsSegment ?? isDue)
        if cutsChunk || cutsSegment {
            writeChunk(
                until: min(sample.decodeTime, previousDuration.map { newestTime + max($0, 1) } ?? .max), output)
        }
        if cutsSegment {
            endSegment(output)
            segment += 1
            segmentStart = sample.decodeTime
            beginsSegment = true
            segmentHasEnded = false
        }
        waiting.append(sample)
        waitingLength += sample.data.count
    }

    /// Adds an event to the next chunk.
    public mutating func append(_ event: CMAFEvent) {
        events.append(event)
    }

    /// Writes the samples that wait. The segment continues with the next one.
    /// - Parameter lastDuration: how long the newest sample lasts; nil for as long as the one before it.
    public mutating func flush(lastDuration duration: Int64? = nil, _ output: (CMAFOutput) -> Void) {
        guard !waiting.isEmpty else { return }
        writeChunk(until: newestTime + max(duration ?? lastDuration, 1), output)
    }

    /// Writes the samples that wait, and ends the segment. A further sample begins another one.
    public mutating func finish(lastDuration duration: Int64? = nil, _ output: (CMAFOutput) -> Void) {
        flush(lastDuration: duration, output)
        endSegment(output)
    }

    private var newestTime: Int64 { waiting.last?.decodeTime ?? end }

    private mutating func writeChunk(until chunkEnd: Int64, _ output: (CMAFOutput) -> Void) {
        guard let first = waiting.first else { return }
        sequenceNumber &+= 1
        let wallTime = start &+ nanoseconds(first.decodeTime)
        var writer = BoxWriter()
        writer.reserve(waitingLength + 256 + waiting.count * 16)
        writer.writeCMAFChunk(
            CMAFChunkDescription(
                beginsSegment: beginsSegment, identifier: identifier, wallTime: wallTime, timescale: track.timescale,
                sequenceNumber: sequenceNumber, end: chunkEnd, events: events),
            waiting[...], isVideo: track.isVideo)
        let chunk = CMAFChunk(
            segment: segment, beginsSegment: beginsSegment, beginsWithKeyFrame: first.isKeyFrame || !track.isVideo,
            decodeTime: first.decodeTime, duration: chunkEnd - first.decodeTime, wallTime: wallTime,
            bytes: writer.bytes)
        end = chunkEnd
        events.removeAll()
        waiting.removeAll(keepingCapacity: true)
        waitingLength = 0
        beginsSegment = false
        output(.chunk(chunk))
    }

    private mutating func endSegment(_ output: (CMAFOutput) -> Void) {
        guard segment > 0, !segmentHasEnded else { return }
        segmentHasEnded = true
        output(.segmentEnd(CMAFSegment(number: segment, decodeTime: segmentStart, duration: end - segmentStart)))
    }

    private func nanoseconds(_ ticks: Int64) -> Int64 {
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(track.timescale))
        return seconds &* 1_000_000_000 &+ rest &* 1_000_000_000 / Int64(track.timescale)
    }

    private static func ticks(_ duration: Duration, of track: MP4Track) -> Int64 {
        // Durations are limited to a few minutes and timescales to 32 bits.
        duration.wholeNanoseconds / 1_000_000 * Int64(track.timescale) / 1_000
    }
}
