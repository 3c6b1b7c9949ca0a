import Foundation
import FragmentedMP4
import PushAvStreamTransport
import Transport

/// A recording, as the API shows it. Times are in UTC with milliseconds.
struct RecordingAnswer: Codable, Sendable, Equatable {
    struct Trigger: Codable, Sendable, Equatable {
        var kind: String
        var reason: String
        var events: [String]
        var at: String
    }

    var id: String
    var deviceID: String
    var start: String
    var end: String
    var durationSeconds: Double
    var trigger: Trigger
    var connectionID: Int
    var bytes: Int64
    var segments: Int
    var gaps: Int
    var isRunning: Bool
    var endReason: String?

    init(_ summary: RecordingSummary) {
        self.id = summary.id.name
        self.deviceID = summary.id.device
        self.start = Self.time(summary.from)
        self.end = Self.time(summary.until)
        self.durationSeconds = Double(summary.until - summary.from) / 1_000_000
        self.trigger = Trigger(
            kind: summary.trigger.kind.rawValue, reason: summary.trigger.reason, events: summary.trigger.events,
            at: WallTime(millisecondsSince1970: summary.triggeredAt).iso8601)
        self.connectionID = Int(summary.connection)
        self.bytes = summary.byteCount
        self.segments = summary.segmentCount
        self.gaps = summary.gapCount
        self.isRunning = summary.end == nil
        self.endReason = summary.end?.reason.rawValue
    }

    /// Microseconds since 1970 as text. They are rounded to milliseconds.
    static func time(_ microseconds: Int64) -> String {
        WallTime(millisecondsSince1970: (microseconds / 500 + 1) / 2).iso8601
    }
}

/// The response to `GET /v1/devices/{device}/recordings`.
struct RecordingList: Codable, Sendable, Equatable {
    var recordings: [RecordingAnswer]
    /// For the next page; absent on the last one.
    var next: String?
}

/// A track of a recording.
struct RecordingTrackAnswer: Codable, Sendable, Equatable {
    var name: String
    var kind: String
    var codec: String
    var timescale: Int
    var width: Int?
    var height: Int?
    /// Where its CMAF header is, relative to `/v1/devices/{device}/recordings/`.
    var initialization: String

    init(_ track: RecordingSession.Track, of id: RecordingSession.ID) {
        self.name = track.name
        self.kind = track.isVideo ? "video" : "audio"
        self.codec = track.codec
        self.timescale = track.timescale
        self.width = track.width
        self.height = track.height
        self.initialization = "\(id.name)/tracks/\(track.name)/init.mp4"
    }
}

/// A segment of a recording.
struct RecordingSegmentAnswer: Codable, Sendable, Equatable {
    var track: String
    var number: Int
    var start: String
    var durationSeconds: Double
    /// The time of its first sample in the recording, in ticks of the track.
    var decodeTime: Int64
    var bytes: Int64
    var isComplete: Bool
    /// Where it is, relative to `/v1/devices/{device}/recordings/`.
    var media: String

    init(_ segment: StoredSegment, of session: RecordingSession) {
        let track = session.tracks[segment.track]
        self.track = track.name
        self.number = Int(segment.number)
        self.start = RecordingAnswer.time(segment.wallTime)
        self.durationSeconds = Double(segment.duration) / Double(max(1, track.timescale))
        self.decodeTime = segment.decodeTime
        self.bytes = segment.byteCount
        self.isComplete = segment.isComplete
        self.media = "\(session.id.name)/tracks/\(track.name)/\(segment.number).m4s"
    }
}

/// The response to `GET /v1/devices/{device}/recordings/{recording}`.
struct RecordingDetails: Codable, Sendable, Equatable {
    struct Gap: Codable, Sendable, Equatable {
        var from: String
        var until: String
        var reason: String
    }

    var recording: RecordingAnswer
    var tracks: [RecordingTrackAnswer]
    var gaps: [Gap]

    init(_ stored: StoredRecording) {
        self.recording = RecordingAnswer(stored.summary)
        self.tracks = stored.session.tracks.map { RecordingTrackAnswer($0, of: stored.session.id) }
        self.gaps = stored.gaps.map {
            Gap(
                from: RecordingAnswer.time($0.from), until: RecordingAnswer.time($0.until), reason: $0.reason.rawValue)
        }
    }
}

/// The response to `GET /v1/devices/{device}/recordings/{recording}/segments`.
struct RecordingSegmentList: Codable, Sendable, Equatable {
    var segments: [RecordingSegmentAnswer]
}

/// The response to `GET /v1/devices/{device}/recordings/footage`: what a player needs to show a time.
struct RecordingFootage: Codable, Sendable, Equatable {
    struct Part: Codable, Sendable, Equatable {
        var recording: String
        /// What of the recording is shown.
        var start: String
        var end: String
        /// When the recording's time 0 was captured, in milliseconds since 1970.
        var originMilliseconds: Double
        var isRunning: Bool
        var tracks: [RecordingTrackAnswer]
        var segments: [RecordingSegmentAnswer]
    }

    var parts: [Part]

    init(_ footage: RecordedRange) {
        self.parts = footage.pieces.map { piece in
            let session = piece.recording.session
            return Part(
                recording: session.id.name, start: RecordingAnswer.time(piece.range.lowerBound),
                end: RecordingAnswer.time(piece.range.upperBound),
                originMilliseconds: Double(piece.origin) / 1_000, isRunning: piece.recording.end == nil,
                tracks: piece.tracks.map { RecordingTrackAnswer(session.tracks[$0], of: session.id) },
                segments: piece.segments.map { RecordingSegmentAnswer($0, of: session) })
        }
    }

    init() { parts = [] }
}

/// The response to `GET /v1/devices/{device}/recordings/days`.
struct RecordingDayList: Codable, Sendable, Equatable {
    struct Day: Codable, Sendable, Equatable {
        var date: String
        var recordings: Int
        var recordedSeconds: Double
    }

    var days: [Day]

    init(_ days: [RecordingDay]) {
        self.days = days.map { day in
            let text = WallTime(millisecondsSince1970: Int64(day.day) * 86_400_000).iso8601
            return Day(
                date: String(text.prefix(10)), recordings: day.recordings,
                recordedSeconds: Double(day.recorded) / 1_000_000)
        }
    }
}

/// The response to `POST /v1/devices/{device}/recordings/links`.
struct RecordingLinkAnswer: Codable, Sendable, Equatable {
    /// The path of the playlist, and of the export.
    var playlist: String
    var export: String
    var expires: String
    /// Where RTSP plays the same; nil where no program may read by RTSP.
    var rtsp: RTSP?

    /// An address of the RTSP server, without the host: a client knows by which one it reaches the gateway.
    struct RTSP: Codable, Sendable, Equatable {
        var port: Int
        var path: String
    }
}

/// The response to `DELETE /v1/devices/{device}/recordings`.
struct RecordingDeletion: Codable, Sendable, Equatable {
    var deleted: Int
    /// Recordings that are being made stay.
    var kept: Int
}
