import CLinuxUDP
import Glibc
import Testing
import Transport

@testable import DatagramPort

@Suite("A UDP port")
struct UDPPortTests {
    let port: UDPPort
    let peer: UDPPort
    let buffers: DatagramBuffers

    init() throws {
        port = try UDPPort()
        peer = try UDPPort(.loopback())
        buffers = try DatagramBuffers(capacity: 16)
    }

    @Test("has the same number on both families")
    func bindsBothFamilies() throws {
        #expect(port.localPort != 0)
        #expect(!port.localAddresses.isEmpty)
        #expect(port.localAddresses.allSatisfy { $0.port == port.localPort && $0.isUnspecified })
        #expect(Set(port.localAddresses.map(\.family)).count == port.localAddresses.count)
        #expect(peer.localAddresses.allSatisfy { $0.isLoopback })
    }

    @Test("has large buffers")
    func hasLargeBuffers() {
        // The least that a kernel with the usual limits grants (212,992); most grant the 4 MiB that were asked for.
        #expect(port.bufferSizes.receive >= 200_000)
        #expect(port.bufferSizes.send >= 200_000)
    }

    @Test("names a port that is in use")
    func reportsTakenPort() throws {
        let error = #expect(throws: SystemCallError.self) { try UDPPort(UDPPort.Configuration(port: port.localPort)) }
        #expect(error?.errorNumber == EADDRINUSE)
        #expect(error?.call == "bind")
        #expect(error.map { "\($0)" }?.contains(":\(port.localPort) ") == true)
    }

