public import Transport

/// Keeps a router forwarding one port to this host: by PCP (RFC 6887), by NAT-PMP (RFC 6886), or by UPnP (Internet Gateway
/// Device), in this order, by the first that the router knows. A router that refuses by PCP or NAT-PMP is asked by UPnP, too: it
/// may permit by one protocol what it refuses by another.
///
/// At an IPv6 router, which translates nothing, it keeps a pinhole open in the router's firewall, for the host's own
/// global address: by the same request of PCP (RFC 6887, section 11), or by UPnP (WANIPv6FirewallControl). NAT-PMP has
/// no such request.
///
/// It does no I/O. The driver sends what ``pollTransmit()`` returns, makes the HTTP requests of ``pollRequest()``, hands in what
/// comes back, and calls ``handleDeadline(at:)`` when ``nextDeadline`` has come.
///
/// The router is not trusted: an answer counts only from its address and port, for this port, and with the nonce of the request
/// (PCP). Only a refusal may come without the nonce, because a router may cut short what it cannot read. HTTP requests go to its
/// own address alone. An address at which nobody can be reached is refused.
///
/// Deviations:
/// - The lifetime is half an hour instead of two hours (RFC 6886, section 3.3): a router that has restarted has forgotten its
///   mappings, and the renewal after a quarter of an hour makes them again. Its announcements (224.0.0.1 port 5350) are not
///   listened for.
/// - PCP is tried twice and not without end (RFC 6887, section 8.1.1), and NAT-PMP five times and not nine (RFC 6886, section
///   3.1), because a router that does not know them may keep silent, and UPnP waits behind both. All are tried again later.
public struct PortMapper: Sendable {
    /// How long a mapping lasts that is asked for, in seconds.
    public static let wantedLifetime: UInt32 = 1800
    private static let longestLifetime: UInt32 = 86_400
    /// A mapping that is shorter would be renewed all the time.
    private static let shortestLifetime: UInt32 = 8
    private static let pcpWaits: [Duration] = [.seconds(3), .seconds(6)]
    private static let firstNATPMPWait = Duration.milliseconds(250)
    private static let natPMPTransmissions = 5
    private static let shortestPause = Duration.seconds(60)
    private static let longestPause = Duration.seconds(1800)
    /// How long before its end a mapping is no longer renewed.
    private static let shortestRetry = Duration.seconds(4)

    enum Step: Hashable, Sendable {
        case idle
        case pcp
        case natPMPAddress
        case natPMPMapping
        /// Looks for the router's UPnP service.
        case upnpSearch
        /// Waits for the answer to an HTTP request.
        case upnpDescription
        /// Asks for the outside address, or for the state of the IPv6 firewall.
        case upnpStatus
        case upnpMapping
        /// Waits for the renewal, or after a failure.
        case waiting
    }

    let internalPort: UInt16
    let transport: MappedTransport
    private(set) var client: TransportAddress?
    private var nonce: PCPMessage.Nonce
    private(set) var step = Step.idle
    var transmissions = 0
    var due: Instant?
    private var expiry: Instant?
    private var failures = 0
    /// How the router has refused in this round, and until when; UPnP is tried after that.
    private var refusal: (failure: PortMappingFailure, until: Instant)?
    /// The outside address of NAT-PMP and UPnP, which the mapping itself does not name.
    var outsideHost: TransportAddress?
    var hasAsked = false
    private var outbox: [RouterMessage] = []
    var random: RandomSource
    var upnp = UPnPState()

    /// What is known now.
    public internal(set) var mapping = PortMapping()

    /// Makes a mapper that knows no router yet.
    /// - Parameters:
    ///   - internalPort: the port of this host.
    ///   - transport: what it carries.
    public init(internalPort: UInt16, transport: MappedTransport = .udp, random: RandomSource) {
        self.internalPort = internalPort
        self.transport = transport
        self.random = random
        nonce = PCPMessage.Nonce(high: self.random.next(), low: UInt32(truncatingIfNeeded: self.random.next()))
    }

