import DatagramPort
import Glibc
import Testing
import Transport

@Suite struct TransportAddressSocketsTests {
    @Test(arguments: [
        TransportAddress(ipv4: 0xC000_0201, port: 8554),
        TransportAddress(ipv6High: 0x2001_0DB8 << 32, low: 1, port: 554),
        TransportAddress(ipv6High: 0xFE80 << 48, low: 1, port: 1, scope: 3),
    ])
    func `an address keeps everything on its way through a socket call`(address: TransportAddress) {
        let same = address.withSocketAddress { pointer, _ in TransportAddress(socketAddress: pointer) }
        #expect(same == address)
        let family = address.withSocketAddress { pointer, _ in Int32(pointer.pointee.sa_family) }
        #expect(family == address.socketFamily)
    }

    @Test func `a call that fails, or that names another family, gives no address`() {
        #expect(TransportAddress.filled { _, _ in -1 } == nil)
        let local = TransportAddress.filled { address, _ in
            address.pointee.sa_family = sa_family_t(AF_UNIX)
            return 0
        }
        #expect(local == nil)
    }
}
