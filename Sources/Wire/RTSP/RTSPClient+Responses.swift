import Transport

extension RTSPClient {
    /// Lets `read` write what the connection received straight into the client's buffer; see
    /// ``RTSPStream/receive(_:)``.
    @discardableResult
    public mutating func receive(_ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        stream.receive(read)
    }

    /// The bytes of an interleaved packet, valid until the next ``receive(_:)``.
    public func bytes(in range: Range<Int>) -> UnsafeRawBufferPointer {
        stream.bytes(in: range)
    }

    /// The next thing that happened; nil when more bytes are needed.
    public mutating func pollEvent(at now: Instant) throws(RTSPError) -> Event? {
        while true {
            if !events.isEmpty { return events.removeFirst() }
            guard phase != .ended, let element = try stream.next() else { return nil }
            switch element {
            case .interleaved(let channel, let range):
                return .interleaved(channel: channel, range: range)
            case .response(let response):
                try handle(response, at: now)
            case .request(let request):
                try handle(request, at: now)
            }
        }
    }

    private mutating func handle(_ response: RTSPResponse, at now: Instant) throws(RTSPError) {
        guard let request = pending else { return }
        // An answer to an earlier request comes too late to matter. An answer without CSeq belongs to the only open
        // request: the client never sends a second one before the first is answered.
        if let text = response.headers["CSeq"], let number = Int(text), number != request.sequenceNumber { return }
        // 1xx: the real answer is still to come.
        if response.status < 200 { return }
        pending = nil
        if response.status == 401 {
            try authorize(request, response: response, at: now)
            return
        }
        if request.wasAuthorized {
            hasAuthenticated = true
            if response.status < 300, authorization?.challenge.scheme != .basic { hasTakenDigest = true }
        }
        if let value = response.headers["Session"], var header = SessionHeader(parsing: value) {
            if !header.namesTimeout, let session { header.timeout = session.timeout }
            session = header
        }
        if request.isKeepAlive {
            try handleKeepAlive(response)
            return
        }
        switch phase {
        case .options: handleOptions(response, at: now)
        case .describe: try handleDescribe(response, request: request, at: now)
        case .setUp(let track): try handleSetUp(response, track: track, at: now)
        case .play: try handlePlay(response, request: request, at: now)
        case .tearingDown:
            phase = .ended
            events.append(.tornDown)
        case .idle, .described, .playing, .ended:
            break
        }
    }

    private mutating func handleOptions(_ response: RTSPResponse, at now: Instant) {
        // A camera that does not know OPTIONS may know the rest.
        if response.status == 200, let methods = response.headers["Public"] {
            supportedMethods = RTSPMethod.list(methods)
        }
        sendDescribe(withRequire: true, at: now)
    }

    private mutating func handleDescribe(
        _ response: RTSPResponse, request: PendingRequest, at now: Instant
    ) throws(RTSPError) {
        if (300..<400).contains(response.status), let location = response.headers["Location"] {
            try redirect(to: RTSPURL(parsing: location))
            return
        }
        guard response.status < 300 else {
            // 551 is "option not supported"; cameras say the same with many other codes.
            if configuration.requiresOnlyDescription, request.request.headers["Require"] != nil {
                events.append(.featureRefused(status: response.status))
                sendDescribe(withRequire: false, at: now)
                return
            }
            throw refusal(.describe, response)
        }
        // The content type is not looked at: some cameras send none, others a wrong one.
        let text = String(decoding: response.body, as: UTF8.self)
        guard !text.trimmedASCII.isEmpty else { throw .noDescription }
        baseURI = url.base(for: response.headers)
        playURI = baseURI
        if text[...].range(ofASCII: "a=range:npt=now-") != nil { playRange = "npt=now-" }
        phase = .described
        events.append(.described(text: text, baseURI: baseURI))
    }

