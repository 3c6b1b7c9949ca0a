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

    /// Asks for the description, with or without the required feature.
    mutating func sendDescribe(withRequire: Bool, at now: Instant) {
        phase = .describe
        var headers: RTSPHeaders = ["Accept": "application/sdp"]
        if withRequire { headers["Require"] = configuration.require }
        send(.describe, uri: url.requestURI, headers: headers, at: now)
    }

    /// `headers` with the required feature, where the feature is used and not only looked for.
    private func requiring(_ headers: RTSPHeaders) -> RTSPHeaders {
        guard let require = configuration.require, !configuration.requiresOnlyDescription else { return headers }
        var headers = headers
        headers["Require"] = require
        return headers
    }

    /// Sends a request, or the same request again with other credentials.
    mutating func transmit(_ pending: PendingRequest, at now: Instant) {
        var pending = pending
        pending.sequenceNumber = nextSequenceNumber
        let looksForFeature =
            configuration.requiresOnlyDescription && pending.request.headers["Require"] != nil
        let patience = configuration.answerTimeout
        pending.deadline = now + (looksForFeature ? min(patience, configuration.featureTimeout) : patience)
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
        let transport =
            clientPorts.indices.contains(track)
            ? TransportHeader(clientPort: clientPorts[track]) : TransportHeader(rtpChannel: channel(of: track))
        send(.setup, uri: uri, headers: requiring(["Transport": transport.encoded]), at: now)
    }

    mutating func sendPlay(withRange: Bool, at now: Instant) {
        phase = .play
        send(.play, uri: playURI, headers: requiring(withRange ? ["Range": playRange] : [:]), at: now)
    }

    // MARK: Keep-alive

    mutating func scheduleKeepAlive(at now: Instant) {
        // Half of the session's timeout leaves room for one that is lost. Some cameras end the session earlier than
        // they say, so it is never more than 25 s.
        let timeout = session?.timeout ?? 60
        nextKeepAlive = keepAlive?.method == nil ? nil : now + .seconds(max(1, min(timeout / 2, 25)))
    }

    mutating func chooseKeepAlive(at now: Instant) {
        keepAlive =
            configuration.keepAlive
            ?? RTSPKeepAlive.first(for: supportedMethods, avoiding: configuration.avoidedKeepAlives)
        scheduleKeepAlive(at: now)
    }

    mutating func sendKeepAlive(at now: Instant) {
        if let method = keepAlive?.method {
            lastKeepAlive = now
            send(method, uri: playURI, isKeepAlive: true, at: now)
        }
        scheduleKeepAlive(at: now)
    }

    /// The camera does not accept this kind of keep-alive. The next one is of another kind, unless the config names
    /// this one.
    mutating func refuseKeepAlive() {
        guard let refused = keepAlive, !configuration.isKeepAlivePinned else { return }
        refusedKeepAlives.insert(refused)
        let excluded = refusedKeepAlives.union(configuration.avoidedKeepAlives)
        keepAlive = RTSPKeepAlive.ladder.first { !excluded.contains($0) } ?? .receiverReports
        if keepAlive?.method == nil { nextKeepAlive = nil }
    }
}
