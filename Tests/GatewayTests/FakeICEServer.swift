import DatagramPort
import STUN
import TURN
import Transport

/// A STUN and TURN server on this host, over UDP. It knows the user `viewer` with the password `secret`.
final class FakeICEServer: Sendable {
    /// Where it says that it relays.
    static let relayed = TransportAddress(ipv4: 0xCB00_7101, port: 50_000)

    let address: TransportAddress
    private let received: Locked<[UInt16]>
    private let thread: ShardThread<Handler>

    /// - Parameters:
    ///   - isSilent: whether it reads everything and answers nothing.
    ///   - alternate: the server that it names instead of relaying (RFC 8656, section 7.4); nil for one that relays.
    init(isSilent: Bool = false, redirectingTo alternate: TransportAddress? = nil) throws {
        let port = try UDPPort(.loopback())
        address = TransportAddress(ipv4: 0x7F00_0001, port: port.localPort)
        let received = Locked<[UInt16]>([])
        self.received = received
        thread = try ShardThread(name: "ice-server", port: port) { context in
            Handler(context: context, received: received, isSilent: isSilent, alternate: alternate)
        }
    }

    /// The methods of the requests that have come.
    var methods: [UInt16] { received.withLock { $0 } }

    func close() {
        thread.stop()
        thread.join()
    }

    final class Handler: ShardHandler {
        private let context: ShardContext
        private let received: Locked<[UInt16]>
        private let isSilent: Bool
        private let alternate: TransportAddress?

        init(context: ShardContext, received: Locked<[UInt16]>, isSilent: Bool, alternate: TransportAddress?) {
            self.context = context
            self.received = received
            self.isSilent = isSilent
            self.alternate = alternate
        }

        var nextDeadline: Instant? { nil }

        func handleDeadline(at now: Instant) {}

        func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {
            for datagram in datagrams {
                guard let request = try? STUNMessage(parsing: UnsafeRawBufferPointer(datagram.bytes)) else { continue }
                let method = request.method
                received.withLock { $0.append(method) }
                guard !isSilent, let count = answer(request, datagram.source) else { continue }
                context.port.send(
                    UnsafeRawBufferPointer(context.sendBuffer),
                    transmit: Transmit(destination: datagram.source, byteCount: count), from: nil)
            }
        }

        private func answer(_ request: STUNMessage, _ client: TransportAddress) -> Int? {
            if request.method == STUNMessage.bindingMethod {
                var builder = STUNMessageBuilder(
                    into: context.sendBuffer, messageClass: .successResponse, transactionID: request.transactionID)
                builder.addMappedAddress(client)
                return builder.finish()
            }
            if let alternate { return redirect(request, to: alternate) }
            var key = Self.key()
            let isKnown = request.hasMessageIntegrity && request.hasValidIntegrity(&key)
            var builder = STUNMessageBuilder(
                into: context.sendBuffer, messageClass: isKnown ? .successResponse : .errorResponse,
                method: request.method, transactionID: request.transactionID)
            guard isKnown else {
                builder.addErrorCode(401)
                Array("gatehouse.test".utf8).withUnsafeBytes { builder.addAttribute(STUNAttributeType.realm, $0) }
                Array("nonce".utf8).withUnsafeBytes { builder.addAttribute(STUNAttributeType.nonce, $0) }
                return builder.finish()
            }
            builder.addAddress(TURN.Attribute.xorRelayedAddress, FakeICEServer.relayed)
            builder.addMappedAddress(client)
            builder.addInteger(TURN.Attribute.lifetime, 600 as UInt32)
            builder.addMessageIntegrity(&key)
            return builder.finish()
        }

        private func redirect(_ request: STUNMessage, to alternate: TransportAddress) -> Int? {
            var builder = STUNMessageBuilder(
                into: context.sendBuffer, messageClass: .errorResponse, method: request.method,
                transactionID: request.transactionID)
            builder.addErrorCode(300)
            // ALTERNATE-SERVER (RFC 8489, section 14.15): IPv4, the port, and the address.
            let host = UInt32(truncatingIfNeeded: alternate.low)
            var value: [UInt8] = [0, 1, UInt8(alternate.port >> 8), UInt8(alternate.port & 0xFF)]
            withUnsafeBytes(of: host.bigEndian) { value += Array($0) }
            value.withUnsafeBytes { builder.addAttribute(0x8023, $0) }
            return builder.finish()
        }

        /// The MD5 of `viewer:gatehouse.test:secret`.
        private static func key() -> MessageIntegrityKey {
            let digest: [UInt8] = [
                0x32, 0x0A, 0x71, 0x31, 0x9C, 0x60, 0x99, 0x46, 0x5A, 0xE1, 0xFB, 0x07, 0x2D, 0x5A, 0x5F, 0x45,
            ]
            var key = MessageIntegrityKey()
            digest.withUnsafeBytes { key = MessageIntegrityKey($0) }
            return key
        }
    }
}
