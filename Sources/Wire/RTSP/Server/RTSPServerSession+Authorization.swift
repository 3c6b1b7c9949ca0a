import Transport

extension RTSPServerSession {
    /// A request was not let through; holds what the driver is told of it, if anything.
    struct Denial {
        var event: RTSPServerEvent?
    }

    /// Answers nil where the request may go on, and otherwise asks for credentials.
    ///
    /// OPTIONS tells nothing of anybody and is asked by many clients before they think of credentials. Once a session
    /// stands, its identifier on its own connection is enough to keep it alive and to end it: clients do not look at the
    /// answers to what they send for that, so they would not notice that their nonce has become stale.
    mutating func authorize(_ request: RTSPRequest, method: RTSPMethod, at now: Instant) -> Denial? {
        switch method {
        case .options: return nil
        case .getParameter, .setParameter, .pause, .teardown: if isOwnSession(request) { return nil }
        default: break
        }
        if let issued = nonce?.issued, now - issued >= configuration.authentication.nonceLifetime { nonce = nil }
        let verdict = configuration.authentication.judge(
            request.headers["Authorization"], method: request.method, nonce: nonce?.text)
        switch verdict {
        case .accepted(let name):
            // The first one stays: whoever changes its name on a connection would change whose place it takes.
            if principal == nil { principal = name }
            return nil
        case .absent, .stale:
            challenge(request, isStale: verdict == .stale, at: now)
            return Denial()
        case .refused:
            refusals += 1
            if refusals >= configuration.maximumRefusals { isClosing = true }
            challenge(request, isStale: false, at: now)
            return Denial(event: .refusedCredentials)
        }
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
