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

    /// Sends a request to the camera's address, or to another one of the same host, and reads the head of the answer until
    /// `deadline`. `connecting` is called after the look-up.
    /// - Parameter bytes: the part of a file that is requested; nil for the whole. The server may send the whole anyway.
    mutating func request(
        _ address: HTTPAddress? = nil, bytes: Range<Int64>? = nil, until deadline: Instant, random: inout RandomSource,
        connecting: () -> Void
    ) -> Outcome {
        let hosts: [SocketAddress]
        switch control.resolve({ CameraSocket.lookUp(home) }) {
        case .notBegun: return .stopped
        case .abandoned: return .abandoned
        case .found(.failure(let error)): return .failed(.unreachable(error))
        case .found(.success(let list)): hosts = list
        }
        connecting()
        do throws(CameraFailure) {
            return .answered(
                try exchange(address ?? home, bytes, at: hosts, until: deadline, random: &random))
        } catch {
            return control.isStopping ? .stopped : .failed(error)
        }
    }

    private mutating func exchange(
        _ address: HTTPAddress, _ bytes: Range<Int64>?, at hosts: [SocketAddress], until deadline: Instant,
        random: inout RandomSource
    ) throws(CameraFailure) -> CameraHTTPResponse {
        var target = address
        var redirections = 0
        var refusals = 0
        while true {
            let response = try send(to: target, bytes, at: hosts, until: deadline)
            switch response.head.status {
            case 200..<300:
                if let scheme = authorization?.challenge.name { accepted(scheme) }
                response.address = target
                return response
            case 401:
                refusals += 1
                try answer(response.head, from: target, refusals: refusals, random: &random)
            case 301, 302, 303, 307, 308:
                let place = response.head.value(of: "location") ?? ""
                redirections += 1
                guard redirections <= Self.maximumRedirections, let next = target.redirected(to: place) else {
                    throw .pictures(.redirected(to: String(place.prefix(200))))
                }
                target = next
            case let status: throw .pictures(.refused(status: status))
            }
        }
    }

    /// Prepares the answer to a challenge.
    private mutating func answer(
        _ head: HTTPHead, from target: HTTPAddress, refusals: Int, random: inout RandomSource
    ) throws(CameraFailure) {
        guard let credentials else { throw .pictures(.credentialsMissing) }
        guard target.isSameServer(as: home) else {
            throw .passwordWithheld(address: String(target.description.prefix(200)))
        }
        let isSecure = target.isSecure
        let offered = Challenge.list(head.values(of: "www-authenticate"))
        let mayShow = !findings.refusesBasic(isSecure: isSecure)
        let usable = offered.filter { mayShow || $0.scheme != .basic }
        guard let challenge = usable.first else {
            throw .pictures(offered.isEmpty ? .credentialsRefused : .passwordWithheld)
        }
        // Once with a fresh nonce; again where the camera says that the nonce was too old, or the one before is older.
        let isFirst = refusals == 1
        guard isFirst || (refusals == 2 && challenge.isStale) else { throw .pictures(.credentialsRefused) }
        authorization = Authorization(challenge: challenge, credentials: credentials, random: &random)
    }

    private func accepted(_ scheme: String) {
        findings.logins.withLock { $0.succeed() }
        findings.learn { $0.authentication = scheme }
        if scheme != "Basic" { findings.noteDigest() }
    }

    private mutating func send(
        to target: HTTPAddress, _ bytes: Range<Int64>?, at hosts: [SocketAddress], until deadline: Instant
    ) throws(CameraFailure) -> CameraHTTPResponse {
        let stream = try connect(target, at: hosts)
        var head = "GET \(target.path) HTTP/1.1\r\nHost: \(target.authority)\r\n"
        head += "Accept: \(accepts)\r\nConnection: close\r\n"
        head += "User-Agent: Gatehouse\r\n"
        if let bytes, !bytes.isEmpty { head += "Range: bytes=\(bytes.lowerBound)-\(bytes.upperBound - 1)\r\n" }
        let mayShow = authorization?.challenge.scheme != .basic || !findings.refusesBasic(isSecure: target.isSecure)
        if target.isSameServer(as: home), mayShow, let line = authorization?.header(method: "GET", uri: target.path) {
            head += "Authorization: \(line)\r\n"
        }
        do throws(CameraUnreachable) {
            try stream.sendAll(Array((head + "\r\n").utf8), until: deadline, control: control)
        } catch {
            throw .unreachable(error)
        }
        return try CameraHTTPResponse(over: stream, until: deadline, control: control)
    }

    private func connect(_ target: HTTPAddress, at hosts: [SocketAddress]) throws(CameraFailure) -> StreamSocket {
        var failure = CameraUnreachable("\(target.host) has no address")
        for var host in hosts where !control.isStopping {
            // A redirection may lead to another port of the camera.
            host.port = target.port
            do throws(CameraUnreachable) {
                let stream = try StreamSocket.open(
                    host, serverName: target.isSecure ? target.host : nil, timeout: connectTimeout, control: control)
                findings.noteCertificate(stream.certificateFingerprint, isSecure: target.isSecure)
                return stream
            } catch {
                failure = error
            }
        }
        throw .unreachable(failure)
    }
}

extension SourceFindings {
    /// Records a connection's certificate; nil without TLS.
    func noteCertificate(_ fingerprint: String?, isSecure: Bool) {
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
    /// nothing but the camera, whatever it answers.
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
