import DatagramPort
import PortMapping
import Transport

/// The thread that asks the router to forward the media port. It has nothing else to do, so it waits for the router's HTTP answers.
final class PortMappingDriver: ShardHandler {
    /// How often the default route is looked at.
    private static let scanInterval = Duration.seconds(10)
    /// How long an HTTP request to the router may take, and the last one, for which the process waits.
    private static let requestTimeout = Duration.seconds(3)
    private static let lastRequestTimeout = Duration.seconds(1)

    private let context: ShardContext
    private let changed: @Sendable (PortMapping) -> Void
    private let router: @Sendable () -> DefaultRouter?
    private var mapper: PortMapper
    private var nextScan = Instant.zero

    init(
        context: ShardContext, internalPort: UInt16, router: @escaping @Sendable () -> DefaultRouter?,
        changed: @escaping @Sendable (PortMapping) -> Void
    ) {
        self.context = context
        self.router = router
        self.changed = changed
        mapper = PortMapper(internalPort: internalPort, random: .system)
    }

    var nextDeadline: Instant? {
        mapper.hasRequest ? .zero : min(nextScan, mapper.nextDeadline ?? nextScan)
    }

    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {
        for datagram in datagrams {
            mapper.handle(UnsafeRawBufferPointer(datagram.bytes), from: datagram.source, at: now)
        }
        finishTurn()
    }

    func handleDeadline(at now: Instant) {
        if nextScan <= now {
            nextScan = now + Self.scanInterval
            let found = router()?.address
            mapper.setRouter(found, client: found.flatMap { ownAddress(towards: $0) }, at: now)
        }
        mapper.handleDeadline(at: now)
        finishTurn()
    }

    func handleStop(at now: Instant) {
        mapper.release()
        sendDatagrams()
        if let last = mapper.pollRequest() { _ = HTTPExchange.run(last, within: Self.lastRequestTimeout) }
        changed(mapper.mapping)
    }

    private func finishTurn() {
        sendDatagrams()
        // One in each turn: a stop waits for one answer of a slow router, and not for all.
        if let request = mapper.pollRequest() {
            let response = HTTPExchange.run(request, within: Self.requestTimeout)
            mapper.handle(response: response, at: MonotonicClock.now)
            sendDatagrams()
        }
        changed(mapper.mapping)
    }

    private func sendDatagrams() {
        while let message = mapper.pollTransmit() {
            message.bytes.withUnsafeBytes { bytes in
                // What cannot be sent is lost, and asked again.
                _ = context.port.send(
                    bytes, transmit: Transmit(destination: message.destination, byteCount: bytes.count), from: nil)
            }
        }
    }
}
