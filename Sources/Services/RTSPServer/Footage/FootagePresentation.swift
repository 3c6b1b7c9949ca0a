import Cameras
import FragmentedMP4
public import PushAvStreamTransport
import RTSP
public import Stations
import Transport

/// Where the server finds recorded footage.
public struct FootageSource: Sendable {
    /// The recordings.
    public var store: any RecordingReading
    /// Says when it knows the recordings of earlier runs. Requests wait for that.
    public var recovery: RecordingRecovery
    /// Which outputs of a device are allowed; nil when nothing decides about it.
    public var permits: @Sendable (_ device: String) async -> OutputPermits?

    /// The identifier of the device that a path names by its identifier or its key.
    public var device: @Sendable (_ name: String) -> String

    /// Names the parts.
    public init(
        store: any RecordingReading, recovery: RecordingRecovery = RecordingRecovery(isOver: true),
        permits: @escaping @Sendable (String) async -> OutputPermits?,
        device: @escaping @Sendable (_ name: String) -> String = { $0 }
    ) {
        self.store = store
        self.recovery = recovery
        self.permits = permits
        self.device = device
    }
}

/// Recorded footage of one device as a client has asked for it.
struct FootagePresentation: Sendable {
    /// The first part of the path of recorded footage; the device follows.
    static let prefix = "recordings/"

    /// Why footage cannot be played.
    enum Refusal: Error, Equatable {
        /// The address cannot be read.
        case unreadable
        case notFound
        /// The camera's switches refuse it.
        case refused
        /// The disk.
        case unavailable
    }

    let device: String
    /// What the client calls the device.
    var name: String
    let store: any RecordingReading
    let timeline: FootageTimeline
    /// The tracks that the server has a payload format for: pictures, then sound.
    let tracks: [MP4Header.Track]
    let descriptions: [TrackDescription]
    /// Whether it shows what happens now.
    let isRunning: Bool

    /// The address of the footage, without its query.
    var path: String { Self.prefix + name }

    /// What an address asks for: `from` and `until` in UTC, and `gaps`, all of which may be left out.
    struct Query: Equatable, Sendable {
        var from: Int64 = .min
        var until: Int64 = .max
        var gaps = RecordingExport.Gaps.keep

        /// Reads the query of a URI; nil when it cannot be read.
        init?(uri: String) {
            guard let mark = uri.firstIndex(of: "?") else { return }
            // Some clients append the control attribute behind the query.
            let text = uri[uri.index(after: mark)...].prefix { $0 != "/" }
            for field in text.split(separator: "&") {
                let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2 else { return nil }
                let value = parts[1].replacing("%3A", with: ":").replacing("%3a", with: ":")
                switch parts[0] {
                case "from":
                    guard let time = RTSPRange.clock(value) else { return nil }
                    from = time
                case "until":
                    guard let time = RTSPRange.clock(value) else { return nil }
                    until = time
                case "gaps":
                    guard let gaps = RecordingExport.Gaps(rawValue: value) else { return nil }
                    self.gaps = gaps
                // Parameters of other programs are ignored.
                default: continue
                }
            }
            if from >= until { return nil }
        }
    }

    /// Finds footage. Waits for the disk.
    init(of device: String, _ query: Query, in store: any RecordingReading) throws(PlaybackError) {
        self.device = device
        name = device
        self.store = store
        timeline = try FootageTimeline(
            of: device, from: query.from, until: query.until, gaps: query.gaps, in: store)
        let found: [RecordingSummary]
        let first: StoredRecording
        do throws(RecordingFault) {
            found = try store.recordings(
                RecordingQuery(device: device, from: timeline.range.lowerBound, until: timeline.range.upperBound))
            guard let id = found.first(where: { $0.until > $0.from })?.id else { throw .unknownSession }
            first = try store.recording(id)
        } catch {
            throw .store(error)
        }
        isRunning = found.contains { $0.end == nil }
        var tracks: [MP4Header.Track] = []
        for isVideo in [true, false] {
            guard let track = first.session.tracks.first(where: { $0.isVideo == isVideo }) else { continue }
            let header: MP4Header
            do throws(MP4ReadError) {
                header = try MP4Header(Array(track.initializationSegment))
            } catch {
                throw .unreadable(
                    path: first.layout.initializationSegment(of: track.name, in: first.session.id),
                    reason: .format(error))
            }
            if FootageCodec(header.tracks[0]) != nil { tracks.append(header.tracks[0]) }
        }
        guard !tracks.isEmpty else { throw .noPlayableTrack }
        self.tracks = tracks
        descriptions = tracks.compactMap { track in FootageCodec(track)?.describe(track) }
    }

    /// The times of the day that a client wants, in microseconds since 1970, UTC; nil when nothing of it was recorded.
    /// - Parameter position: where it is now, in the presentation, for a range without a beginning.
    func times(_ range: RTSPRange, position: Int64) -> Range<Int64>? {
        let end = timeline.range.upperBound
        let times: (Int64, Int64)
        switch range {
        case .npt(let from, let until): times = (timeline.time(at: from ?? position), until.map(timeline.time) ?? end)
        case .clock(let from, let until): times = (max(from, timeline.range.lowerBound), until ?? end)
        }
        let upper = min(times.1, end)
        guard times.0 < upper else { return nil }
        return times.0..<upper
    }

    /// What the answer to PLAY says about it, in the unit of the request.
    func answer(_ times: Range<Int64>, to range: RTSPRange?) -> RTSPRange {
        if case .clock = range { return .clock(from: times.lowerBound, until: times.upperBound) }
        return .npt(
            from: max(0, timeline.position(of: times.lowerBound)), until: timeline.position(of: times.upperBound))
    }
}
