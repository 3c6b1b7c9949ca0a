import ICE
import NetworkSimulator
import PeerConnection
import STUN
import Testing
import Transport

@testable import MediaRelay

/// What the owner of a session can send from addresses that are not its own.
extension RelayWorld {
    /// A valid check of a session, as its owner can make it and send it from any address that it can forge.
    func check(of peer: RelayedPeer, number: UInt64) throws -> [UInt8] {
        let (mine, relay) = (peer.configuration.localCredentials, peer.configuration.remoteCredentials)
        var key = MessageIntegrityKey(relay.password)
        var bytes = [UInt8](repeating: 0, count: STUN.sufficientBufferSize)
        let count = bytes.withUnsafeMutableBytes { buffer -> Int? in
            var builder = STUNMessageBuilder(
                into: buffer, messageClass: .request, transactionID: STUNTransactionID(high: 7, low: number))
            builder.addUsername(Array((relay.usernameFragment + ":" + mine.usernameFragment).utf8))
            builder.addPriority(0x6E00_00FF)
            builder.addControlling(tieBreaker: .max)
            builder.addUseCandidate()
            builder.addMessageIntegrity(&key)
            builder.addFingerprint()
            return builder.finish()
        }
        return Array(bytes.prefix(try #require(count)))
    }

    /// Lets the relay receive a datagram from an address.
    func forge(_ bytes: [UInt8], from source: TransportAddress) {
        host.receive(
            SimulatedDatagram(bytes: bytes, source: source, destination: host.addresses[0], arrival: now))
    }
}
