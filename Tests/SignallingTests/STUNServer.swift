import DatagramPort
import STUN
import Transport

/// A STUN server on this host that claims to see every client at one address.
final class STUNServer: Sendable {
    let address: TransportAddress
    private let thread: ShardThread<Handler>

    init(claiming claimed: TransportAddress) throws {
        let port = try UDPPort(.loopback())
        address = TransportAddress(ipv4: 0x7F00_0001, port: port.localPort)
        thread = try ShardThread(name: "stun-server", port: port) { context in
            Handler(context: context, claimed: claimed)
        }
    }

    func close() {
        thread.stop()
        thread.join()
    }

    final class Handler: ShardHandler {
        private let context: ShardContext
        private let claimed: TransportAddress

        init(context: ShardContext, claimed: TransportAddress) {
            self.context = context
            self.claimed = claimed
        }

        var nextDeadline: Instant? { nil }

        func handleDeadline(at now: Instant) {}

        func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {
            for datagram in datagrams {
                guard let request = try? STUNMessage(parsing: UnsafeRawBufferPointer(datagram.bytes)) else { continue }
                var builder = STUNMessageBuilder(
                    into: context.sendBuffer, messageClass: .successResponse, transactionID: request.transactionID)
                builder.addMappedAddress(claimed)
                guard let count = builder.finish() else { continue }
                context.port.send(
                    UnsafeRawBufferPointer(context.sendBuffer),
                    transmit: Transmit(destination: datagram.source, byteCount: count), from: nil)
            }
        }
    }
}
