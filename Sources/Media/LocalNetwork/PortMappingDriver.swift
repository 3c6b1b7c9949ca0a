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
    private var mappers: PortMappers
    private var nextScan = Instant.zero

    init(
        context: ShardContext, mediaPort: UInt16, tcpPort: UInt16?,
        router: @escaping @Sendable () -> DefaultRouter?, changed: @escaping @Sendable (PortMappings) -> Void
    ) {
        self.context = context
        self.router = router
        self.changed = changed
        mappers = PortMappers(mediaPort: mediaPort, tcpPort: tcpPort, random: .system)
    }

    var nextDeadline: Instant? {
        mappers.hasRequest ? .zero : min(nextScan, mappers.nextDeadline ?? nextScan)
    }

    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {
        for datagram in datagrams {
            mappers.handle(UnsafeRawBufferPointer(datagram.bytes), from: datagram.source, at: now)
        }
        finishTurn()
    }

    func handleDeadline(at now: Instant) {
        if nextScan <= now {
            nextScan = now + Self.scanInterval
            let found = router()?.address
            mappers.setRouter(found, client: found.flatMap { ownAddress(towards: $0) }, at: now)
        }
        mappers.handleDeadline(at: now)
        finishTurn()
    }

    func handleStop(at now: Instant) {
        mappers.release()
        sendDatagrams()
        // One for each port.
        while let last = mappers.pollRequest() { _ = HTTPExchange.run(last, within: Self.lastRequestTimeout) }
        changed(mappers.mappings)
    }

    private func finishTurn() {
        sendDatagrams()
        // One in each turn: a stop waits for one answer of a slow router, and not for all.
        if let request = mappers.pollRequest() {
            let response = HTTPExchange.run(request, within: Self.requestTimeout)
            mappers.handle(response: response, at: MonotonicClock.now)
            sendDatagrams()
        }
        changed(mappers.mappings)
    }

    private func sendDatagrams() {
        while let message = mappers.pollTransmit() {
            message.bytes.withUnsafeBytes { bytes in
                // What cannot be sent is lost, and asked again.
                _ = context.port.send(
                    bytes, transmit: Transmit(destination: message.destination, byteCount: bytes.count), from: nil)
            }
        }
    }
}