    private mutating func handleSetUp(_ response: RTSPResponse, track: Int, at now: Instant) throws(RTSPError) {
        if response.status < 300 {
            try acceptTrack(track, response: response)
        } else {
            // 461 is "unsupported transport": the same request for the other tracks would get the same answer.
            if response.status == 461, acceptedTracks == 0 {
                throw .transportRefused(clientPorts.isEmpty ? .connection : .datagrams, status: response.status)
            }
            let reason = refusal(.setup, response)
            lastRefusal = reason
            events.append(.trackRefused(track: track, reason))
        }
        if track + 1 < tracks.count {
            phase = .setUp(track + 1)
            sendSetUp(track + 1, uri: tracks[track + 1], at: now)
            return
        }
        guard acceptedTracks > 0 else { throw .noTrack(lastRefusal) }
        sendPlay(withRange: true, at: now)
    }

    private mutating func acceptTrack(_ track: Int, response: RTSPResponse) throws(RTSPError) {
        let header = response.headers["Transport"].map { TransportHeader(parsing: $0) }
        let asksForDatagrams = clientPorts.indices.contains(track)
        if header?.isMulticast == true {
            // Multicast packets would reach every host of the network, and the client did not ask for them.
            throw .transportRefused(asksForDatagrams ? .datagrams : .connection, status: response.status)
        }
        // A camera may answer a request for UDP with channels of the connection. It then uses those.
        if asksForDatagrams, header?.rtpChannel == nil {
            acceptedTracks += 1
            events.append(
                .trackSetUpForDatagrams(track: track, header ?? TransportHeader(clientPort: clientPorts[track])))
            return
        }
        if !asksForDatagrams, let header, header.isDatagram {
            throw .transportRefused(.connection, status: response.status)
        }
        let channel = header?.rtpChannel ?? channel(of: track)
        let control = header?.rtcpChannel ?? channel &+ 1
        stream.knownChannels.formUnion([channel, control])
        acceptedTracks += 1
        events.append(
            .trackSetUp(track: track, rtpChannel: channel, rtcpChannel: control, ssrc: header?.ssrc))
    }

    private mutating func handlePlay(
        _ response: RTSPResponse, request: PendingRequest, at now: Instant
    ) throws(RTSPError) {
        guard response.status < 300 else {
            // 457 is "invalid range"; live cameras use other codes for the same thing.
            if request.request.headers["Range"] != nil, response.status != 404 {
                sendPlay(withRange: false, at: now)
                return
            }
            throw refusal(.play, response)
        }
        phase = .playing
        chooseKeepAlive(at: now)
        events.append(.playing(response.headers["RTP-Info"].map { RTPInfoHeader(parsing: $0) }))
    }

    private mutating func handleKeepAlive(_ response: RTSPResponse) throws(RTSPError) {
        guard response.status >= 300 else {
            acceptedKeepAlive = keepAlive
            return
        }
        // 454 is "session not found": the camera will send nothing more.
        if response.status == 454 { throw refusal(keepAlive?.method ?? .options, response) }
        refuseKeepAlive()
    }

    private func refusal(_ method: RTSPMethod, _ response: RTSPResponse) -> RTSPError {
        .refused(method: method, status: response.status, reason: String(response.reason.prefix(100)))
    }

    /// The presentation is elsewhere.
    ///
    /// Load balancers and recorders redirect to another port or host, mostly to one that asks for no password
    /// (AlexxIT/go2rtc#1881). The client follows. The credentials were given for one server and go to no other: a
    /// camera must not be able to direct them elsewhere.
    private mutating func redirect(to target: RTSPURL) throws(RTSPError) {
        guard target.isSecure || !url.isSecure else {
            throw .redirectionRefused(to: "\(target)", .notEncrypted)
        }
        phase = .ended
        let isSameServer = target.host == url.host && target.port == url.port && target.isSecure == url.isSecure
        let credentials = target.credentials ?? (isSameServer ? url.credentials : nil)
        events.append(.redirected(target.withCredentials(credentials)))
    }

    // MARK: Authentication

