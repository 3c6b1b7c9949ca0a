import Transport

extension RTSPServerSession {
    /// The methods that are served.
    var methods: String {
        "OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, TEARDOWN, GET_PARAMETER, SET_PARAMETER"
            + (configuration.takesPublishers ? ", ANNOUNCE, RECORD" : "")
    }

    /// Answers a request, or asks the driver for what the answer needs.
    mutating func handle(_ request: RTSPRequest, at now: Instant) -> RTSPServerEvent? {
        guard let sequence = request.headers["CSeq"], Self.isNumber(sequence), request.uri.isSafeInRequestLine else {
            respond(.badRequest, to: request, at: now)
            return nil
        }
        if let agent = request.headers["User-Agent"] { userAgent = String(agent.prefix(128)) }
        if request.headers.all("Connection").contains(where: { $0.lowercased() == "close" }) { isClosing = true }
        guard let method = RTSPMethod(rawValue: request.method) else {
            respond(.notImplemented, to: request, at: now)
            return nil
        }
        if let features = unsupportedFeatures(request) {
            respond(.optionNotSupported, to: request, at: now) { $0["Unsupported"] = features }
            return nil
        }
        guard let event = authorize(request, method: method, at: now) else {
            lastLife = now
            return dispatch(request, method: method, at: now)
        }
        return event.event
    }

    private static func isNumber(_ text: String) -> Bool {
        (1...10).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }

    static func requiredFeatures(_ request: RTSPRequest) -> [String] {
        (request.headers.all("Require") + request.headers.all("Proxy-Require"))
            .flatMap { $0.split(separator: ",").map(\.trimmedASCII) }.filter { !$0.isEmpty }
    }

    /// The features that the client requires and the server does not support, such as ONVIF's back channel.
    private func unsupportedFeatures(_ request: RTSPRequest) -> String? {
        let isFootage = configuration.footagePrefix.map(RTSPResource(parsing: request.uri).path.hasPrefix) ?? false
        let features = Self.requiredFeatures(request).filter { $0 != RTSPFeature.replay || !isFootage }
        return features.isEmpty ? nil : features.prefix(8).joined(separator: ", ")
    }

    private mutating func dispatch(
        _ request: RTSPRequest, method: RTSPMethod, at now: Instant
    ) -> RTSPServerEvent? {
        if [.setup, .play].contains(method), Self.requiredFeatures(request).contains(RTSPFeature.replay) {
            requiresReplay = true
        }
        switch method {
        case .options:
            let methods = methods
            respond(.ok, to: request, at: now) { $0["Public"] = methods }
            return nil
        case .describe:
            return describe(request, at: now)
        case .setup:
            return setUp(request, at: now)
        case .play, .pause, .teardown:
            guard isOwnSession(request) else {
                respond(.sessionNotFound, to: request, at: now)
                return nil
            }
            return control(request, method: method, at: now)
        case .getParameter, .setParameter:
            guard request.headers["Session"] == nil || isOwnSession(request) else {
                respond(.sessionNotFound, to: request, at: now)
                return nil
            }
            // Without names the request asks for nothing and only keeps the session alive (RFC 2326, section 10.8).
            respond(request.body.isEmpty ? .ok : .parameterNotUnderstood, to: request, at: now)
            return nil
        case .announce where configuration.takesPublishers:
            return announce(request, at: now)
        case .record where configuration.takesPublishers:
            return record(request, at: now)
        case .announce, .record, .redirect:
            let methods = methods
            respond(.methodNotAllowed, to: request, at: now) { $0["Allow"] = methods }
            return nil
        }
    }

    /// Whether the request names the session of this connection.
    func isOwnSession(_ request: RTSPRequest) -> Bool {
        guard let identifier, let named = request.headers["Session"] else { return false }
        return SessionHeader(parsing: named)?.identifier == identifier
    }

    private mutating func describe(_ request: RTSPRequest, at now: Instant) -> RTSPServerEvent? {
        let accepted = request.headers.all("Accept").joined(separator: ",").lowercased()
        guard accepted.isEmpty || accepted.contains("application/sdp") || accepted.contains("*/*") else {
            respond(.notAcceptable, to: request, at: now)
            return nil
        }
        let resource = RTSPResource(parsing: request.uri)
        guard resource.track == nil else {
            respond(.notFound, to: request, at: now)
            return nil
        }
        pending = .describe(request)
        return .describe(resource)
    }

    private mutating func setUp(_ request: RTSPRequest, at now: Instant) -> RTSPServerEvent? {
        if request.headers["Session"] != nil, !isOwnSession(request) {
            respond(.sessionNotFound, to: request, at: now)
            return nil
        }
        guard state != .playing, state != .recording else {
            respond(.methodNotValidInThisState, to: request, at: now)
            return nil
        }
        if let announcement {
            // In a pause, the tracks and where their packets come from stay as they were.
            guard !announcement.hasRecorded else {
                respond(.methodNotValidInThisState, to: request, at: now)
                return nil
            }
            return setUp(request, of: announcement, at: now)
        }
        let resource = RTSPResource(parsing: request.uri)
        guard identifier == nil || resource.path == path else {
            respond(.aggregateOperationNotAllowed, to: request, at: now)
            return nil
        }
        let offers = self.offers(request)
        guard let offer = offers.first(where: { $0.mode != .record }) else {
            // Without an announcement nothing can be recorded.
            let isRecording = configuration.takesPublishers && !offers.isEmpty
            respond(isRecording ? .methodNotValidInThisState : .unsupportedTransport, to: request, at: now)
            return nil
        }
        pending = .setUp(request, resource: resource, offer: offer)
        // In a presentation with one track, both have the same URI (RFC 2326, appendix C.3).
        return .setUp(path: resource.path, track: resource.track ?? 0)
    }

    /// The transports of a request that can be used.
    func offers(_ request: RTSPRequest) -> [TransportOffer] {
        request.headers.all("Transport").flatMap(TransportOffer.list).filter { offer in
            if case .datagrams = offer.lower { return configuration.serverPorts != nil }
            return true
        }
    }

    private mutating func control(
        _ request: RTSPRequest, method: RTSPMethod, at now: Instant
    ) -> RTSPServerEvent? {
        if let announcement {
            guard aims(request, at: announcement, at: now) else { return nil }
        } else {
            let resource = RTSPResource(parsing: request.uri)
            guard resource.path == path else {
                respond(.notFound, to: request, at: now)
                return nil
            }
            guard resource.track == nil || tracks.count == 1 else {
                respond(.onlyAggregateOperationAllowed, to: request, at: now)
                return nil
            }
        }
        switch method {
        case .play:
            guard announcement == nil else {
                respond(.methodNotValidInThisState, to: request, at: now)
                return nil
            }
            pending = .play(request)
            return .play
        case .pause:
            guard state == .playing || state == .recording else {
                respond(.methodNotValidInThisState, to: request, at: now)
                return nil
            }
            state = .ready
            respond(.ok, to: request, at: now)
            return .paused
        default:
            respond(.ok, to: request, at: now)
            endSession()
            return .tornDown
        }
    }

    /// Forgets the session; the connection stays.
    mutating func endSession() {
        state = .initial
        identifier = nil
        path = ""
        tracks = []
        announcement = nil
        requiresReplay = false
    }
}
