/// A track of an export while it is put together: its tables, and where its samples are.
struct MP4ExportTrack: Sendable {
    /// Samples whose bytes follow each other in one source.
    struct Block: Sendable {
        var source: Int
        var offset: Int64
        var length: Int64
        var samples: UInt32
        /// When its first sample is decoded, in microseconds of the export, for interleaving.
        var time: Int64
    }

    /// The most samples from a key frame to the beginning of the range. Cameras send a key frame more often than once an
    /// hour.
    private static let maximumWaiting = 1 << 18

    /// How long after the end of the range a picture may be decoded that is shown before it, in seconds. Cameras that
    /// send B-frames reorder a few pictures.
    private static let longestReordering: Int64 = 1

    /// A sample that waits until it is known whether the range begins behind it, or ends before it.
    private struct Waiting {
        var sample: MP4Chunk.Sample
        var time: Int64
        var source: Int
        var offset: Int64
    }

    let track: MP4Header.Track
    private(set) var blocks: [Block] = []
    /// `stts`: how often, and how long.
    private(set) var durations: [(count: UInt32, duration: UInt32)] = []
    /// `ctts`: how often, and the offset.
    private(set) var compositions: [(count: UInt32, offset: Int32)] = []
    /// `stsz`: the sizes, as they are written.
    private(set) var sizes: [UInt8] = []
    /// `stss`: the numbers of key frames, from 1.
    private(set) var syncSamples: [UInt32] = []
    private(set) var sampleCount = 0
    /// The decode time of the first sample, and of the end of the last, in ticks of the track since the export began.
    private(set) var firstTime: Int64 = 0
    private(set) var endTime: Int64 = 0
    private(set) var firstComposition: Int32 = 0

    private var lastTime: Int64 = 0
    private var lastDuration: UInt32 = 0
    private var offset: Int64 = 0
    private var rangeStart: Int64 = 0
    private var rangeEnd: Int64 = 0
    private var lead: Int64 = 0
    private var isRunning = false
    private var waiting: [Waiting] = []
    /// Pictures that are decoded after the end of the range, and belong to it only if one of the next is shown before it.
    private var tail: [Waiting] = []
    private var hasTail = false
    private var isEnded = false

    init(_ track: MP4Header.Track) {
        self.track = track
    }

    /// Microseconds in ticks of the track, rounded down.
    func ticks(_ microseconds: Int64) -> Int64 {
        let (high, low) = microseconds.multipliedFullWidth(by: Int64(track.timescale))
        // Times are within some years, and timescales below 2^30, so the quotient fits.
        guard high < 400_000, high > -400_000 else { return high < 0 ? -(1 << 60) : 1 << 60 }
        let (quotient, remainder) = Int64(1_000_000).dividingFullWidth((high, low))
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// Ticks in microseconds.
    func microseconds(_ ticks: Int64) -> Int64 {
        let scale = Int64(track.timescale)
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: scale)
        return seconds &* 1_000_000 &+ rest * 1_000_000 / scale
    }

    /// - Parameter hasTail: pictures that are decoded after the range and shown in it are wanted.
    mutating func beginSession(start: Int64, range: Range<Int64>, lead: Int64, hasTail: Bool) {
        flushWaiting()
        tail = []
        self.hasTail = hasTail
        offset = ticks(start)
        rangeStart = ticks(range.lowerBound)
        rangeEnd = ticks(range.upperBound)
        self.lead = ticks(lead)
        isRunning = false
        isEnded = false
    }

    /// - Returns: false when everything of the session's range is there.
    mutating func add(_ chunk: MP4Chunk, source: Int) throws(MP4ExportError) -> Bool {
        guard !isEnded else { return false }
        var time = offset + chunk.decodeTime
        for run in chunk.runs {
            var position = run.offset
            for sample in run.samples {
                // Without a duration, the next sample's time says how long it lasts.
                defer {
                    position += Int64(sample.size)
                    time += Int64(sample.duration)
                }
                let item = Waiting(sample: sample, time: time, source: source, offset: position)
                guard time < rangeEnd || mayBelongToTail(item) else {
                    isEnded = true
                    tail = []
                    flushWaiting()
                    return false
                }
                if time >= rangeEnd {
                    tail.append(item)
                    guard item.time + Int64(sample.compositionOffset) < rangeEnd else { continue }
                    let items = tail
                    tail = []
                    for item in items { try take(item) }
                } else {
                    try take(item)
                }
            }
        }
        return true
    }