    private mutating func authorize(
        _ request: PendingRequest, response: RTSPResponse, at now: Instant
    ) throws(RTSPError) {
        let offered = Challenge.list(response.headers.all("WWW-Authenticate"))
        guard let credentials = url.credentials else {
            throw .unauthorized(.credentialsMissing)
        }
        let answerable = Challenge.answerable(
            offered, with: configuration.hashes, mayShowPassword: url.isSecure || configuration.prefersBasic)
        let withholdsPassword = configuration.refusesBasic || hasTakenDigest && !url.isSecure
        let challenges = withholdsPassword ? answerable.filter { $0.scheme != .basic } : answerable
        if challenges.isEmpty, !offered.isEmpty {
            guard request.wasAuthorized, !hasAuthenticated, let used = authorization?.challenge else {
                throw .unauthorized(answerable.isEmpty ? .hashUnavailable : .passwordWithheld)
            }
            // A camera counts the answer that it has refused, whatever it asks for afterwards.
            refusedLogin = RefusedLogin(scheme: used.scheme, offersOther: false)
            throw .unauthorized(.credentialsRefused)
        }
        var request = request
        guard !challenges.isEmpty else {
            // Some cameras refuse an expired nonce without offering a new one. They offer one to a request without
            // credentials.
            if request.wasAuthorized, hasAuthenticated, request.renewals < 2 {
                request.renewals += 1
                authorization = nil
                transmit(request, at: now)
                return
            }
            throw .unauthorized(.methodUnsupported)
        }
        if request.wasAuthorized, let used = authorization?.challenge {
            // A camera that has accepted one hash of Digest may ask for the other: firmware versions differ in what
            // they offer.
            let renewed =
                challenges.first { $0.scheme == used.scheme }
                ?? (hasAuthenticated && used.scheme != .basic ? challenges.first { $0.scheme != .basic } : nil)
            // An expired nonce is renewed. A first attempt that fails without "stale" means a wrong password. Another
            // attempt would only help to lock the account.
            if let renewed, renewed.isStale || hasAuthenticated, request.renewals < (hasAuthenticated ? 2 : 1) {
                request.renewals += 1
                authorization = Authorization(challenge: renewed, credentials: credentials, random: &random)
                transmit(request, at: now)
                return
            }
            // Every wrong answer counts towards a camera's lock. The driver decides whether to try another scheme.
            let refused = configuration.avoidedSchemes + [used.scheme]
            let offersOther = challenges.contains { !refused.contains($0.scheme) }
            refusedLogin = RefusedLogin(scheme: used.scheme, offersOther: offersOther)
        }
        let avoided = configuration.avoidedSchemes
        let basic = configuration.prefersBasic ? challenges.first { $0.scheme == .basic } : nil
        let chosen = basic ?? challenges.first { !avoided.contains($0.scheme) } ?? challenges.first
        guard refusedLogin == nil, let challenge = chosen else {
            throw .unauthorized(.credentialsRefused)
        }
        if authorization == nil { events.append(.authenticating) }
        authorization = Authorization(challenge: challenge, credentials: credentials, random: &random)
        transmit(request, at: now)
    }

    // MARK: Requests from the camera

    private mutating func handle(_ request: RTSPRequest, at now: Instant) throws(RTSPError) {
        var status = 200
        var hasEnded = false
        switch RTSPMethod(rawValue: request.method) {
        case .options, .getParameter, .setParameter, .announce:
            break
        case .redirect:
            if let location = request.headers["Location"], let target = try? RTSPURL(parsing: location) {
                try redirect(to: target)
            } else {
                status = 400
            }
        case .teardown:
            hasEnded = true
        default:
            status = 405
        }
        var headers: RTSPHeaders = [:]
        headers["CSeq"] = request.headers["CSeq"]
        let response = RTSPResponse(status: status, reason: status == 200 ? "OK" : "Refused", headers: headers)
        if output.count - outputOffset < Self.maximumPendingOutput { output += response.encoded() }
        if hasEnded {
            phase = .ended
            events.append(.tornDown)
        }
    }
}
