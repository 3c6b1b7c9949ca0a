public import Transport

extension RTSPServerSession {
    /// The driver's answer to ``RTSPServerEvent/describe(_:)``.
    public enum Description: Sendable {
        /// What the resource offers, as a session description.
        case found(String)
        /// The resource does not exist.
        case notFound
        /// The resource exists, but it sends nothing now.
        case unavailable
        /// The resource exists, and nobody may have it now.
        case refused
    }

    /// The driver's answer to ``RTSPServerEvent/setUp(path:track:)``.
    public enum SetUp: Sendable {
        /// The track will be sent from this source.
        case accepted(ssrc: UInt32)
        /// The track does not exist.
        case notFound
        /// The camera sends nothing now.
        case unavailable
        /// Nobody may have the camera now.
        case refused
        /// The number of readers has reached its limit.
        case tooManyReaders
    }

    /// Where a track begins.
    public struct Beginning: Equatable, Sendable {
        /// The track's number.
        public var track: Int
        /// The sequence number of its first packet.
        public var sequenceNumber: UInt16
        /// The RTP timestamp of the moment at which all tracks begin; nil where it is not known yet.
        public var rtpTimestamp: UInt32?

        /// Describes a beginning.
        public init(track: Int, sequenceNumber: UInt16, rtpTimestamp: UInt32?) {
            self.track = track
            self.sequenceNumber = sequenceNumber
            self.rtpTimestamp = rtpTimestamp
        }
    }

    /// Answers a request that waits for a description; does nothing where no request waits.
    public mutating func answerDescribe(_ description: Description, at now: Instant) {
        guard case .describe(let request) = pending else { return }
        pending = nil
        switch description {
        case .found(let text):
            let base = Self.contentBase(request.uri)
            respond(.ok, to: request, body: Array(text.utf8), at: now) { headers in
                headers["Content-Type"] = "application/sdp"
                headers["Content-Base"] = base
            }
        case .notFound: respond(.notFound, to: request, at: now)
        case .unavailable: respondUnavailable(to: request, at: now)
        // Other credentials would not help (RFC 2326, section 11.3; RFC 9110, section 15.5.4).
        case .refused: respond(.forbidden, to: request, at: now)
        }
    }

    /// Answers a request that waits for a track; does nothing where no request waits.
    public mutating func answerSetUp(_ answer: SetUp, at now: Instant) {
        guard case .setUp(let request, let resource, let offer) = pending else { return }
        pending = nil
        switch answer {
        case .accepted(let ssrc): accept(request, resource: resource, offer: offer, ssrc: ssrc, at: now)
        case .notFound: respond(.notFound, to: request, at: now)
        case .unavailable: respondUnavailable(to: request, at: now)
        case .refused: respond(.forbidden, to: request, at: now)
        case .tooManyReaders: respond(.notEnoughBandwidth, to: request, at: now)
        }
    }

    private mutating func respondUnavailable(to request: RTSPRequest, at now: Instant) {
        respond(.serviceUnavailable, to: request, at: now) { $0["Retry-After"] = "5" }
    }

    private mutating func accept(
        _ request: RTSPRequest, resource: RTSPResource, offer: TransportOffer, ssrc: UInt32, at now: Instant
    ) {
        accept(
            request, path: resource.path, track: resource.track ?? 0, offer: offer,
            ending: ";ssrc=\(String(hexadecimal(UInt64(ssrc)).suffix(8)).uppercased());mode=\"PLAY\"", at: now)
    }

    /// Agrees on the transport of a track.
    /// - Parameter ending: how the transport ends in the answer.
    mutating func accept(
        _ request: RTSPRequest, path: String, track index: Int, offer: TransportOffer, ending: String, at now: Instant
    ) {
        let others = tracks.filter { $0.index != index }
        guard others.count < Self.maximumTracks else {
            respond(.notEnoughBandwidth, to: request, at: now)
            return
        }
        let transport: RTSPTransport
        let text: String
        switch offer.lower {
        case .interleaved(let rtp, let rtcp):
            let (first, second) = Self.channels(rtp, rtcp, besides: others)
            transport = .interleaved(rtp: first, rtcp: second)
            text = "\(offer.specification);unicast;interleaved=\(first)-\(second)\(ending)"
        case .datagrams(let rtp, let rtcp):
            guard let ports = configuration.serverPorts else {
                respond(.unsupportedTransport, to: request, at: now)
                return
            }
            transport = .datagrams(rtp: rtp, rtcp: rtcp)
            text =
                "\(offer.specification);unicast;client_port=\(rtp)-\(rtcp);server_port=\(ports.rtp)-\(ports.rtcp)"
                + ending
        }
        if identifier == nil {
            identifier = hexadecimal(random.next())
            self.path = path
        }
        tracks = others + [Track(index: index, transport: transport, uri: request.uri)]
        state = .ready
        respond(.ok, to: request, at: now) { $0["Transport"] = text }
    }

