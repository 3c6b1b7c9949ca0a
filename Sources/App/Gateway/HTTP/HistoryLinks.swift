import Foundation
import HomeHub
import HomeTypes
import PushAvStreamTransport

/// Adds pictures and clips to the items of a history, where a recording shows their moment.
///
/// The recordings say it at the time of the query: what was deleted has no links.
struct HistoryLinks: Sendable {
    /// The recordings; nil when the gateway keeps none.
    var recordings: RecordingAccess?
    /// The pictures that are kept; nil when the gateway keeps none.
    var pictures: KeptPictures?
    /// Whether the caller may see what a device has recorded.
    var mayWatch: @Sendable (String) -> Bool

    /// How many recordings of a device are looked at for one page.
    private static let limit = 1_000
    /// How long before an event its clip begins, and how long after it ends, in microseconds.
    private static let margin: (before: Int64, after: Int64) = (5_000_000, 15_000_000)
    /// The longest clip, in microseconds.
    private static let longest: Int64 = 3_600_000_000
    /// How far from its trigger a recording may begin, in microseconds.
    private static let slack: Int64 = 60_000_000

    /// The items with their links. If the recordings cannot be read, the items come without links.
    func added(to items: [HistoryRecord]) async -> [HistoryRecord] {
        var result = await withPictures(items)
        guard let recordings else { return result }
        let places = Dictionary(grouping: items.indices) { items[$0].deviceID }
        for (device, indices) in places where mayWatch(device) {
            let times = indices.map { Self.microseconds(items[$0].timestamp) }
            guard let first = times.min(), let last = times.max() else { continue }
            let found = try? await recordings.read { store throws(PlaybackError) in
                do throws(RecordingFault) {
                    return try store.recordings(
                        RecordingQuery(
                            device: device, from: first - Self.slack, until: last + Self.slack, newestFirst: true,
                            limit: Self.limit))
                } catch {
                    throw .store(error)
                }
            }
            guard let found, !found.isEmpty else { continue }
            for index in indices { Self.link(&result[index], found) }
        }
        return result
    }

    /// The items with the pictures that were taken with them.
    private func withPictures(_ items: [HistoryRecord]) async -> [HistoryRecord] {
        guard let pictures else { return items }
        var result = items
        for index in items.indices where items[index].event == Google.CameraSnapshotTrait.SnapshotTakenEvent.name {
            let device = items[index].deviceID
            let picture = KeptPicture(milliseconds: Self.microseconds(items[index].timestamp) / 1_000)
            guard mayWatch(device), await pictures.isKept(picture, of: device) else { continue }
            result[index].thumbnail = "/v1/devices/\(device)/snapshots/\(picture.id)"
        }
        return result
    }

    private static func link(_ item: inout HistoryRecord, _ recordings: [RecordingSummary]) {
        let time = microseconds(item.timestamp)
        let isRecording = item.kind == .recording
        let match = recordings.filter { $0.until > $0.from }.min { Self.distance($0, time) < Self.distance($1, time) }
        // The history notes a recording when its trigger comes; the footage begins a little earlier or later.
        guard let match, Self.distance(match, time) <= (isRecording ? Self.slack : 0) else { return }
        let path = "/v1/devices/\(item.deviceID)/recordings"
        let moment = min(max(time, match.from), match.until - 1)
        item.recordingID = match.id.name
        // What was taken on purpose shows more than a frame of the recording.
        if item.thumbnail == nil { item.thumbnail = "\(path)/thumbnail.jpg?at=\(RecordingAnswer.time(moment))" }
        let end = item.endTimestamp.map(microseconds) ?? time
        let from = isRecording ? match.from : max(match.from, time - Self.margin.before)
        let until = isRecording ? match.until : min(match.until, end + Self.margin.after)
        item.clip =
            "\(path)/export.mp4?from=\(RecordingAnswer.time(from))"
            + "&until=\(RecordingAnswer.time(min(until, from + Self.longest)))"
    }

    /// How far a moment lies outside of a recording, in microseconds.
    private static func distance(_ recording: RecordingSummary, _ time: Int64) -> Int64 {
        max(0, recording.from - time, time - recording.until)
    }

    private static func microseconds(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1_000).rounded()) * 1_000
    }
}
