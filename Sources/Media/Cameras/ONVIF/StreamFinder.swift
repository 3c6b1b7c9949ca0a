import HTTPMedia
import ONVIF
import RTSP
import Transport
import XML

/// Asks a device where its stream is.
struct StreamFinder {
    enum Finding {
        /// The address of the stream.
        case found(RTSPURL)
        case failed(ONVIFError)
        case abandoned
    }

    private struct Abandoned: Error {}

    /// A question about the smaller stream, which the camera is asked once the main stream is pulled.
    private struct SubstreamQuestion {
        /// The profile of the smaller stream, or why there is none.
        let profile: Result<MediaProfile, ONVIFError>
        let service: HTTPAddress
        /// The client that found the main stream. It knows the host's address and how the camera logs in.
        var client: ONVIFClient
    }

    let device: HTTPAddress
    let credentials: RTSPCredentials?
    let stream: ONVIFSource.Stream
    let place: SubstreamPlace
    let answerTimeout: Duration
    let control: SourceControl
    /// The logins of the main stream, with which those of the smaller one count.
    private(set) var logins: CameraLogins?
    /// Whether the source of the main stream has passed on an address.
    private var hasAddress = false
    /// Nil where nobody waits for the answer.
    private var question: SubstreamQuestion?

    init(
        device: HTTPAddress, credentials: RTSPCredentials?, stream: ONVIFSource.Stream, place: SubstreamPlace,
        answerTimeout: Duration, control: SourceControl
    ) {
        self.device = device
        self.credentials = credentials
        self.stream = stream
        self.place = place
        self.answerTimeout = answerTimeout
        self.control = control
    }

    /// Whether the source of the main stream asks the camera for this stream, too.
    var waitsForMain: Bool { stream == .sub && place.isWanted }

    mutating func find() -> Finding {
        question = nil
        if waitsForMain, let answer = answerOfMain() {
            switch answer {
            case .success(let url): return .found(url)
            case .failure(let error): return .failed(error)
            }
        }
        var client = ONVIFClient(credentials: credentials, control: control, random: .system)
        do {
            return try find(&client)
        } catch let error as ONVIFError {
            if error == .noSecondProfile { hasAddress = false }
            return .failed(error)
        } catch {
            return .abandoned
        }
    }

    /// What the source of the main stream has passed on; waits for the first answer. Nil once that has been used up.
    private mutating func answerOfMain() -> Result<RTSPURL, ONVIFError>? {
        while !control.isStopping {
            if let answer = place.take(waking: control) {
                logins = answer.logins
                // There is nothing to ask a camera with one stream for, until its other source has asked again.
                if case .failure(.noSecondProfile) = answer.substream { hasAddress = false } else { hasAddress = true }
                return answer.substream
            }
            if hasAddress { return nil }
            control.wait(.seconds(3_600))
            _ = control.takeKeyFrameRequests()
        }
        return .failure(.stopped)
    }

    private mutating func find(_ client: inout ONVIFClient) throws -> Finding {
        if let answer = try optional(DeviceService.getSystemDateAndTime(device), &client),
            let time = try? DeviceService.systemDateAndTime(answer)
        {
            client.clockOffset = time.millisecondsSince1970 &- WallTime.now.millisecondsSince1970
        }
        var media: HTTPAddress?
        if let answer = try optional(DeviceService.getServices(device), &client) {
            media = DeviceService.services(answer, given: device).media
        }
        if media == nil, let answer = try optional(DeviceService.getCapabilities(device), &client) {
            media = DeviceService.capabilities(answer, given: device).media
        }
        let service = media ?? device
        let ranked = MediaProfile.ranked(MediaService.profiles(try call(MediaService.getProfiles(service), &client)))
        let chosen = try stream.choose(among: ranked)
        let url = try address(of: chosen, at: service, &client)
        if stream == .main, place.isWanted {
            let smaller = Result { () throws(ONVIFError) in try ONVIFSource.Stream.sub.choose(among: ranked) }
            question = SubstreamQuestion(profile: smaller, service: service, client: client)
        }
        return .found(url)
    }

    /// Asks the camera where its smaller stream is, and passes the answer on. Does so once after the main stream has been
    /// found, and only where somebody waits for the answer.
    /// - Parameter logins: those of the main stream.
    /// - Returns: whether the source's owner still waits for the thread.
    mutating func passOnSubstream(logins: CameraLogins?) -> Bool {
        guard var asked = question.take() else { return true }
        let answer: Result<RTSPURL, ONVIFError>
        do {
            answer = .success(try address(of: asked.profile.get(), at: asked.service, &asked.client))
        } catch let error as ONVIFError {
            if error == .stopped { return true }
            answer = .failure(error)
        } catch {
            return false
        }
        place.put(answer, logins: logins)
        return true
    }

    /// The RTSP address of a profile's stream.
    private func address(
        of profile: MediaProfile, at service: HTTPAddress, _ client: inout ONVIFClient
    ) throws -> RTSPURL {
        let uri = try MediaService.uri(
            call(MediaService.getStreamURI(service, profile: profile.token), &client))
        do {
            let url = try RTSPURL(parsing: uri.withHost(device.host))
            return url.withCredentials(credentials ?? url.credentials)
        } catch {
            throw ONVIFError.unsupported(.streamAddress)
        }
    }

    /// The answer to a request that a camera may refuse without harm; nil where it refuses.
    private func optional(_ request: ONVIFRequest, _ client: inout ONVIFClient) throws -> XMLElement? {
        do {
            return try call(request, &client)
        } catch let error as ONVIFError {
            if case .fault(let fault) = error, !fault.isNotAuthorized { return nil }
            if !request.needsCredentials, error.isRefusal { return nil }
            throw error
        }
    }

    private func call(_ request: ONVIFRequest, _ client: inout ONVIFClient) throws -> XMLElement {
        var request = request
        request.timeout = answerTimeout
        switch client.call(request) {
        case .answered(let result): return try result.get()
        case .abandoned: throw Abandoned()
        }
    }
}

extension String {
    /// The RTSP address with this host, since the camera may report a former address. The port stays: RTSP and the web
    /// server have different ports, whether ports are forwarded or not.
    func withHost(_ host: String) -> String {
        guard let scheme = firstIndex(of: ":"), self[scheme...].hasPrefix("://") else { return self }
        let start = index(scheme, offsetBy: 3)
        let end = self[start...].firstIndex { $0 == "/" || $0 == "?" } ?? endIndex
        let authority = self[start..<end]
        let afterUser = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        let hostPort = authority[afterUser...]
        let port: Substring
        if hostPort.hasPrefix("[") {
            port = hostPort.firstIndex(of: "]").map { hostPort[hostPort.index(after: $0)...] } ?? ""
        } else {
            port = hostPort.firstIndex(of: ":").map { hostPort[$0...] } ?? ""
        }
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(self[..<start])\(authority[..<afterUser])\(name)\(port)\(self[end...])"
    }
}
