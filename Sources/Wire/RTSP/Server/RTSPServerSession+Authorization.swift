import Transport

extension RTSPServerSession {
    /// A request was refused; holds what is reported to the driver, if anything.
    struct Denial {
        var event: RTSPServerEvent?
    }

    /// Returns nil where the request may continue, otherwise asks for credentials.
    ///
    /// OPTIONS reveals nothing, and many clients send it before they think of credentials. Once a session exists, its
    /// identifier on its own connection is enough to keep it alive and to end it. Clients ignore the answers to those
    /// requests, so they would not notice that their nonce has become stale.
    mutating func authorize(_ request: RTSPRequest, method: RTSPMethod, at now: Instant) -> Denial? {
        switch method {
        case .options: return nil
        case .getParameter, .setParameter, .pause, .teardown, .record: if isOwnSession(request) { return nil }
        // What was announced on this connection was permitted, and the driver checks it again when it begins.
        case .setup: if announcement != nil { return nil }
        default: break
        }
        if let verdict = method == .announce ? judgePublisher(request) : judgeAddress(request) {
            switch verdict {
            case .accepted(let name) where principal == nil || principal == name:
                principal = name
                return nil
            case .forbidden(let fault): return forbid(request, fault)
            default: return refuse(request, at: now)
            }
        }
        if let issued = nonce?.issued, now - issued >= configuration.authentication.nonceLifetime { nonce = nil }
        let verdict = configuration.authentication.judge(
            request.headers["Authorization"], method: request.method, nonce: nonce?.text)
        switch verdict {
        case .accepted(let name):
            // The first principal stays: a client that changes its name on a connection would change whose place it
            // uses.
            if principal == nil { principal = name }
            return nil
        case .absent, .stale:
            challenge(request, isStale: verdict == .stale, at: now)
            return Denial()
        case .refused:
            return refuse(request, at: now)
        case .forbidden(let fault):
            return forbid(request, fault)
        }
    }

    /// What the address of a publisher without a header says; nil if it says nothing.
    private func judgePublisher(_ request: RTSPRequest) -> RTSPAuthentication.Verdict? {
        guard request.headers["Authorization"] == nil, let token = RTSPResource.token(in: request.uri) else {
            return nil
        }
        return configuration.authentication.judge(
            publisherToken: token, path: RTSPResource(parsing: request.uri).path)
    }

    private mutating func forbid(_ request: RTSPRequest, _ fault: PublisherTokenFault) -> Denial {
        pending = .forbidden(request)
        return Denial(event: .forbidden(path: RTSPResource(parsing: request.uri).path, fault))
    }

    /// What the address of a request without a header says; nil if it says nothing. The addresses of tracks may come without
    /// the token: the one that opened the camera on this connection is used for them, for as long as it works.
    private mutating func judgeAddress(_ request: RTSPRequest) -> RTSPAuthentication.Verdict? {
        guard configuration.authentication.addressPrincipal != nil, request.headers["Authorization"] == nil else {
            return nil
        }
        let path = RTSPResource(parsing: request.uri).path
        let named = RTSPResource.token(in: request.uri).map { (token: $0, path: path) }
        guard let address = named ?? openedAddress, address.path == path else { return nil }
        let verdict = configuration.authentication.judge(token: address.token, path: path)
        if case .accepted = verdict { openedAddress = address }
        return verdict
    }

    private mutating func refuse(_ request: RTSPRequest, at now: Instant) -> Denial {
        refusals += 1
        if refusals >= configuration.maximumRefusals { isClosing = true }
        challenge(request, isStale: false, at: now)
        return Denial(event: .refusedCredentials)
    }

    private mutating func challenge(_ request: RTSPRequest, isStale: Bool, at now: Instant) {
        let text: String
        if let nonce {
            text = nonce.text
        } else {
            text = hexadecimal(random.next()) + hexadecimal(random.next())
            nonce = (text, now)
        }
        let challenges = configuration.authentication.challenges(nonce: text, isStale: isStale)
        respond(.unauthorized, to: request, at: now) { headers in
            for value in challenges { headers.fields.append(.init(name: "WWW-Authenticate", value: value)) }
        }
    }
}

/// 16 hexadecimal digits.
func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
