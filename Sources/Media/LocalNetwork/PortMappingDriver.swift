import DatagramPort
import PortMapping
import Transport

/// The thread that asks the router to forward the ports of media. It has nothing else to do, so it waits for the router's HTTP
/// answers.
final class PortMappingDriver: ShardHandler {
    /// How often the default route is looked at.
    private static let scanInterval = Duration.seconds(10)
    /// How long an HTTP request to the router may take, and each of the last ones, for which the process waits.
    private static let requestTimeout = Duration.seconds(3)
    private static let lastRequestTimeout = Duration.seconds(1)

    private let context: ShardContext
    private let changed: @Sendable (PortMappings) -> Void
    private let router: @Sendable () -> DefaultRouter?
    private let ipv6Router: @Sendable () -> IPv6Router?
    private var mappers: PortMappers
    /// Ask the IPv6 router.
    private var pinholes: PortMappers
    private var nextScan = Instant.zero

    init(
        context: ShardContext, mediaPort: UInt16, tcpPort: UInt16?,
        router: @escaping @Sendable () -> DefaultRouter?, ipv6Router: @escaping @Sendable () -> IPv6Router?,
        changed: @escaping @Sendable (PortMappings) -> Void
    ) {
        self.context = context
        self.router = router
        self.ipv6Router = ipv6Router
        self.changed = changed
        mappers = PortMappers(mediaPort: mediaPort, tcpPort: tcpPort, random: .system)
        pinholes = PortMappers(mediaPort: mediaPort, tcpPort: tcpPort, random: .system)
    }

    var nextDeadline: Instant? {
        mappers.hasRequest || pinholes.hasRequest
            ? .zero : min(nextScan, mappers.nextDeadline ?? nextScan, pinholes.nextDeadline ?? nextScan)
    }

    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {
        for datagram in datagrams {
            let bytes = UnsafeRawBufferPointer(datagram.bytes)
            mappers.handle(bytes, from: datagram.source, at: now)
            pinholes.handle(bytes, from: datagram.source, at: now)
        }
        finishTurn()
    }

    func handleDeadline(at now: Instant) {
        if nextScan <= now {
            nextScan = now + Self.scanInterval
            let found = router()?.address
            mappers.setRouter(found, client: found.flatMap { ownAddress(towards: $0) }, at: now)
            let ipv6 = ipv6Router()
            pinholes.setRouter(ipv6?.address, client: ipv6?.client, at: now)
        }
        mappers.handleDeadline(at: now)
        pinholes.handleDeadline(at: now)
        finishTurn()
    }

    func handleStop(at now: Instant) {
        mappers.release()
        pinholes.release()
        sendDatagrams()
        Self.makeLastRequests(of: &mappers)
        Self.makeLastRequests(of: &pinholes)
        changed(mappings)
    }

    /// Makes one request for each port. The process waits for the answers, so a router that does not answer is not
    /// asked again.
    private static func makeLastRequests(of mappers: inout PortMappers) {
        while let last = mappers.pollRequest(), HTTPExchange.run(last, within: lastRequestTimeout) != nil {}
    }

    private func finishTurn() {
        sendDatagrams()
        // One in each turn: a stop waits for one answer of a slow router, and not for all.
        if let request = mappers.pollRequest() {
            let response = HTTPExchange.run(request, within: Self.requestTimeout)
            mappers.handle(response: response, at: MonotonicClock.now)
            sendDatagrams()
        } else if let request = pinholes.pollRequest() {
            let response = HTTPExchange.run(request, within: Self.requestTimeout)
            pinholes.handle(response: response, at: MonotonicClock.now)
            sendDatagrams()
        }
        changed(mappings)
    }

    private var mappings: PortMappings {
        var mappings = mappers.mappings
        let known = pinholes.mappings
        (mappings.pinhole, mappings.tcpPinhole) = (known.media, known.tcp)
        return mappings
    }

    private func sendDatagrams() {
        while let message = mappers.pollTransmit() ?? pinholes.pollTransmit() {
            message.bytes.withUnsafeBytes { bytes in
                // What cannot be sent is lost, and asked again.
                if message.destination.isMulticast {
                    // The search for the router's UPnP service: the group is a constant of the mapper.
                    _ = context.port.send(bytes, toGroup: message.destination)
                } else {
                    _ = context.port.send(
                        bytes, transmit: Transmit(destination: message.destination, byteCount: bytes.count),
                        from: message.source)
                }
            }
        }
    }
}