    /// Changes the router; nil for none.
    /// - Parameters:
    ///   - router: its address; the port is ignored.
    ///   - client: this host's address towards it. Towards an IPv6 router it is the global address that the pinhole is for.
    public mutating func setRouter(_ router: TransportAddress?, client: TransportAddress?, at now: Instant) {
        let router = router?.withPort(PortMappingWire.port)
        guard router != mapping.router || client != self.client else { return }
        mapping = PortMapping()
        mapping.router = router
        self.client = client
        (expiry, failures, hasAsked, refusal) = (nil, 0, false, nil)
        outbox.removeAll()
        upnp = UPnPState()
        if router == nil || client == nil { (step, due) = (.idle, nil) } else { begin(.pcp, at: now) }
    }

    /// Asks the router of another mapper, which has a mapping there, by the protocol that has made it.
    mutating func follow(_ other: PortMapper, at now: Instant) {
        setRouter(nil, client: nil, at: now)
        mapping.router = other.mapping.router
        client = other.client
        upnp.service = other.upnp.service
        switch other.mapping.method {
        case .pcp: begin(.pcp, at: now)
        case .natPMP: begin(.natPMPAddress, at: now)
        case .upnp: begin(upnp.service == nil ? .upnpSearch : .upnpStatus, at: now)
        }
    }

    /// When to call ``handleDeadline(at:)``; nil for never.
    public var nextDeadline: Instant? {
        guard let due else { return nil }
        return expiry.map { min($0, due) } ?? due
    }

    /// The next datagram to send; nil if there is none.
    public mutating func pollTransmit() -> RouterMessage? { outbox.isEmpty ? nil : outbox.removeFirst() }

    /// The next HTTP request to make; nil if there is none. Its outcome goes to ``handle(response:at:)``.
    public mutating func pollRequest() -> RouterMessage? { upnp.request.take() }

    /// Whether ``pollRequest()`` has a request.
    public var hasRequest: Bool { upnp.request != nil }

    /// Sends what is due, or gives a request up.
    public mutating func handleDeadline(at now: Instant) {
        if let expiry, expiry <= now {
            self.expiry = nil
            (mapping.external, upnp.pinhole) = (nil, nil)
        }
        guard let due, due <= now else { return }
        switch step {
        case .idle: self.due = nil
        case .waiting:
            refusal = nil
            switch mapping.method {
            case .pcp: begin(.pcp, at: now)
            case .natPMP: begin(.natPMPAddress, at: now)
            case .upnp: begin(upnp.service == nil ? .upnpSearch : .upnpStatus, at: now)
            }
        case .pcp where transmissions >= Self.pcpWaits.count:
            // With a mapping by PCP, the router speaks it, and its silence has another reason.
            if mapping.external == nil {
                begin(asksForPinhole ? .upnpSearch : .natPMPAddress, at: now)
            } else {
                fail(.noAnswer, at: now)
            }
        case .natPMPAddress where transmissions >= Self.natPMPTransmissions && mapping.external == nil:
            begin(.upnpSearch, at: now)
        case .natPMPAddress where transmissions >= Self.natPMPTransmissions,
            .natPMPMapping where transmissions >= Self.natPMPTransmissions:
            fail(.noAnswer, at: now)
        case .upnpSearch where transmissions >= Self.searchTransmissions:
            fail(upnp.wasSentElsewhere ? .unusableService : .noAnswer, at: now)
        case .pcp, .natPMPAddress, .natPMPMapping, .upnpSearch: transmit(at: now)
        case .upnpDescription, .upnpStatus, .upnpMapping: handle(response: nil, at: now)
        }
    }

