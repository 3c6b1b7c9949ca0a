import CLinuxUDP
import Glibc
import Synchronization
import Transport

/// One bound socket of one family. It is closed with its last reference.
final class UDPSocket: Sendable {
    let descriptor: Int32
    let localAddress: TransportAddress
    /// Whether several datagrams go to the kernel in one call. It is switched off for good when the kernel refuses
    /// once.
    let segmentsInKernel: Atomic<Bool>
    /// The `errno` of the first refused segmentation; 0 before any refusal.
    let segmentationError = Atomic<Int32>(0)
    let segmentationRefused: (@Sendable (SegmentationRefusal) -> Void)?

    /// - Parameter joins: Whether other sockets have this address, which were opened for sharing (``share()``).
    init(
        bindingTo address: TransportAddress, configuration: UDPPort.Configuration, joins: Bool = false
    ) throws(SystemCallError) {
        let descriptor = try SystemCallError.check(
            linux_udp_socket(address.family.rawValue), "socket", "cannot open a UDP socket for \(address)")
        var requested = linux_udp_address(address)
        var bound = linux_udp_address()
        do throws(SystemCallError) {
            if joins { try Self.share(descriptor, address) }
            _ = try SystemCallError.check(
                linux_udp_bind(descriptor, &requested), "bind",
                "cannot bind UDP \(address) (choose another media port, or stop the program that uses this one)")
            _ = try SystemCallError.check(
                linux_udp_local_address(descriptor, &bound), "getsockname", "cannot read the address of UDP \(address)")
        } catch {
            linux_close(descriptor)
            throw error
        }
        linux_udp_set_buffers(
            descriptor, Int32(clamping: configuration.receiveBufferSize),
            Int32(clamping: configuration.sendBufferSize))
        self.descriptor = descriptor
        self.segmentationRefused = configuration.segmentationRefused
        self.localAddress = TransportAddress(bound)
        self.segmentsInKernel = Atomic(
            configuration.usesSegmentationOffload && linux_udp_supports_segmentation(descriptor))
    }

    /// Lets further sockets have this address.
    func share() throws(SystemCallError) {
        try Self.share(descriptor, localAddress)
    }

    private static func share(_ descriptor: Int32, _ address: TransportAddress) throws(SystemCallError) {
        _ = try SystemCallError.check(
            linux_udp_share(descriptor), "setsockopt", "cannot open UDP \(address) for several threads")
    }

    deinit {
        linux_close(descriptor)
    }
}
