import DatagramPort
import HTTPMedia
import RTSP
import Transport

/// Requests a camera's pictures, or a stream, on its source's thread: HTTP/1.1 with a connection for each request, and Basic
/// or Digest where the camera asks for it.
struct CameraHTTPClient {
    /// What became of a request.
    enum Outcome {
        /// The camera has agreed; what it sends is in the answer.
        case answered(CameraHTTPResponse)
        /// The owner stopped the source.
        case stopped
        /// The owner stopped it during the look-up, and no longer waits for the thread.
        case abandoned
        case failed(CameraFailure)
    }

    /// The camera's address in the config. Credentials go to no other host, and to no other port.
    let home: HTTPAddress
    let credentials: RTSPCredentials?
    /// How long a connection may take to open.
    let connectTimeout: Duration
    let findings: SourceFindings
    let control: SourceControl
    /// What the requests name as acceptable.
    var accepts = "multipart/x-mixed-replace, image/jpeg, */*;q=0.1"
    /// Whether a redirection is followed to another host, as far as ``RequestPlace`` lets it lead.
    var followsToOtherHosts = false
    private var otherHosts = HostAllowance()
    private var authorization: Authorization?
    private static let maximumRedirections = 3

    init(
        home: HTTPAddress, credentials: RTSPCredentials?, connectTimeout: Duration, findings: SourceFindings,
        control: SourceControl
    ) {
        self.home = home
        self.credentials = credentials
        self.connectTimeout = connectTimeout
        self.findings = findings
        self.control = control
    }

    /// A request, and those that follow from its answer.
    private struct Exchange {
        var place: RequestPlace
        /// What has been looked up: the host, and its addresses. Connections go to these and no others.
        var host: String?
        var addresses: [TransportAddress] = []
        var redirections = 0
        var refusals = 0
    }

    /// Sends a request to the camera's address, or to a place that it has led to, and reads the head of the answer until
    /// `deadline`. `connecting` is called after the look-up.
    /// - Parameter bytes: the part of a file that is requested; nil for the whole. The server may send the whole anyway.
    mutating func request(
        _ place: RequestPlace? = nil, bytes: Range<Int64>? = nil, until deadline: Instant, random: inout RandomSource,
        connecting: () -> Void
    ) -> Outcome {
        var exchange = Exchange(place: place ?? RequestPlace(home))
        while true {
            let target = exchange.place
            if exchange.host != target.address.host {
                guard target.isAtHome || otherHosts.admit(target.address.host, at: MonotonicClock.now) else {
                    return .failed(target.refused(.manyHosts))
                }
                switch control.resolve({ Self.lookUp(target) }) {
                case .notBegun: return .stopped
                case .abandoned: return .abandoned
                case .found(.failure(let error)): return .failed(.unreachable(error))
                case .found(.success(let list)): exchange.addresses = list
                }
                if exchange.host == nil { connecting() }
                exchange.host = target.address.host
            }
            do throws(CameraFailure) {
                if let response = try proceed(&exchange, bytes, until: deadline, random: &random) {
                    return .answered(response)
                }
            } catch {
                return control.isStopping ? .stopped : .failed(error)
            }
        }
    }

    private static func lookUp(_ place: RequestPlace) -> Result<[TransportAddress], CameraUnreachable> {
        // Only an address that people write can have a password with characters that end it.
        guard place.isAtHome else { return CameraSocket.lookUp(host: place.address.host, port: place.address.port) }
        return CameraSocket.lookUp(place.address)
    }

    /// Sends one request. Returns the answer; nil where another request has to follow.
    private mutating func proceed(
        _ exchange: inout Exchange, _ bytes: Range<Int64>?, until deadline: Instant, random: inout RandomSource
    ) throws(CameraFailure) -> CameraHTTPResponse? {
        let addresses = exchange.place.allowed(exchange.addresses)
        guard !addresses.isEmpty else { throw exchange.place.refused(.network) }
        let response = try send(to: exchange.place, bytes, at: addresses, until: deadline)
        let here = response.place ?? exchange.place
        switch response.head.status {
        case 200..<300:
            if mayShowCredentials(at: here), let scheme = authorization?.challenge.name { accepted(scheme) }
            return response
        case 401 where here.isAtHome:
            exchange.refusals += 1
            try answer(response.head, from: here, refusals: exchange.refusals, random: &random)
        case 301, 302, 303, 307, 308:
            exchange.redirections += 1
            exchange.place = try redirected(
                response.head.value(of: "location") ?? "", from: here, exchange.redirections)
        case let status:
            // Another port may belong to another program. What it forbids says nothing about the camera's login.
            guard here.isAtHome, status != 403 || mayShowCredentials(at: here) else {
                throw .stream(.refusedElsewhere(address: here.shown, status: status))
            }
            throw .pictures(.refused(status: status))
        }
        return nil
    }

    /// Where a redirection leads, the first one or one after others.
    private func redirected(
        _ location: String, from here: RequestPlace, _ number: Int
    ) throws(CameraFailure) -> RequestPlace {
        guard number <= Self.maximumRedirections else { throw .redirectionCircle }
        guard followsToOtherHosts else {
            guard let next = here.address.redirected(to: location) else {
                throw .pictures(.redirected(to: String(location.prefix(200))))
            }
            return here.moved(to: next)
        }
        do throws(CameraFailure) {
            return try here.following(location, from: home)
        } catch {
            guard case .stream(.leadsElsewhere(address: _, .notHTTP)) = error else { throw error }
            throw .pictures(.redirected(to: RequestPlace.masked(location)))
        }
    }

