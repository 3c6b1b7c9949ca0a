public import Transport

/// Publishing: ANNOUNCE, SETUP with `mode=record`, and RECORD (RFC 2326, sections 10.3, 10.4 and 10.11). RFC 7826 has
/// removed them, and programs still publish that way.
extension RTSPServerSession {
    /// What a client has announced.
    struct Announcement: Equatable {
        /// The path of the device.
        var path: String
        /// How the requests name each `m=` line, below the path; nil where nothing names it.
        var controls: [String?]
        var since: Instant
        /// Whether the client has begun to send.
        var hasRecorded = false
    }

    /// The driver's answer to ``RTSPServerEvent/announce(_:description:)``.
    public enum Announced: Sendable {
        /// The client may set its tracks up. Holds the control attribute of each `m=` line.
        case accepted(controls: [String?])
        /// It may not; the words say what would help.
        case refused(RTSPStatus, words: String)
    }

    /// The driver's answer to ``RTSPServerEvent/record``.
    public enum Recorded: Sendable {
        /// The client may send.
        case started
        /// It may not; the words say what would help.
        case refused(RTSPStatus, words: String)
    }

    mutating func announce(_ request: RTSPRequest, at now: Instant) -> RTSPServerEvent? {
        // A session plays or publishes, and does so to its end: what it publishes cannot be changed.
        guard identifier == nil else {
            respond(.methodNotValidInThisState, to: request, at: now)
            return nil
        }
        let type = (request.headers["Content-Type"] ?? "").cut(at: ";").head.trimmedASCII.lowercased()
        guard type == "application/sdp" else {
            respond(
                .unsupportedMediaType, to: request, reason: "only an application/sdp can be announced", at: now)
            return nil
        }
        let resource = RTSPResource(parsing: request.uri)
        guard resource.track == nil, !resource.path.isEmpty else {
            respond(.notFound, to: request, reason: "announce to the address of a camera", at: now)
            return nil
        }
        pending = .announce(request, resource)
        return .announce(resource, description: String(decoding: request.body, as: UTF8.self))
    }

    /// Answers a request that waits for the verdict on its description; does nothing where no request waits.
    public mutating func answerAnnounce(_ answer: Announced, at now: Instant) {
        guard case .announce(let request, let resource) = pending else { return }
        pending = nil
        switch answer {
        case .accepted(let controls):
            announcement = Announcement(
                path: resource.path,
                controls: controls.prefix(Self.maximumTracks).map {
                    AnnouncedPart.name(ofControl: $0, below: resource.path)
                }, since: now)
            respond(.ok, to: request, at: now)
        case .refused(let status, let words):
            let methods = methods
            respond(status, to: request, reason: words, at: now) { headers in
                // RFC 2326, section 7.1.1: this status says what else is served.
                if status == .methodNotAllowed { headers["Allow"] = methods }
            }
        }
    }

    /// Answers a request that the token in its address does not permit; does nothing where no such request waits. The
    /// words say what would help.
    public mutating func answerForbidden(words: String, at now: Instant) {
        guard case .forbidden(let request) = pending else { return }
        pending = nil
        respond(.forbidden, to: request, reason: words, at: now)
    }

    /// Agrees on the transport of an announced track.
    mutating func setUp(
        _ request: RTSPRequest, of announcement: Announcement, at now: Instant
    ) -> RTSPServerEvent? {
        let track: Int
        switch AnnouncedPart(request.uri, of: announcement) {
        case .track(let index): track = index
        // In a presentation with one track, both have the same URI (RFC 2326, appendix C.3).
        case .presentation where announcement.controls.count == 1: track = 0
        case .presentation:
            respond(.aggregateOperationNotAllowed, to: request, at: now)
            return nil
        case nil:
            respond(.notFound, to: request, reason: "no such track was announced", at: now)
            return nil
        }
        // A publisher that names no mode can only mean this one.
        let offers = self.offers(request)
        guard let offer = offers.first(where: { $0.mode != .play }) else {
            respond(offers.isEmpty ? .unsupportedTransport : .methodNotValidInThisState, to: request, at: now)
            return nil
        }
        accept(request, path: announcement.path, track: track, offer: offer, ending: ";mode=record", at: now)
        return nil
    }

