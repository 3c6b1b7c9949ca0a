extension RecordingDamage: CustomStringConvertible {
    /// What is wrong, as people read it after the path of the file or folder, and what to do about it.
    public var description: String {
        switch self {
        case .missingSession: "is missing; the segments beside it were left as they are"
        case .damagedSession: "is damaged; the segments beside it were left as they are"
        case .newerFormat(let version):
            "was written by a newer version of the gateway (format \(version)); use that version to read it"
        case .foreignSession: "describes a session that its folder does not name"
        case .unusableSession(let problem): problem.description
        case .unreadable(let fault): "cannot be read: \(fault.reason)"
        case .damagedLines(let count): "\(count) lines are damaged; the segments were read instead"
        case .missingSegment: "is missing, but the journal names it"
        case .failed(let words): words
        case .noEnd: "has no end; the next start of the gateway completes it"
        case .noFootage: "has no end and no footage; the next start of the gateway removes it"
        case .damagedHeader: "is not a whole CMAF header"
        case .wrongLength(let size, let expected): "has \(size) bytes instead of \(expected)"
        case .cutChunk: "ends within a chunk"
        case .garbled(let offset): "is damaged from byte \(offset) on"
        case .garbledTail(let offset): "is damaged from byte \(offset) on; what comes before it is used"
        case .tooShort(let usable, let expected): "has \(usable) usable bytes, but the journal names \(expected)"
        case .overlappingChunk(let offset): "the chunk at byte \(offset) overlaps the one before it"
        case .wrongStart(let time, let expected): "begins at \(time), but its journal says \(expected)"
        case .overlappingSegment: "overlaps the segment before it"
        }
    }
}

extension RecordingLayoutProblem: CustomStringConvertible {
    /// The problem as people read it. The names themselves are not repeated.
    public var description: String {
        switch self {
        case .deviceName:
            "the device's id cannot be the name of a folder; it may have 64 letters, digits, '.', '_' and '-'"
        case .start: "the start is not between the years 1970 and 9999; set the clock"
        case .trackCount: "a recording has 1 to 16 tracks"
        case .trackName(let index):
            "the name of track \(index) is not 1 to 16 letters, digits, '.', '_' and '-', or begins with a dot"
        case .timescale(let index): "the timescale of track \(index) is not between 1 and 1,000,000,000"
        case .repeatedTrackName: "two tracks have the same name"
        }
    }
}