    /// Takes a datagram.
    public mutating func handle(_ datagram: UnsafeRawBufferPointer, from source: TransportAddress, at now: Instant) {
        if step == .upnpSearch { return handleSearchAnswer(datagram, from: source, at: now) }
        guard source == mapping.router else { return }
        switch step {
        case .idle, .waiting, .upnpSearch, .upnpDescription, .upnpStatus, .upnpMapping: break
        case .pcp:
            if let answer = PCPMessage.answer(datagram) {
                handle(answer, at: now)
            } else if NATPMPMessage.refusesVersion(datagram) {
                // RFC 6887, section 9 and appendix A.
                giveUpPCP(code: PCPMessage.unsupportedVersion, at: now)
            }
        case .natPMPAddress, .natPMPMapping:
            if let answer = NATPMPMessage.answer(datagram, about: transport) { handle(answer, at: now) }
        }
    }

    /// Ends the mapping, as far as it is known. The answer is not waited for, so the request goes twice.
    public mutating func release() {
        defer { (step, due, expiry, mapping.external) = (.idle, nil, nil, nil) }
        outbox.removeAll()
        upnp.request = nil
        guard hasAsked, let client else { return }
        if mapping.method == .upnp { return endUPnPMapping() }
        let message =
            switch mapping.method {
            case .pcp:
                PCPMessage.mapRequest(
                    nonce, of: transport, client: client, internalPort: internalPort,
                    external: Self.anyAddress(of: client.family, port: 0), lifetime: 0)
            case .natPMP, .upnp:
                NATPMPMessage.mapRequest(transport, internalPort: internalPort, externalPort: 0, lifetime: 0)
            }
        for _ in 0..<2 { send(message) }
    }

    // MARK: - Requests

    mutating func begin(_ step: Step, at now: Instant) {
        self.step = step
        switch step {
        case .idle, .waiting: break
        case .pcp: mapping.method = .pcp
        case .natPMPAddress, .natPMPMapping: mapping.method = .natPMP
        case .upnpSearch, .upnpDescription, .upnpStatus, .upnpMapping: mapping.method = .upnp
        }
        transmissions = 0
        transmit(at: now)
    }

    /// Sends a message to the router's port of PCP and NAT-PMP.
    private mutating func send(_ bytes: [UInt8]) {
        guard let router = mapping.router else { return }
        // The router compares the source with the client's address in the message (RFC 6887, section 8.2). Towards a link-local
        // address the kernel would choose another one.
        outbox.append(RouterMessage(destination: router, bytes: bytes, source: asksForPinhole ? client : nil))
    }

    /// Whether the request is about an IPv6 firewall.
    var asksForPinhole: Bool { client?.family == .ipv6 }

    /// The address of a family that stands for any (RFC 6887, section 5).
    private static func anyAddress(of family: TransportAddress.Family, port: UInt16) -> TransportAddress {
        switch family {
        case .ipv4: TransportAddress(ipv4: 0, port: port)
        case .ipv6: TransportAddress(ipv6High: 0, low: 0, port: port)
        }
    }

    private mutating func transmit(at now: Instant) {
        guard let client else { return }
        let wantedPort = mapping.external?.port ?? internalPort
        switch step {
        case .idle, .waiting: return
        case .pcp:
            let unknown = Self.anyAddress(of: client.family, port: wantedPort)
            send(
                PCPMessage.mapRequest(
                    nonce, of: transport, client: client, internalPort: internalPort,
                    external: mapping.external ?? unknown, lifetime: Self.wantedLifetime))
            hasAsked = true
            due = now + Self.pcpWaits[min(transmissions, Self.pcpWaits.count - 1)]
        case .natPMPAddress, .natPMPMapping:
            if step == .natPMPAddress {
                send(NATPMPMessage.addressRequest)
            } else {
                send(
                    NATPMPMessage.mapRequest(
                        transport, internalPort: internalPort, externalPort: wantedPort,
                        lifetime: Self.wantedLifetime))
                hasAsked = true
            }
            due = now + Self.firstNATPMPWait * (1 << min(transmissions, 16))
        case .upnpSearch:
            if transmissions == 0 { upnp.wasSentElsewhere = false }
            if asksForPinhole, let router = mapping.router {
                // The service belongs to version 2. Some routers have it in a device of version 1, too.
                outbox.append(SSDPSearch.request(toIPv6Router: router, version: transmissions == 0 ? 2 : 1))
            } else {
                outbox += SSDPSearch.requests(to: mapping.router)
            }
            due = now + Self.searchWait
        case .upnpDescription, .upnpStatus, .upnpMapping: request(at: now)
        }
        transmissions += 1
    }