    /// Whether the credentials are meant for a place.
    private func mayShowCredentials(at place: RequestPlace) -> Bool {
        place.isAtHome && place.address.isSameServer(as: home)
    }

    /// Prepares the answer to a challenge.
    private mutating func answer(
        _ head: HTTPHead, from place: RequestPlace, refusals: Int, random: inout RandomSource
    ) throws(CameraFailure) {
        let target = place.address
        guard let credentials else { throw .pictures(.credentialsMissing) }
        guard target.isSameServer(as: home) else {
            // It may come from a playlist, and then it does not belong in the config.
            guard !followsToOtherHosts else { throw .stream(.refusedElsewhere(address: place.shown, status: 401)) }
            throw .passwordWithheld(address: String(target.description.prefix(200)))
        }
        // What has been refused must not go out again with the next request.
        authorization = nil
        let isSecure = target.isSecure
        let offered = Challenge.list(head.values(of: "www-authenticate"))
        let mayShow = !findings.refusesBasic(isSecure: isSecure)
        let answerable = Challenge.answerable(offered, mayShowPassword: isSecure)
        guard let challenge = answerable.first(where: { mayShow || $0.scheme != .basic }) else {
            // A camera counts the answer that it has refused, whatever it asks for afterwards.
            guard !offered.isEmpty, refusals == 1 else { throw .pictures(.credentialsRefused) }
            throw .pictures(answerable.isEmpty ? .hashUnavailable : .passwordWithheld)
        }
        // Once with a fresh nonce; again where the camera says that the nonce was too old, or the one before is older.
        let isFirst = refusals == 1
        guard isFirst || (refusals == 2 && challenge.isStale) else { throw .pictures(.credentialsRefused) }
        authorization = Authorization(challenge: challenge, credentials: credentials, random: &random)
    }

    private func accepted(_ scheme: String) {
        findings.logins.withLock { $0.succeed() }
        findings.learn { $0.authentication = scheme }
        if scheme != "Basic" { findings.recordDigest() }
    }

    private mutating func send(
        to place: RequestPlace, _ bytes: Range<Int64>?, at addresses: [TransportAddress], until deadline: Instant
    ) throws(CameraFailure) -> CameraHTTPResponse {
        let target = place.address
        let (stream, connected) = try connect(place, at: addresses)
        var head = "GET \(target.path) HTTP/1.1\r\nHost: \(target.authority)\r\n"
        head += "Accept: \(accepts)\r\nConnection: close\r\n"
        head += "User-Agent: Gatehouse\r\n"
        if let bytes, !bytes.isEmpty { head += "Range: bytes=\(bytes.lowerBound)-\(bytes.upperBound - 1)\r\n" }
        let mayShow = authorization?.challenge.scheme != .basic || !findings.refusesBasic(isSecure: target.isSecure)
        if mayShowCredentials(at: place), mayShow,
            let line = authorization?.header(method: "GET", uri: target.path)
        {
            head += "Authorization: \(line)\r\n"
        }
        do throws(CameraUnreachable) {
            try stream.sendAll(Array((head + "\r\n").utf8), until: deadline, control: control)
        } catch {
            throw .unreachable(error)
        }
        let response = try CameraHTTPResponse(over: stream, until: deadline, control: control)
        response.place = followsToOtherHosts ? place.reached(at: connected) : place
        return response
    }

    private func connect(
        _ place: RequestPlace, at addresses: [TransportAddress]
    ) throws(CameraFailure) -> (StreamSocket, TransportAddress) {
        let target = place.address
        var failure = CameraUnreachable("\(target.host) has no address")
        for host in addresses where !control.isStopping {
            // A redirection may lead to another port of the camera.
            let address = host.withPort(target.port)
            do throws(CameraUnreachable) {
                let stream = try StreamSocket.open(
                    address, serverName: target.isSecure ? target.host : nil, timeout: connectTimeout,
                    control: control)
                // The certificate of another host says nothing about the camera.
                if place.isAtHome {
                    findings.recordCertificate(stream.certificateFingerprint, isSecure: target.isSecure)
                }
                return (stream, address)
            } catch {
                failure = error
            }
        }
        throw .unreachable(failure)
    }
}

extension SourceFindings {
    /// Records a connection's certificate; nil without TLS.
    func recordCertificate(_ fingerprint: String?, isSecure: Bool) {
        let earlier = profile.certificateFingerprint
        use { transport in
            transport.isSecure = isSecure
            if let earlier, let fingerprint, earlier != fingerprint {
                transport.earlierCertificateFingerprint = earlier
            }
        }
        if let fingerprint { learn { $0.certificateFingerprint = fingerprint } }
    }
}

extension HTTPAddress {
    /// Whether credentials for `other` are meant for this address, too: another port may be another program's.
    func isSameServer(as other: HTTPAddress) -> Bool {
        host.lowercased() == other.host.lowercased() && port == other.port
    }

    /// Where a `Location` leads from here; nil unless that is the same host, and as secure. Requests therefore reach
    /// only the camera, whatever it answers.
    func redirected(to place: String) -> HTTPAddress? {
        guard place.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !place.isEmpty else { return nil }
        var next = self
        if place.hasPrefix("/"), !place.hasPrefix("//") {
            next.path = place
            return next
        }
        guard let (address, _) = try? HTTPAddress.parse(place, defaultPath: "/"), !place.hasPrefix("onvif"),
            address.host.lowercased() == host.lowercased(), address.isSecure || !isSecure
        else { return nil }
        return address
    }
}
