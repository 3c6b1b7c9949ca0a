import RTSP
import Signalling
import Transport

/// What one connection publishes, from the announcement to the end. It lives on the server's thread.
final class Publisher {
    /// Distinguishes it from another one of the same connection.
    let number: UInt64
    /// The camera.
    let device: String
    /// The path by which the client has named the camera.
    let path: String
    let stream: AnnouncedStream
    /// The source of the gateway's reports.
    let ssrc: UInt32
    /// The tracks that are used and set up, in the order of the publication. Empty until the client wants to send.
    var tracks: [PublisherTrack] = []
    /// Whether the client waits for its beginning.
    var isStarting = false
    /// When it may begin, if another one has just taken the camera over.
    var startDue: Instant?
    /// What takes the packets; nil until the client may send.
    private(set) var started: StartedPublication?
    var nextReport = Instant.distantFuture

    init(number: UInt64, device: String, path: String, stream: AnnouncedStream, ssrc: UInt32) {
        self.number = number
        self.device = device
        self.path = path
        self.stream = stream
        self.ssrc = ssrc
    }

    func begin(_ started: StartedPublication, nextReport: Instant, at now: Instant) {
        isStarting = false
        for track in tracks { track.begin(at: now) }
        self.started = started
        self.nextReport = nextReport
    }

    /// Whether any track comes in datagrams.
    var usesDatagrams: Bool {
        tracks.contains { if case .datagrams = $0.transport { true } else { false } }
    }

    /// When something is due.
    var nextDeadline: Instant {
        var deadline = min(nextReport, startDue ?? .distantFuture)
        for track in tracks {
            deadline = min(deadline, track.nextDeadline ?? .distantFuture, track.silenceDeadline ?? .distantFuture)
        }
        return deadline
    }
}