    // MARK: - Answers

    private mutating func handle(_ answer: PCPMessage.Answer, at now: Instant) {
        if let mapping = answer.mapping,
            mapping.nonce != nonce || mapping.protocolNumber != transport.protocolNumber
                || mapping.internalPort != internalPort
        {
            return
        }
        switch answer.code {
        case PCPMessage.success:
            guard let made = answer.mapping else { return }
            succeed(made.external, lifetime: answer.lifetime, at: now)
        case PCPMessage.unsupportedOperation: giveUpPCP(code: answer.code, at: now)
        default:
            refuse(.refused(.pcp, code: UInt16(answer.code)), for: .seconds(Int64(answer.lifetime)), at: now)
        }
    }

    /// The router does not map by PCP.
    private mutating func giveUpPCP(code: UInt8, at now: Instant) {
        guard asksForPinhole else { return begin(.natPMPAddress, at: now) }
        refuse(.refused(.pcp, code: UInt16(code)), at: now)
    }

    private mutating func handle(_ answer: NATPMPMessage.Answer, at now: Instant) {
        switch (answer, step) {
        case (.refusal(let code), _): refuse(.refused(.natPMP, code: code), at: now)
        case (.address(let host), .natPMPAddress):
            outsideHost = host
            begin(.natPMPMapping, at: now)
        case (.mapping(internalPort, let port, let lifetime), .natPMPMapping):
            guard let outsideHost else { return }
            succeed(outsideHost.withPort(port), lifetime: lifetime, at: now)
        default: break
        }
    }

    /// Takes a refusal by PCP or NAT-PMP, which lasts for `pause`. UPnP is a service of its own in most routers, with a switch of
    /// its own. With a mapping, the protocol works, and the refusal has another reason.
    private mutating func refuse(_ failure: PortMappingFailure, for pause: Duration = .zero, at now: Instant) {
        guard mapping.external == nil else { return fail(failure, for: pause, at: now) }
        refusal = (failure, now + min(pause, Self.longestPause))
        begin(.upnpSearch, at: now)
    }

    mutating func succeed(_ external: TransportAddress, lifetime: UInt32, at now: Instant) {
        let isReached = asksForPinhole ? external.family == .ipv6 && external.isGlobal : !external.isLoopback
        guard external.isUsableDestination, isReached, lifetime > 0 else { return fail(.unusableAddress, at: now) }
        let seconds = Int64(min(max(lifetime, Self.shortestLifetime), Self.longestLifetime))
        mapping.external = external
        mapping.lifetime = UInt32(seconds)
        mapping.failure = nil
        (failures, refusal) = (0, nil)
        expiry = now + .seconds(seconds)
        (step, due) = (.waiting, now + .milliseconds(seconds * 500))
    }

    /// After a failure comes a pause that grows. A mapping that is still there stays until its end, and is renewed before.
    mutating func fail(_ reason: PortMappingFailure, for wish: Duration = .zero, at now: Instant) {
        step = .waiting
        var failure = reason
        var pause = wish
        if let refusal {
            // It says more than that UPnP is off.
            if reason == .noAnswer || reason == .unusableService { failure = refusal.failure }
            pause = max(pause, refusal.until - now)
        }
        mapping.failure = failure
        if failure == .unusableAddress { (mapping.external, expiry) = (nil, nil) }
        if let expiry, expiry > now {
            due = now + max(Self.shortestRetry, .nanoseconds((expiry - now).wholeNanoseconds / 4))
            return
        }
        // Another router may speak another protocol, or this one after an update.
        mapping.method = .pcp
        let own = Self.shortestPause * (1 << min(failures, 5))
        failures += 1
        due = now + min(max(own, pause), Self.longestPause)
    }
}
