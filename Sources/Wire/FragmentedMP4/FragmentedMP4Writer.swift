import Transport

/// Writes a recording as fragmented MP4 (ISO/IEC 14496-12, section 8.8): a start that describes the tracks, then
/// fragments. Each fragment can be written as soon as it is complete. A file that is cut off anywhere plays up to its
/// last whole fragment.
///
/// It does not write a file itself. Write ``initializationSegment`` first, then whatever ``append(_:track:)`` and
/// ``finish()`` return, in that order.
public struct FragmentedMP4Writer: Sendable {
    /// The tracks, in the order of their indices.
    public let tracks: [MP4Track]
    /// The start of the file.
    public let initializationSegment: [UInt8]
    /// The longest duration of a fragment, unless a single sample lasts longer.
    public let fragmentDuration: Duration
    /// The most bytes of samples in a fragment, unless a single sample is larger.
    public let maximumFragmentLength: Int

    private struct Pending: Sendable {
        var samples: [MP4Sample] = []
        /// How long the last sample lasted: the best guess for the final one.
        var lastDuration: Int64 = 0
        var lastTime: Int64?
    }

    private var pending: [Pending]
    private var pendingLength = 0
    private var sequenceNumber: UInt32 = 0

    /// Describes the file.
    public init(
        tracks: [MP4Track], fragmentDuration: Duration = .seconds(1), maximumFragmentLength: Int = 16 << 20
    ) throws(MP4Error) {
        for (index, track) in tracks.enumerated() {
            if let fault = track.fault { throw .invalidTrack(index, fault) }
        }
        self.tracks = tracks
        self.fragmentDuration = fragmentDuration
        self.maximumFragmentLength = maximumFragmentLength
        pending = Array(repeating: Pending(), count: tracks.count)
        var writer = BoxWriter()
        writer.writeInitialization(tracks)
        initializationSegment = writer.bytes
    }

    /// Adds a sample, and returns the bytes of a fragment when one is complete: before a key frame of a video track,
    /// and when it is long enough.
    ///
    /// A sample lasts until the next one of its track, so the newest sample of each track always waits.
    public mutating func append(_ sample: MP4Sample, track: Int) throws(MP4Error) -> [UInt8]? {
        guard tracks.indices.contains(track) else { throw .unknownTrack(track) }
        guard !sample.data.isEmpty, sample.data.count <= 1 << 28 else {
            throw .invalidSample(track: track, length: sample.data.count)
        }
        if let previous = pending[track].lastTime, sample.decodeTime <= previous {
            throw .timeNotRising(track: track, decodeTime: sample.decodeTime, previous: previous)
        }
        guard sample.decodeTime >= 0, sample.decodeTime < 1 << 60 else {
            throw .timeNotRising(track: track, decodeTime: sample.decodeTime, previous: pending[track].lastTime ?? 0)
        }
        if let previous = pending[track].lastTime { pending[track].lastDuration = sample.decodeTime - previous }
        let startsGroup = tracks[track].isVideo && sample.isKeyFrame
        pending[track].samples.append(sample)
        pending[track].lastTime = sample.decodeTime
        pendingLength += sample.data.count
        guard startsGroup || pendingLength > maximumFragmentLength || isLongEnough(track) else { return nil }
        return makeFragment(keepingNewest: true)
    }

    /// The last fragment, with the samples that still waited; nil when there are none. The last sample of each track
    /// gets the duration of the one before it.
    public mutating func finish() -> [UInt8]? {
        makeFragment(keepingNewest: false)
    }

    private func isLongEnough(_ track: Int) -> Bool {
        guard let first = pending[track].samples.first, let last = pending[track].samples.last else { return false }
        // Times are limited to 1 << 60 units, so the difference is far from overflowing.
        let length = Double(last.decodeTime - first.decodeTime) / Double(tracks[track].timescale)
        return length >= fragmentDuration.inSeconds
    }

    private mutating func makeFragment(keepingNewest: Bool) -> [UInt8]? {
        let counts = pending.map { max(0, $0.samples.count - (keepingNewest ? 1 : 0)) }
        guard counts.contains(where: { $0 > 0 }) else { return nil }
        sequenceNumber &+= 1
        var writer = BoxWriter()
        writer.reserve(pendingLength + 512 + counts.reduce(0, +) * 16)
        /// Where each track's run stores the position of its first sample.
        var offsets: [(position: Int, length: Int)] = []
        let start = writer.count
        writer.box("moof") { writer in
            writer.fullBox("mfhd") { $0.write(sequenceNumber) }
            for track in tracks.indices where counts[track] > 0 {
                let samples = pending[track].samples[..<counts[track]]
                let position = writer.writeTrackFragment(
                    samples, until: end(of: track, count: counts[track]), identifier: UInt32(track + 1),
                    isVideo: tracks[track].isVideo)
                offsets.append((position, samples.reduce(0) { $0 + $1.data.count }))
            }
        }
        var offset = writer.count - start + 8
        for run in offsets {
            writer.overwrite(UInt32(truncatingIfNeeded: offset), at: run.position)
            offset += run.length
        }
        writer.box("mdat") { writer in
            for track in tracks.indices {
                for sample in pending[track].samples[..<counts[track]] { writer.write(sample.data) }
            }
        }
        for track in tracks.indices { pending[track].samples.removeFirst(counts[track]) }
        pendingLength = pending.reduce(0) { $0 + $1.samples.reduce(0) { $0 + $1.data.count } }
        return writer.bytes
    }

    /// The end time of the last of a track's first `count` samples.
    private func end(of track: Int, count: Int) -> Int64 {
        let samples = pending[track].samples
        if count < samples.count { return samples[count].decodeTime }
        // A track with a single sample has no known duration: assume a fiftieth of a second, a usual frame of sound.
        let duration =
            pending[track].lastDuration > 0 ? pending[track].lastDuration : Int64(tracks[track].timescale / 50)
        return (samples.last?.decodeTime ?? 0) + max(1, duration)
    }
}

extension BoxWriter {
    /// Writes one track's part of a fragment, and returns the position of the four bytes that will say where its
    /// samples start, counted from the start of the fragment.
    mutating func writeTrackFragment(
        _ samples: ArraySlice<MP4Sample>, until end: Int64, identifier: UInt32, isVideo: Bool
    ) -> Int {
        var position = 0
        box("traf") {
            // Sample offsets are relative to the start of the fragment (default-base-is-moof).
            $0.fullBox("tfhd", flags: 0x2_0000) { $0.write(identifier) }
            $0.fullBox("tfdt", version: 1) { $0.write(UInt64(bitPattern: samples.first?.decodeTime ?? 0)) }
            // With offset, durations, sizes, flags and (signed) composition offsets.
            $0.fullBox("trun", version: 1, flags: 0xF01) { writer in
                writer.write(UInt32(samples.count))
                position = writer.count
                writer.write(UInt32(0))
                for (index, sample) in zip(samples.indices, samples) {
                    let next = index + 1 < samples.endIndex ? samples[index + 1].decodeTime : end
                    writer.write(UInt32(clamping: next - sample.decodeTime))
                    writer.write(UInt32(sample.data.count))
                    // Section 8.8.3.1: depends on no other sample, or depends on others and is not a sync sample.
                    writer.write(UInt32(sample.isKeyFrame || !isVideo ? 0x0200_0000 : 0x0101_0000))
                    writer.write(sample.compositionOffset)
                }
            }
        }
        return position
    }
}