    @Test("passes on what arrives, with where it came from and where it went to", arguments: [4, 6] as [UInt8])
    func receives(version: UInt8) throws {
        let family = try #require(TransportAddress.Family(rawValue: version))
        guard port.socket(for: family) != nil, peer.socket(for: family) != nil else { return }
        #expect(peer.send([1, 2, 3], to: port.loopback(family)) == .sent)
        let received = port.collect(1, family, buffers: buffers)
        #expect(
            received == [
                StoredDatagram(bytes: [1, 2, 3], source: peer.loopback(family), destination: port.loopback(family))
            ])
        #expect(port.send([4], to: received[0].source, from: received[0].destination) == .sent)
        #expect(peer.collect(1, family, buffers: buffers).first?.source == port.loopback(family))
        #expect(port.counters.datagramsReceived == 1 && port.counters.bytesReceived == 3)
        #expect(port.counters.datagramsSent == 1 && port.counters.bytesSent == 1)
    }

    @Test("answers from the address that was asked")
    func choosesSourceAddress() throws {
        let second = TransportAddress(ipv4: 0x7F00_0002, port: port.localPort)
        peer.send([1], to: second)
        let received = try #require(port.collect(1, buffers: buffers).first)
        #expect(received.destination == second)
        port.send([2], to: received.source, from: received.destination)
        #expect(peer.collect(1, buffers: buffers).first?.source == second)
        // The same for a run of datagrams.
        port.send(pattern(25), to: received.source, segmentSize: 10, from: received.destination)
        #expect(peer.collect(3, buffers: buffers).map(\.source) == [second, second, second])
        // A local address of the other family or none at all leaves the choice to the kernel.
        port.send([3], to: received.source, from: port.loopback(.ipv6))
        port.send([4], to: received.source, from: TransportAddress(ipv4: 0, port: 0))
        #expect(peer.collect(2, buffers: buffers).map(\.source) == [port.loopback(), port.loopback()])
    }

    @Test("lets the receiver change the bytes in place")
    func givesMutableBytes() throws {
        peer.send([1, 2, 3], to: port.loopback())
        var waiting = pollfd(fd: try #require(port.ipv4).descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&waiting, 1, 120_000) == 1)
        let batch = try #require(port.receive(.ipv4, into: buffers))
        batch[0].bytes[1] = 9
        #expect(Array(batch[0].bytes) == [1, 9, 3])
        #expect(batch.count == 1)
    }

    @Test(
        "cuts a run into datagrams of one size, the last one shorter",
        arguments: [(10_000, 1200), (1201, 1200), (2400, 1200), (100 * 100 + 7, 100), (66_000, 1100), (40_000, 39_000)])
    func sendsRuns(count: Int, segmentSize: Int) throws {
        let large = try DatagramBuffers(capacity: 16, datagramSize: 65_536)
        let bytes = pattern(count)
        #expect(peer.send(bytes, to: port.loopback(), segmentSize: segmentSize) == .sent)
        let expected = (count + segmentSize - 1) / segmentSize
        let received = port.collect(expected, buffers: large)
        #expect(received.count == expected)
        #expect(received.dropLast().allSatisfy { $0.bytes.count == segmentSize })
        #expect(received.flatMap(\.bytes) == bytes)
        #expect(peer.counters.datagramsSent == expected)
        #expect(peer.counters.bytesSent == count)
        #expect(peer.counters.datagramsDropped == 0)
    }

    @Test("uses one system call for a run if the kernel can cut it, and a plain one for a single datagram")
    func usesSegmentation() throws {
        guard peer.segmentsInKernel(.ipv4) else { return }
        peer.send(pattern(100), to: port.loopback(), segmentSize: 100)
        #expect(peer.counters.segmentedSends == 0)
        peer.send(pattern(800), to: port.loopback(), segmentSize: 100)
        #expect(peer.counters.segmentedSends == 1)
        // 64 datagrams are the most for one call; the 65th is sent by itself and needs no cutting.
        peer.send(pattern(6500), to: port.loopback(), segmentSize: 100)
        #expect(peer.counters.segmentedSends == 2)
        #expect(peer.counters.datagramsSent == 1 + 8 + 65)
        #expect(port.collect(74, buffers: buffers).count == 74)
    }

    @Test("sends singly for good, and says so once, after the kernel has refused to cut")
    func fallsBack() throws {
        let refusals = Locked<[SegmentationRefusal]>([])
        var configuration = UDPPort.Configuration.loopback()
        configuration.segmentationRefused = { refusal in refusals.withLock { $0.append(refusal) } }
        let peer = try UDPPort(configuration)
        guard peer.segmentsInKernel(.ipv4) else { return }
        // Without a checksum to fill in, the kernel cannot cut: it answers EINVAL.
        let socket = try #require(peer.ipv4)
        #expect(linux_udp_set_checksum(socket.descriptor, false) == 0)
        let bytes = pattern(1000)
        #expect(peer.send(bytes, to: port.loopback(), segmentSize: 300) == .sent)
        #expect(port.collect(4, buffers: buffers).flatMap(\.bytes) == bytes)
        #expect(!peer.segmentsInKernel(.ipv4))
        let expected = SegmentationRefusal(localAddress: socket.localAddress, errorNumber: EINVAL)
        #expect(refusals.withLock { $0 } == [expected])
        #expect("\(expected)" == "UDP 127.0.0.1:\(peer.localPort): Invalid argument")
        #expect(linux_udp_set_checksum(socket.descriptor, true) == 0)
        #expect(peer.send(bytes, to: port.loopback(), segmentSize: 300) == .sent)
        #expect(port.collect(4, buffers: buffers).flatMap(\.bytes) == bytes)
        #expect(!peer.segmentsInKernel(.ipv4))
        #expect(peer.counters.segmentedSends == 0)
        #expect(peer.counters.datagramsSent == 8 && peer.counters.datagramsDropped == 0)
    }

    @Test("keeps cutting runs for others when one viewer's local address is gone")
    func keepsSegmentingForOthers() throws {
        guard port.segmentsInKernel(.ipv6) else { return }
        // An address that is not this host's is as invalid (EINVAL) to the kernel as a run that it cannot cut.
        let gone = try #require(TransportAddress("2001:db8::7", port: 1))
        #expect(
            port.send(pattern(1000), to: peer.loopback(.ipv6), segmentSize: 300, from: gone) == .dropped(EINVAL))
        #expect(port.counters.invalid == 4)
        #expect(port.segmentsInKernel(.ipv6))
        #expect(port.counters.segmentedSends == 0)
        #expect(port.send(pattern(1000), to: peer.loopback(.ipv6), segmentSize: 300) == .sent)
        #expect(peer.collect(4, .ipv6, buffers: buffers).count == 4)
        #expect(port.counters.segmentedSends == 1)
    }

    @Test("refuses what cannot be sent before any system call")
    func refusesUnusable() throws {
        for host in ["255.255.255.255", "224.0.0.251", "0.0.0.0", "0.0.0.9", "240.0.0.1", "::", "ff02::1"] {
            let destination = try #require(TransportAddress(host, port: 9))
            #expect(port.send([1], to: destination) == .refused)
        }
        #expect(port.send([1], to: port.loopback().withPort(0)) == .refused)
        #expect(port.send([], to: peer.loopback()) == .refused)
        #expect(port.send([1], to: peer.loopback(), segmentSize: 0) == .refused)
        #expect(port.send([1], to: peer.loopback(), segmentSize: -5) == .refused)
        let overlong = Transmit(destination: peer.loopback(), byteCount: 3)
        #expect([UInt8(1), 2].withUnsafeBytes { port.send($0, transmit: overlong) } == .refused)
        #expect(port.counters.refusedSends == 12)
        #expect(port.counters.datagramsDropped == 0)
    }

    @Test("is not harmed by destinations that the kernel refuses")
    func survivesErrors() throws {
        // A broadcast address cannot be distinguished from a host's by its digits: the kernel forbids it.
        let broadcast = TransportAddress(ipv4: 0x7FFF_FFFF, port: 9)
        #expect(port.send([1], to: broadcast) == .dropped(EACCES))
        #expect(port.send([UInt8](repeating: 0, count: 65_508), to: peer.loopback()) == .dropped(EMSGSIZE))
        // Which error a local address that is not this host's gives depends on the routes.
        let gone = TransportAddress(ipv4: 0xCB00_7107, port: 1)
        #expect([.dropped(EINVAL), .dropped(ENETUNREACH)].contains(port.send([1], to: peer.loopback(), from: gone)))
        // Nobody listens there: the answer from the network must not come back as an error of this port.
        let closed = try UDPPort(.loopback())
        let nobody = closed.loopback()
        _ = consume closed
        port.send([1], to: nobody)
        let counters = port.counters
        #expect(counters.notPermitted == 1 && counters.messageTooLong == 1)
        #expect(counters.invalid + counters.unreachable == 1)
        #expect(counters.datagramsDropped == 3)
        #expect(port.send([7], to: peer.loopback()) == .sent)
        #expect(peer.collect(1, buffers: buffers).map(\.bytes) == [[7]])
        peer.send([8], to: port.loopback())
        #expect(port.collect(1, buffers: buffers).map(\.bytes) == [[8]])
        #expect(port.counters.receiveErrors == 0)
    }

    @Test("sends the rest of a run when one datagram of it fails")
    func sendsTheRest() throws {
        let configuration = {
            var configuration = UDPPort.Configuration.loopback()
            configuration.usesSegmentationOffload = false
            return configuration
        }()
        let single = try UDPPort(configuration)
        #expect(!single.segmentsInKernel(.ipv4))
        // The first datagram is larger than UDP allows, the second is not.
        #expect(single.send(pattern(65_600), to: port.loopback(), segmentSize: 65_590) == .dropped(EMSGSIZE))
        #expect(port.collect(1, buffers: buffers).map(\.bytes) == [Array(pattern(65_600).suffix(10))])
        #expect(single.counters.datagramsSent == 1 && single.counters.messageTooLong == 1)
    }

    @Test("drops datagrams that do not fit or are empty, and passes on the others")
    func dropsUnusableDatagrams() throws {
        let small = try DatagramBuffers(capacity: 8, datagramSize: 100)
        peer.send(pattern(101), to: port.loopback())
        peer.send(pattern(100), to: port.loopback())
        let socket = try #require(peer.ipv4)
        var destination = linux_udp_address(port.loopback())
        #expect(linux_udp_send(socket.descriptor, [0], 0, &destination, nil, 0) == 0)
        peer.send(pattern(1), to: port.loopback())
        #expect(port.collect(2, buffers: small).map(\.bytes) == [pattern(100), pattern(1)])
        #expect(port.counters.datagramsReceived == 4)
        #expect(port.counters.datagramsTruncated == 1)
        #expect(port.counters.bytesReceived == 101)
    }

    @Test("reads waiting datagrams in batches of the buffers' capacity, in order")
    func receivesBatches() throws {
        let four = try DatagramBuffers(capacity: 4)
        peer.send(Array(0..<10), to: port.loopback(), segmentSize: 1)
        #expect(port.collect(10, buffers: four).flatMap(\.bytes) == Array(0..<10))
        #expect(port.receive(.ipv4, into: four) == nil)
    }

    @Test("reads runs in one message, and gives their datagrams one by one", arguments: [4, 6] as [UInt8])
    func receivesRuns(version: UInt8) throws {
        let family = try #require(TransportAddress.Family(rawValue: version))
        guard peer.segmentsInKernel(family), port.socket(for: family) != nil else { return }
        port.receiveRuns()
        let runs = try DatagramBuffers.forRuns(capacity: 2)
        let bytes = pattern(5 * 1200 + 7)
        peer.send(bytes, to: port.loopback(family), segmentSize: 1200)
        peer.send([9], to: port.loopback(family))
        let received = port.collect(7, family, buffers: runs)
        #expect(received.map(\.bytes.count) == [1200, 1200, 1200, 1200, 1200, 7, 1])
        #expect(received.dropLast().flatMap(\.bytes) == bytes)
        #expect(received.allSatisfy { $0.source == peer.loopback(family) && $0.destination == port.loopback(family) })
        #expect(port.counters.datagramsReceived == 7 && port.counters.bytesReceived == 6008)
        #expect(port.counters.datagramsTruncated == 0)
    }

    @Test("a run longer than the buffers' entries loses only its end")
    func cutsLongRuns() throws {
        guard peer.segmentsInKernel(.ipv4) else { return }
        port.receiveRuns()
        // Without room for runs, the first datagram of a run has an entry and the others do not.
        let single = try DatagramBuffers(capacity: 1, datagramSize: 65_536)
        peer.send(pattern(30), to: port.loopback(), segmentSize: 10)
        #expect(port.collect(1, buffers: single).map(\.bytes) == [Array(pattern(30).prefix(10))])
        #expect(port.counters.datagramsTruncated == 1)
    }

    @Test("counts what the kernel dropped because nobody read it")
    func countsKernelDrops() throws {
        var configuration = UDPPort.Configuration.loopback()
        configuration.receiveBufferSize = 1
        let slow = try UDPPort(configuration)
        for _ in 0..<40 { peer.send(pattern(1000), to: slow.loopback()) }
        #expect(slow.counters.receiveBufferDrops > 0)
        #expect(peer.counters.datagramsDropped == 0)
    }
}
