import DatagramPort
import PortMapping
import Transport

/// The thread that asks the router to forward the media port.
final class PortMappingDriver: ShardHandler {
    /// How often the default route is looked at.
    private static let scanInterval = Duration.seconds(10)

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

    var nextDeadline: Instant? { min(nextScan, mapper.nextDeadline ?? nextScan) }

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
        finishTurn()
    }

    private func finishTurn() {
        while let message = mapper.pollTransmit() {
            guard let destination = mapper.mapping.router else { continue }
            message.withUnsafeBytes { bytes in
                // What cannot be sent is lost, and asked again.
                _ = context.port.send(
                    bytes, transmit: Transmit(destination: destination, byteCount: bytes.count), from: nil)
            }
        }
        changed(mapper.mapping)
    }
}
