/// How long recordings are kept, and how much of them.
///
/// Whole recordings are deleted, oldest first. One that is being made, or that still has to be uploaded, is never deleted;
/// if nothing else is left, recording stops when the room ends.
public struct RecordingRetention: Equatable, Sendable {
    /// What one device may keep.
    public struct Share: Equatable, Sendable {
        /// The longest time since the end of a recording, in milliseconds; nil for no limit.
        public var maximumAge: Int64?
        /// The most bytes; nil for no limit.
        public var maximumBytes: Int64?

        /// Limits a device.
        public init(maximumAge: Int64? = nil, maximumBytes: Int64? = nil) {
            self.maximumAge = maximumAge
            self.maximumBytes = maximumBytes
        }
    }

    /// For devices that are not in ``devices``.
    public var standard: Share
    /// For single devices.
    public var devices: [String: Share]
    /// The most bytes of all recordings; nil for no limit.
    public var maximumBytes: Int64?
    /// How many bytes stay free on the file system. Recordings are deleted to reach it. Below a quarter of it recording
    /// stops, and from half of it on it resumes.
    public var headroom: Int64

    /// Keeps everything until only the headroom is left.
    public init(
        standard: Share = Share(), devices: [String: Share] = [:], maximumBytes: Int64? = nil,
        headroom: Int64 = 1 << 30
    ) {
        self.standard = standard
        self.devices = devices
        self.maximumBytes = maximumBytes
        self.headroom = max(0, headroom)
    }

    /// Below so many free bytes recording stops.
    public var stopsBelow: Int64 { headroom / 4 }
    /// With so many free bytes it resumes.
    public var resumesAt: Int64 { headroom / 2 }
}

/// Decides which recordings are deleted. It is pure: what is there and what the time is come from the caller.
struct RetentionPlan {
    /// A recording that could be deleted.
    struct Candidate: Equatable {
        var id: RecordingSession.ID
        /// When it ended, in milliseconds since 1970, UTC.
        var end: Int64
        var byteCount: Int64
    }

    /// What is deleted and why, oldest first.
    private(set) var deletions: [(candidate: Candidate, reason: StoreEvent.Deletion)] = []
    /// How many bytes should have been deleted but are held.
    private(set) var heldBytes: Int64 = 0

    /// Decides. `candidates` are ordered by start; `bytes` are those of each device, running sessions included. `isHeld` is
    /// asked about the recordings that would be deleted.
    init(
        _ retention: RecordingRetention, now: Int64, free: Int64, bytes: [String: Int64], candidates: [Candidate],
        isHeld: (RecordingSession.ID) -> Bool
    ) {
        var bytes = bytes
        var total = bytes.values.reduce(0, +)
        var free = free
        for candidate in candidates {
            let device = candidate.id.device
            let share = retention.devices[device] ?? retention.standard
            let reason: StoreEvent.Deletion
            if let age = share.maximumAge, now > candidate.end, now - candidate.end > age {
                reason = .age
            } else if let most = share.maximumBytes, bytes[device, default: 0] > most {
                reason = .deviceBytes
            } else if let most = retention.maximumBytes, total > most {
                reason = .totalBytes
            } else if free < retention.headroom {
                reason = .headroom
            } else {
                continue
            }
            guard !isHeld(candidate.id) else {
                self.heldBytes += candidate.byteCount
                continue
            }
            self.deletions.append((candidate, reason))
            bytes[device, default: 0] -= candidate.byteCount
            total -= candidate.byteCount
            free = Self.room(free, with: candidate.byteCount)
        }
    }

    /// The free room after a deletion. A file system that does not know how much it has reports the largest number.
    static func room(_ free: Int64, with byteCount: Int64) -> Int64 {
        let (sum, overflow) = free.addingReportingOverflow(byteCount)
        return overflow ? .max : sum
    }
}
