import Transport

/// When something was recorded within a range, and which place of a presentation that is.
public struct FootageTimeline: Equatable, Sendable {
    /// When something was recorded, in microseconds since 1970, UTC, in order. The times do not overlap.
    public let coverage: [Range<Int64>]
    /// What happens to times at which nothing was recorded.
    public let gaps: RecordingExport.Gaps

    /// The timeline of a device between two times, in microseconds since 1970, UTC.
    /// - Throws: ``PlaybackError/nothingRecorded``, and what the store throws.
    public init(
        of device: String, from: Int64, until: Int64, gaps: RecordingExport.Gaps, in store: any RecordingReading
    ) throws(PlaybackError) {
        let found: [RecordingSummary]
        do throws(RecordingFault) {
            found = try store.recordings(RecordingQuery(device: device, from: from, until: until))
        } catch {
            throw .store(error)
        }
        self.init(found.map { max($0.from, from)..<max($0.from, from, min($0.until, until)) }, gaps: gaps)
        guard !coverage.isEmpty else { throw .nothingRecorded }
    }

    /// Puts times in order and joins those that touch.
    public init(_ times: [Range<Int64>], gaps: RecordingExport.Gaps) {
        var joined: [Range<Int64>] = []
        for one in times.sorted(by: { $0.lowerBound < $1.lowerBound }) where !one.isEmpty {
            if let last = joined.last, one.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, one.upperBound)
            } else {
                joined.append(one)
            }
        }
        coverage = joined
        self.gaps = gaps
    }

    /// The first and the last time, in microseconds since 1970, UTC.
    public var range: Range<Int64> { (coverage.first?.lowerBound ?? 0)..<(coverage.last?.upperBound ?? 0) }

    /// How long the presentation is, in microseconds.
    public var duration: Int64 { position(of: range.upperBound) }

    /// The place of a time of the day in the presentation, in microseconds. A time at which nothing was recorded is that
    /// of the next footage where gaps are left out.
    public func position(of time: Int64) -> Int64 {
        switch gaps {
        case .keep: return time - range.lowerBound
        case .cut:
            var before: Int64 = 0
            for part in coverage {
                guard time >= part.upperBound else { return before + max(0, time - part.lowerBound) }
                before += part.upperBound - part.lowerBound
            }
            return before
        }
    }

    /// The time of the day that is shown at a place, in microseconds since 1970, UTC.
    public func time(at position: Int64) -> Int64 {
        switch gaps {
        case .keep: return range.lowerBound + position
        case .cut:
            var rest = position
            for part in coverage {
                guard rest >= part.upperBound - part.lowerBound else { return part.lowerBound + max(0, rest) }
                rest -= part.upperBound - part.lowerBound
            }
            return range.upperBound
        }
    }
}
