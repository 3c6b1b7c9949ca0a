import DatagramPort
import Glibc
import HTTPMedia
import ONVIF
import RTSP
import Transport
import XML

/// Sends requests to one device, one at a time, on its owner's thread: HTTP/1.1 with a new connection for each request,
/// with WS-Security or, where the device asks for it, HTTP Digest. Everything is bounded in bytes and time.
struct ONVIFClient {
    let credentials: RTSPCredentials?
    /// Replaced for the final request, which follows the owner's request to stop.
    var control: SourceControl
    /// How far the camera's clock is ahead of the gateway's, in milliseconds.
    var clockOffset: Int64 = 0
    var random: RandomSource
    /// Set once the device has asked for HTTP authentication: WS-Security is then left out, since a device may refuse a
    /// request that carries both (ONVIF Core, section 5.9.1).
    private var authorization: Authorization?
    private var addresses: [String: [TransportAddress]] = [:]

    init(credentials: RTSPCredentials?, control: SourceControl, random: RandomSource) {
        self.credentials = credentials
        self.control = control
        self.random = random
    }

    /// How a request ended. When the owner no longer waits for a look-up, its state must not be touched.
    enum Outcome {
        case answered(Result<XMLElement, ONVIFError>)
        case abandoned
    }

    /// Sends a request and waits for its answer.
    mutating func call(_ request: ONVIFRequest) -> Outcome {
        do throws(ONVIFError) {
            guard let hosts = try resolve(request.address) else { return .abandoned }
            return .answered(.success(try exchange(request, at: hosts)))
        } catch {
            if case .unreachable = error { addresses = [:] }
            return .answered(.failure(error))
        }
    }

    private mutating func exchange(
        _ request: ONVIFRequest, at hosts: [TransportAddress]
    ) throws(ONVIFError) -> XMLElement {
        let deadline = MonotonicClock.now + request.timeout
        for attempt in 0..<3 {
            let response = try send(request, to: hosts, until: deadline)
            guard response.status == 401 else { return try read(response) }
            // A fault says more than the bare status.
            let challenges = Challenge.list(response.challenges)
            guard !challenges.isEmpty else { return try read(response) }
            guard let credentials else { throw .unauthorized(.credentialsMissing) }
            // Without TLS the password itself is never sent. Devices must accept Digest (ONVIF Core, section 5.9.1),
            // and the token of WS-Security before it. So a server that asks for Basic wants to read the password.
            let answerable = Challenge.answerable(challenges, mayShowPassword: request.address.isSecure)
            guard let challenge = answerable.first(where: { request.address.isSecure || $0.scheme != .basic }) else {
                throw .unauthorized(answerable.isEmpty ? .hashUnavailable : .passwordWithheld)
            }
            // Once with a fresh nonce; a second time only where the camera says that the nonce was too old.
            guard attempt == 0 || challenge.isStale else { break }
            authorization = Authorization(challenge: challenge, credentials: credentials, random: &random)
        }
        throw .unauthorized(.credentialsRefused)
    }

    private func read(_ response: HTTPResponse) throws(ONVIFError) -> XMLElement {
        do throws(ONVIFError) {
            let body = try SOAPEnvelope.body(of: response.body)
            guard (200...299).contains(response.status) else { throw ONVIFError.status(response.status) }
            return body
        } catch {
            if case .fault(let fault) = error, fault.isNotAuthorized {
                throw .unauthorized(credentials == nil ? .credentialsMissing : .credentialsRefused)
            }
            // The status explains an answer that is not a SOAP message, unless it claims success.
            if case .fault = error { throw error }
            throw (200...299).contains(response.status) ? error : .status(response.status)
        }
    }

    private mutating func send(
        _ request: ONVIFRequest, to hosts: [TransportAddress], until deadline: Instant
    ) throws(ONVIFError) -> HTTPResponse {
        let body = Array(request.envelope(token: token(for: request), messageID: (random.next(), random.next())).utf8)
        var head = "POST \(request.address.path) HTTP/1.1\r\nHost: \(request.address.authority)\r\n"
        head += "Content-Type: application/soap+xml; charset=utf-8; action=\"\(request.action)\"\r\n"
        head += "Content-Length: \(body.count)\r\nConnection: close\r\nUser-Agent: Gatehouse\r\n"
        let mayShow = request.address.isSecure || authorization?.challenge.scheme != .basic
        if request.needsCredentials, mayShow,
            let line = authorization?.header(method: "POST", uri: request.address.path, body: body)
        {
            head += "Authorization: \(line)\r\n"
        }
        let bytes = Array((head + "\r\n").utf8) + body
        let stream = try connect(hosts, request.address, until: deadline)
        do throws(CameraUnreachable) {
            try stream.sendAll(bytes, until: deadline, control: control)
        } catch {
            throw control.isStopping ? .stopped : .unreachable(error.description, cause: error.cause)
        }
        return try receive(from: stream, until: deadline, for: request.timeout)
    }

    private func connect(
        _ hosts: [TransportAddress], _ address: HTTPAddress, until deadline: Instant
    ) throws(ONVIFError) -> StreamSocket {
        var failure = CameraUnreachable("the camera has no address", cause: .unknownName)
        for host in hosts where !control.isStopping {
            do throws(CameraUnreachable) {
                return try StreamSocket.open(
                    host, serverName: address.isSecure ? address.host : nil,
                    timeout: min(.seconds(5), deadline - MonotonicClock.now), control: control)
            } catch {
                failure = error
            }
        }
        throw control.isStopping ? .stopped : .unreachable(failure.description, cause: failure.cause)
    }

    private mutating func token(for request: ONVIFRequest) -> UsernameToken? {
        guard request.needsCredentials, authorization == nil, let credentials else { return nil }
        var nonce: [UInt8] = []
        for _ in 0..<2 { withUnsafeBytes(of: random.next()) { nonce.append(contentsOf: $0) } }
        return UsernameToken(
            credentials: credentials, created: WallTime.now.advanced(byMilliseconds: clockOffset), nonce: nonce)
    }

    private func receive(
        from stream: StreamSocket, until deadline: Instant, for timeout: Duration
    ) throws(ONVIFError) -> HTTPResponse {
        var reader = HTTPResponseReader()
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let outcome: CameraSocket.Outcome
            do throws(CameraUnreachable) {
                outcome = try stream.receive(&buffer, until: deadline, control: control, for: "the answer")
            } catch {
                throw control.isStopping ? .stopped : .noAnswer(seconds: Int(timeout.components.seconds))
            }
            if case .failed(let number) = outcome {
                throw .unreachable(CameraUnreachable("the connection was lost", errorNumber: number).description)
            }
            do throws(HTTPStreamError) {
                switch outcome {
                case .bytes(let count):
                    if let response = try reader.append(buffer[..<count]) { return response }
                case .closed: return try reader.finish()
                case .wouldBlock, .failed: break
                }
            } catch {
                throw ONVIFError(error)
            }
        }
    }

    /// The addresses of a host. Nil when the owner no longer waits for the look-up.
    private mutating func resolve(_ address: HTTPAddress) throws(ONVIFError) -> [TransportAddress]? {
        let key = "\(address.host) \(address.port)"
        if let known = addresses[key] { return known }
        switch control.resolve({ CameraSocket.lookUp(address) }) {
        case .notBegun: throw .stopped
        case .abandoned: return nil
        case .found(.failure(let error)): throw .unreachable(error.description, cause: error.cause)
        case .found(.success(let list)):
            // A real device names a handful of hosts; the bound stops one that invents more.
            if addresses.count >= 8 { addresses = [:] }
            addresses[key] = list
            return list
        }
    }
}