    /// The client's channels, or free ones where it names none or another track uses them.
    private static func channels(_ rtp: UInt8?, _ rtcp: UInt8?, besides tracks: [Track]) -> (UInt8, UInt8) {
        var taken: Set<UInt8> = []
        for track in tracks {
            if case .interleaved(let rtp, let rtcp) = track.transport { taken.formUnion([rtp, rtcp]) }
        }
        if let rtp, let rtcp, taken.isDisjoint(with: [rtp, rtcp]) { return (rtp, rtcp) }
        // At most eight tracks take 16 of the 128 pairs.
        let free = stride(from: UInt8(0), to: 254, by: 2).first { taken.isDisjoint(with: [$0, $0 + 1]) } ?? 0
        return (free, free + 1)
    }

    /// Answers a request that waits for the beginnings of the tracks; does nothing where no request waits. Packets that
    /// are sent from now on follow the answer.
    /// - Parameters:
    ///   - range: what is played (RFC 2326, section 12.29); without one it is live.
    ///   - scale: how fast it is played, where that was asked for (section 12.34).
    public mutating func answerPlay(
        _ beginnings: [Beginning], range: RTSPRange = .npt(from: nil, until: nil), scale: Double? = nil,
        at now: Instant
    ) {
        guard case .play(let request) = pending else { return }
        pending = nil
        state = .playing
        let entries = tracks.compactMap { track -> String? in
            guard let beginning = beginnings.first(where: { $0.track == track.index }) else { return nil }
            let time = beginning.rtpTimestamp.map { ";rtptime=\($0)" } ?? ""
            return "url=\(track.uri);seq=\(beginning.sequenceNumber)\(time)"
        }
        respond(.ok, to: request, at: now) { headers in
            headers["Range"] = range.text
            if let scale { headers["Scale"] = "\(scale)" }
            if !entries.isEmpty { headers["RTP-Info"] = entries.joined(separator: ",") }
        }
    }

    /// Refuses a request that waits for the beginnings of the tracks; does nothing where no request waits.
    public mutating func refusePlay(_ status: RTSPStatus, at now: Instant) {
        guard case .play(let request) = pending else { return }
        pending = nil
        respond(status, to: request, at: now)
    }

    /// Everything that was asked for has been played. The client may play something else.
    public mutating func finishPlaying() {
        if state == .playing { state = .ready }
    }

    /// The URI of the request that waits for an answer of the driver, with its query; empty where none waits.
    public var pendingURI: String {
        pendingRequest?.uri ?? ""
    }

    /// A header of the request that waits for an answer of the driver.
    public func pendingHeader(_ name: String) -> String? {
        pendingRequest?.headers[name]
    }

    /// Whether the request that waits for an answer of the driver requires a feature.
    public func pendingRequires(_ feature: String) -> Bool {
        pendingRequest.map { Self.requiredFeatures($0).contains(feature) } ?? false
    }

    private var pendingRequest: RTSPRequest? {
        switch pending {
        case .describe(let request), .setUp(let request, _, _), .play(let request), .announce(let request, _),
            .record(let request), .forbidden(let request):
            request
        case nil: nil
        }
    }

    /// The base of control attributes: the request's URI without its query, with a slash at its end.
    static func contentBase(_ uri: String) -> String {
        let base = uri.cut(at: "?").head
        return base.hasSuffix("/") ? base : base + "/"
    }

    /// Writes an answer. The answer to a request that could not be read repeats no number.
    /// - Parameter reason: says more than the status, as RFC 2326, section 7.1.1, permits. Programs show it to their users.
    mutating func respond(
        _ status: RTSPStatus, to request: RTSPRequest?, reason: String? = nil, body: [UInt8] = [], at now: Instant,
        adding add: (inout RTSPHeaders) -> Void = { _ in }
    ) {
        var headers = RTSPHeaders()
        if let sequence = request?.headers["CSeq"] {
            headers["CSeq"] = sequence
        }
        headers.fields.append(.init(name: "Server", value: configuration.serverName))
        if let identifier, request != nil, status == .ok {
            headers.fields.append(
                .init(name: "Session", value: "\(identifier);timeout=\(configuration.sessionTimeout)"))
        }
        add(&headers)
        if isClosing { headers["Connection"] = "close" }
        output += RTSPResponse(
            status: status.rawValue, reason: reason.map(Self.line) ?? status.reason, headers: headers, body: body
        ).encoded()
    }

    /// A text as a part of the first line: without line ends, and bounded.
    private static func line(_ text: String) -> String {
        String(decoding: text.utf8.prefix(512).map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
    }
}
