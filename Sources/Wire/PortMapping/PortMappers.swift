public import HTTPMedia
public import Transport

/// Keeps a router forwarding the media port, and the TCP port of media if there is one.
///
/// The router is asked about one port at a time, because a simple one may not take requests side by side: about the TCP port
/// after it has mapped the media port, and by the protocol that has worked. From then on each port has a life of its own.
///
/// It is driven as a ``PortMapper`` is.
public struct PortMappers: Sendable {
    private var media: PortMapper
    private var tcp: PortMapper?
    /// Whether the last request of ``pollRequest()`` was about the TCP port.
    private var asksAboutTCP = false

    /// Makes mappers that know no router yet.
    /// - Parameters:
    ///   - mediaPort: the UDP port of this host.
    ///   - tcpPort: its TCP port; nil for none.
    public init(mediaPort: UInt16, tcpPort: UInt16?, random: RandomSource) {
        var random = random
        media = PortMapper(internalPort: mediaPort, random: .derived(from: &random))
        if let tcpPort { tcp = PortMapper(internalPort: tcpPort, transport: .tcp, random: .derived(from: &random)) }
    }

    /// What is known now.
    public var mappings: PortMappings {
        var mappings = PortMappings()
        mappings.media = media.mapping
        mappings.tcp = tcp?.mapping
        return mappings
    }

    /// Changes the router; see ``PortMapper/setRouter(_:client:at:)``.
    public mutating func setRouter(_ router: TransportAddress?, client: TransportAddress?, at now: Instant) {
        let before = (media.mapping.router, media.client)
        media.setRouter(router, client: client, at: now)
        if before != (media.mapping.router, media.client) { tcp?.setRouter(nil, client: nil, at: now) }
    }

    /// When to call ``handleDeadline(at:)``; nil for never.
    public var nextDeadline: Instant? { [media.nextDeadline, tcp?.nextDeadline].compactMap { $0 }.min() }

    /// The next datagram to send; nil if there is none.
    public mutating func pollTransmit() -> RouterMessage? { media.pollTransmit() ?? tcp?.pollTransmit() }

    /// The next HTTP request to make; nil if there is none. Its outcome goes to ``handle(response:at:)`` before the next request.
    public mutating func pollRequest() -> RouterMessage? {
        asksAboutTCP = !media.hasRequest
        return media.pollRequest() ?? tcp?.pollRequest()
    }

    /// Whether ``pollRequest()`` has a request.
    public var hasRequest: Bool { media.hasRequest || tcp?.hasRequest == true }

    /// Sends what is due, or gives a request up.
    public mutating func handleDeadline(at now: Instant) {
        media.handleDeadline(at: now)
        tcp?.handleDeadline(at: now)
        continueWithTCP(at: now)
    }

    /// Takes a datagram. Each mapper knows what is about its port.
    public mutating func handle(_ datagram: UnsafeRawBufferPointer, from source: TransportAddress, at now: Instant) {
        media.handle(datagram, from: source, at: now)
        tcp?.handle(datagram, from: source, at: now)
        continueWithTCP(at: now)
    }

    /// Takes the outcome of the last request of ``pollRequest()``.
    /// - Parameter response: nil if it failed, or was not answered in time.
    public mutating func handle(response: HTTPResponse?, at now: Instant) {
        if asksAboutTCP { tcp?.handle(response: response, at: now) } else { media.handle(response: response, at: now) }
        continueWithTCP(at: now)
    }

    /// Ends the mappings, as far as they are known.
    public mutating func release() {
        media.release()
        tcp?.release()
    }

    private mutating func continueWithTCP(at now: Instant) {
        guard media.mapping.external != nil, tcp?.mapping.router == nil else { return }
        tcp?.follow(media, at: now)
    }
}
