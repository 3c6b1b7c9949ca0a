import Transport

extension RTSPClient {
    mutating func send(
        _ method: RTSPMethod, uri: String, headers: RTSPHeaders = [:], isKeepAlive: Bool = false, at now: Instant
    ) {
        let request = RTSPRequest(method: method.rawValue, uri: uri, headers: headers)
        transmit(
            PendingRequest(
                request: request, method: method, sequenceNumber: 0, deadline: now, isKeepAlive: isKeepAlive),
            at: now)
    }

    /// Sends a request, or the same request again with other credentials.
    mutating func transmit(_ pending: PendingRequest, at now: Instant) {
        var pending = pending
        pending.sequenceNumber = nextSequenceNumber
        pending.deadline = now + configuration.answerTimeout
        nextSequenceNumber += 1
        var headers: RTSPHeaders = [
            "CSeq": String(pending.sequenceNumber),
            "User-Agent": configuration.userAgent,
        ]
        if let session { headers["Session"] = session.identifier }
        pending.wasAuthorized = false
        if let value = authorization?.header(method: pending.method.rawValue, uri: pending.request.uri) {
            headers["Authorization"] = value
            pending.wasAuthorized = true
        }
        var request = pending.request
        request.headers = RTSPHeaders(headers.fields + request.headers.fields)
        output += request.encoded()
        self.pending = pending
    }

    mutating func sendSetUp(_ track: Int, uri: String, at now: Instant) {
        let transport = TransportHeader(rtpChannel: UInt8(track * 2))
        send(.setup, uri: uri, headers: ["Transport": transport.encoded], at: now)
    }

    mutating func sendPlay(withRange: Bool, at now: Instant) {
        phase = .play
        send(.play, uri: playURI, headers: withRange ? ["Range": "npt=0.000-"] : [:], at: now)
    }

    // MARK: Keep-alive

    mutating func scheduleKeepAlive(at now: Instant) {
        // Half of the session's time leaves room for one that is lost. Some cameras end the session earlier than they
        // say, so no more than 25 s.
        let timeout = session?.timeout ?? 60
        nextKeepAlive = keepAlive == .silent ? nil : now + .seconds(max(1, min(timeout / 2, 25)))
    }

    mutating func chooseKeepAlive(at now: Instant) {
        let advertised = supportedMethods.contains(.getParameter)
        keepAlive = configuration.keepAlive ?? (advertised ? .getParameter : .options)
        scheduleKeepAlive(at: now)
    }

    mutating func sendKeepAlive(at now: Instant) {
        if let method = keepAlive?.method { send(method, uri: playURI, isKeepAlive: true, at: now) }
        scheduleKeepAlive(at: now)
    }

    /// The camera does not take this kind of keep-alive: the next one is another.
    mutating func refuseKeepAlive() {
        guard let refused = keepAlive else { return }
        refusedKeepAlives.insert(refused)
        keepAlive = RTSPKeepAlive.ladder.first { !refusedKeepAlives.contains($0) } ?? .silent
        if keepAlive == .silent { nextKeepAlive = nil }
    }
}

/// How the client shows a camera that somebody still watches.
public enum RTSPKeepAlive: Sendable, Hashable {
    /// GET_PARAMETER without a body, as RFC 2326, section 10.8, suggests.
    case getParameter
    /// SET_PARAMETER without a body.
    case setParameter
    /// OPTIONS, which every server knows and some do not count.
    case options
    /// No request at all: receiver reports alone.
    case silent

    /// The kinds in the order in which they are tried.
    public static let ladder: [RTSPKeepAlive] = [.getParameter, .options, .setParameter, .silent]

    /// The kind that comes after this one, round and round: for a camera that ended the session in spite of it.
    public var next: RTSPKeepAlive {
        let index = Self.ladder.firstIndex(of: self) ?? 0
        return Self.ladder[(index + 1) % Self.ladder.count]
    }

    var method: RTSPMethod? {
        switch self {
        case .getParameter: .getParameter
        case .setParameter: .setParameter
        case .options: .options
        case .silent: nil
        }
    }
}