    mutating func record(_ request: RTSPRequest, at now: Instant) -> RTSPServerEvent? {
        guard isOwnSession(request) else {
            respond(.sessionNotFound, to: request, at: now)
            return nil
        }
        guard let announcement else {
            respond(.methodNotValidInThisState, to: request, at: now)
            return nil
        }
        guard aims(request, at: announcement, at: now) else { return nil }
        guard state != .recording else {
            respond(.ok, to: request, at: now)
            return nil
        }
        pending = .record(request)
        return .record
    }

    /// Answers a request that waits for its beginning; does nothing where no request waits. What the client sends from now
    /// on is received.
    public mutating func answerRecord(_ answer: Recorded, at now: Instant) {
        guard case .record(let request) = pending else { return }
        pending = nil
        switch answer {
        case .started:
            state = .recording
            announcement?.hasRecorded = true
            lastLife = now
            respond(.ok, to: request, at: now)
        case .refused(let status, let words):
            respond(status, to: request, reason: words, at: now)
        }
    }

    /// Whether a request is about all of what was announced. Otherwise it is answered.
    mutating func aims(_ request: RTSPRequest, at announcement: Announcement, at now: Instant) -> Bool {
        switch AnnouncedPart(request.uri, of: announcement) {
        case .presentation: return true
        case .track where tracks.count == 1: return true
        case .track:
            respond(.onlyAggregateOperationAllowed, to: request, at: now)
            return false
        case nil:
            respond(.notFound, to: request, at: now)
            return false
        }
    }

    /// Sends a packet to the client on a channel of the connection, unless it does not read what it was sent before.
    public mutating func send(_ packet: UnsafeRawBufferPointer, onChannel channel: UInt8) {
        guard packet.count <= Int(UInt16.max), output.count + 4 + packet.count <= Self.maximumOutput else { return }
        output += [
            UInt8(ascii: "$"), channel, UInt8(truncatingIfNeeded: packet.count >> 8),
            UInt8(truncatingIfNeeded: packet.count),
        ]
        output.append(contentsOf: packet)
    }
}

/// What a publisher's request names: all of what was announced, or one of its tracks.
enum AnnouncedPart: Equatable {
    case presentation
    case track(Int)

    /// Reads a URI; nil if it names neither. Publishers append the control attribute to the path (GStreamer), or to the whole
    /// address with its query (ffmpeg).
    init?(_ uri: String, of announcement: RTSPServerSession.Announcement) {
        let (path, query) = Self.path(of: uri).cut(at: "?")
        let name: String
        if let slash = query?.firstIndex(of: "/"), let query {
            guard Self.parts(path) == announcement.path else { return nil }
            name = Self.parts(String(query[slash...]))
        } else {
            guard let rest = Self.rest(of: path, below: announcement.path) else { return nil }
            name = rest
        }
        if name.isEmpty {
            self = .presentation
        } else if let index = announcement.controls.firstIndex(of: name) {
            self = .track(index)
        } else {
            return nil
        }
    }

    /// A control attribute as the name of a track below a path: empty for all of what was announced, and nil where it names
    /// nothing there. An absolute address counts by its path.
    static func name(ofControl control: String?, below path: String) -> String? {
        guard let control, control.utf8.count <= 1024 else { return nil }
        if control == "*" { return "" }
        let text = Self.path(of: control).cut(at: "?").head
        let isAbsolute = text.hasPrefix("/") || text != control.cut(at: "?").head
        return isAbsolute ? rest(of: text, below: path) : parts(text)
    }

    /// What follows a path in a longer one; empty for the path itself, and nil for another one.
    private static func rest(of text: String, below path: String) -> String? {
        let parts = Self.parts(text)
        if parts == path { return "" }
        guard parts.hasPrefix(path + "/") else { return nil }
        return String(parts.dropFirst(path.count + 1))
    }

    /// What follows the host in an address.
    private static func path(of uri: String) -> String {
        let text = Substring(uri)
        guard let scheme = text.range(ofASCII: "://") else { return uri }
        let rest = text[scheme.upperBound...]
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? ""
    }

    /// A path without slashes at either end, percent escapes resolved.
    private static func parts(_ path: String) -> String {
        path.split(separator: "/").map { String($0).removingPercentEncoding }.joined(separator: "/")
    }
}