    /// Whether a picture that is decoded after the end of the range may be one of it, or be needed by one of it. With
    /// negative offsets (`ctts`, version 1) a picture is shown before its decode time. A key frame that is shown after
    /// the range begins pictures that all are.
    private func mayBelongToTail(_ item: Waiting) -> Bool {
        guard hasTail, track.isVideo, item.time - rangeEnd < Self.longestReordering * Int64(track.timescale) else {
            return false
        }
        return !item.sample.isSync || item.time + Int64(item.sample.compositionOffset) < rangeEnd
    }

    private mutating func take(_ item: Waiting) throws(MP4ExportError) {
        if isRunning { try append(item) } else { try wait(item) }
    }

    /// Keeps samples from the newest key frame before the range on.
    private mutating func wait(_ item: Waiting) throws(MP4ExportError) {
        let shown = item.time + Int64(item.sample.compositionOffset)
        if track.isVideo {
            if item.sample.isSync, shown <= rangeStart { waiting.removeAll(keepingCapacity: true) }
            guard item.sample.isSync || !waiting.isEmpty else { return }
        } else if item.time + Int64(item.sample.duration) + lead <= rangeStart {
            return
        }
        guard waiting.count < Self.maximumWaiting else { throw .tooManySamples(limit: Self.maximumWaiting) }
        waiting.append(item)
        guard shown > rangeStart || (track.isVideo ? false : item.time >= rangeStart) else { return }
        isRunning = true
        try appendWaiting()
    }

    private mutating func appendWaiting() throws(MP4ExportError) {
        let items = waiting
        waiting = []
        for item in items { try append(item) }
    }

    /// What still waits when a session ends lies before the range's first frame, and is what is shown there.
    private mutating func flushWaiting() {
        // A gap that is too long cannot follow a sample that is within the range.
        try? appendWaiting()
    }

    private mutating func append(_ item: Waiting) throws(MP4ExportError) {
        if sampleCount == 0 {
            firstTime = item.time
            firstComposition = item.sample.compositionOffset
        } else {
            let step = item.time - lastTime
            // A sample that is not after the one before cannot be expressed. It can only come from a damaged file.
            guard step > 0 else { return }
            guard step <= Int64(UInt32.max) else { throw .gapTooLong(seconds: step / Int64(track.timescale)) }
            addDuration(UInt32(step))
        }
        lastTime = item.time
        lastDuration = item.sample.duration
        sampleCount += 1
        withUnsafeBytes(of: item.sample.size.bigEndian) { sizes.append(contentsOf: $0) }
        if item.sample.isSync, track.isVideo { syncSamples.append(UInt32(sampleCount)) }
        if let last = compositions.last, last.offset == item.sample.compositionOffset {
            compositions[compositions.count - 1].count += 1
        } else {
            compositions.append((1, item.sample.compositionOffset))
        }
        if let last = blocks.last, last.source == item.source, last.offset + last.length == item.offset {
            blocks[blocks.count - 1].length += Int64(item.sample.size)
            blocks[blocks.count - 1].samples += 1
        } else {
            blocks.append(
                Block(
                    source: item.source, offset: item.offset, length: Int64(item.sample.size), samples: 1,
                    time: microseconds(item.time)))
        }
    }

    private mutating func addDuration(_ duration: UInt32) {
        if let last = durations.last, last.duration == duration {
            durations[durations.count - 1].count += 1
        } else {
            durations.append((1, duration))
        }
    }

    mutating func finish() {
        flushWaiting()
        guard sampleCount > 0 else { return }
        addDuration(lastDuration)
        endTime = lastTime + Int64(lastDuration)
    }
}
