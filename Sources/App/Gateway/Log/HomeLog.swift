import DatagramPort
import HomeHub
import HomeTypes
import Logging
import Signalling
import Stations
import Transport

/// The lines that an administrator reads: what happens to cameras, views, publishers and talks. docs/logging.md
/// describes each.
final class HomeLog: Sendable {
    private struct Camera {
        var source = CameraLog()
        var events = CameraLog()
    }

    private struct Life {
        var principal: String
        var since: Instant
        var isConnected = false
    }

    private let logger: Logger
    private let now: @Sendable () -> Instant
    private let cameras = Locked<[String: Camera]>([:])
    /// By session. Each entry is removed when its session ends.
    private let lives = Locked<[String: Life]>([:])

    init(logger: Logger, now: @escaping @Sendable () -> Instant = { MonotonicClock.now }) {
        self.logger = logger
        self.now = now
    }

    // MARK: Cameras

    /// A camera has reported something, or has been removed (nil).
    func record(_ update: CameraUpdate?, of camera: String) {
        let now = self.now()
        switch update {
        case nil: cameras.withLock { $0[camera] = nil }
        case .source(let status):
            let lines = cameras.withLock {
                $0[camera, default: Camera()].source.record(CameraLog.Condition(status), at: now)
            }
            for line in lines { write(line, of: camera, words: Self.sourceWords) }
        case .eventSource(let status):
            let lines = cameras.withLock {
                $0[camera, default: Camera()].events.record(CameraLog.Condition(status), at: now)
            }
            for line in lines { write(line, of: camera, words: Self.eventWords) }
        case .doorbellPressed, .detection, .attributes, .settings, .endpoints, .report, .connectivity,
            .traitConnectivity, .together, .event:
            break
        }
    }

    private typealias Words = (CameraLog.Line.Kind) -> (Logger.Level, String)

    private static func sourceWords(_ kind: CameraLog.Line.Kind) -> (Logger.Level, String) {
        switch kind {
        case .up: (.info, "camera is up")
        case .down: (.warning, "camera is down")
        case .stillDown: (.warning, "camera is still down")
        case .givenUp: (.warning, "camera is down and is tried only occasionally")
        case .back: (.notice, "camera is up again")
        case .unstable: (.warning, "camera comes and goes; further short outages are counted")
        }
    }

    private static func eventWords(_ kind: CameraLog.Line.Kind) -> (Logger.Level, String) {
        switch kind {
        case .up: (.info, "camera sends events")
        case .down: (.warning, "camera sends no events")
        case .stillDown, .givenUp: (.warning, "camera still sends no events")
        case .back: (.notice, "camera sends events again")
        case .unstable: (.warning, "camera's events come and go; further short outages are counted")
        }
    }

    private func write(_ line: CameraLog.Line, of camera: String, words: Words) {
        let (level, message) = words(line.kind)
        var metadata: Logger.Metadata = ["camera": "\(camera)"]
        if let reason = line.reason { metadata["reason"] = "\(reason)" }
        if let tracks = line.tracks, !tracks.isEmpty { metadata["tracks"] = "\(tracks)" }
        if let outages = line.outages { metadata["outages"] = "\(outages)" }
        if let duration = line.duration?.inWords {
            switch line.kind {
            case .down: metadata["wasUpFor"] = "\(duration)"
            case .givenUp, .stillDown, .back: metadata["downFor"] = "\(duration)"
            case .unstable: metadata["within"] = "\(duration)"
            case .up: break
            }
        }
        logger.log(level: level, "\(message)", metadata: metadata)
    }

    // MARK: Sessions

    /// A view, a publisher or a talk has begun or ended.
    func record(_ change: LiveViewChange) {
        let now = self.now()
        switch change {
        case .started(let session, let device, let principal):
            begin(session, principal, at: now)
            logger.info("view started", metadata: who(session, device, principal))
        case .connected(let session, let device):
            let since = lives.withLock { lives -> Instant? in
                lives[session]?.isConnected = true
                return lives[session]?.since
            }
            logger.debug(
                "view connected",
                metadata: who(session, device, nil, ["after": "\(since.map { now - $0 }?.inWords ?? "unknown")"]))
        case .ended(let session, let device, let end):
            let life = self.lives.withLock { $0.removeValue(forKey: session) }
            let message = life?.isConnected == false ? "view ended before it was connected" : "view ended"
            self.end(message, life, session, device, end.words, at: now)
        case .publisherStarted(let session, let device, let principal, let protocolName):
            begin(session, principal, at: now)
            logger.info(
                "publisher started", metadata: who(session, device, principal, ["protocol": "\(protocolName)"]))
        case .publisherEnded(let session, let device, let end):
            let life = self.lives.withLock { $0.removeValue(forKey: session) }
            self.end("publisher ended", life, session, device, end.words, at: now)
        case .talkStarted(let talk, let device, let principal):
            begin(talk, principal, at: now)
            logger.info("talk started", metadata: who(talk, device, principal))
        case .talkEnded(let talk, let device, let end):
            let life = self.lives.withLock { $0.removeValue(forKey: talk) }
            self.end("talk ended", life, talk, device, end.words, at: now)
        case .pictures(let device, let damage?):
            logger.warning(
                "video is damaged: no picture can be made of it",
                metadata: ["camera": "\(device)", "reason": "\(damage.words)"])
        case .pictures(let device, nil):
            logger.notice("pictures can be made again", metadata: ["camera": "\(device)"])
        }
    }

    private func begin(_ session: String, _ principal: String, at now: Instant) {
        lives.withLock { $0[session] = Life(principal: principal, since: now) }
    }

    private func end(
        _ message: String, _ life: Life?, _ session: String, _ device: String, _ reason: String, at now: Instant
    ) {
        var more: Logger.Metadata = ["reason": "\(reason)"]
        if let life { more["lasted"] = "\((now - life.since).inWords)" }
        logger.info("\(message)", metadata: who(session, device, life?.principal, more))
    }

    /// The session's identifier is a capability, so only a part of it is logged.
    private func who(
        _ session: String, _ device: String, _ principal: String?, _ more: Logger.Metadata = [:]
    ) -> Logger.Metadata {
        var metadata = more
        metadata["camera"] = "\(device)"
        metadata["session"] = "\(SessionIdentifier.brief(session))"
        if let principal { metadata["by"] = "\(principal)" }
        return metadata
    }
}

extension Duration {
    /// As people say it, in the two largest units: `340 ms`, `42 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
    var inWords: String {
        let (seconds, attoseconds) = components
        guard seconds > 0 else { return "\(max(0, attoseconds / 1_000_000_000_000_000)) ms" }
        func pair(_ large: Int64, _ name: String, _ small: Int64, _ smallName: String) -> String {
            small == 0 ? "\(large) \(name)" : "\(large) \(name) \(small) \(smallName)"
        }
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: pair(seconds / 60, "min", seconds % 60, "s")
        case ..<86_400: pair(seconds / 3600, "h", seconds % 3600 / 60, "min")
        default: pair(seconds / 86_400, "d", seconds % 86_400 / 3600, "h")
        }
    }
}
