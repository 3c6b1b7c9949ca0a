import CLinuxUDP
import COpenSSL
import Glibc

/// What relaying a packet to a viewer costs at least on this machine: one encryption and its share of one send.
///
/// The relay is judged by its distance from this floor and not by absolute figures, which differ from machine to
/// machine. The probe does nothing else that a relay must do: no header, no bookkeeping, no choice.
public struct RelayFloor: Hashable, Sendable {
    /// How many viewers took part, each with its own key and socket.
    public var viewers: Int
    /// How many packets went to a viewer with one system call.
    public var packetsPerBatch: Int
    /// Processor nanoseconds for each packet and viewer, encryption and sending together.
    public var nanosecondsPerPacket: Double
    /// The part of ``nanosecondsPerPacket`` that AES-128-GCM takes, measured without sending.
    public var encryptionNanoseconds: Double

    /// The part of ``nanosecondsPerPacket`` that sending takes, delivery into the receiver's socket included.
    public var sendNanoseconds: Double { max(0, nanosecondsPerPacket - encryptionNanoseconds) }

    /// The machine could not run the probe.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// What failed, and how.
        public var description: String
    }

    /// Measures `rounds` rounds, in each of which every viewer gets one batch, and answers their median.
    ///
    /// The payload of a packet is 1,200 bytes. The sockets are on loopback and are emptied outside the measured time.
    ///
    /// - Parameters:
    ///   - viewers: 1 to 1,000.
    ///   - packetsPerBatch: 1 to 53: as many as one super-buffer holds.
    ///   - rounds: At least 1.
    public static func measure(viewers: Int, packetsPerBatch: Int, rounds: Int) throws(Failure) -> RelayFloor {
        let viewers = min(max(viewers, 1), 1000)
        let packets = min(max(packetsPerBatch, 1), Probe.maximumPackets)
        let probe = try Probe(viewers: viewers, packetsPerBatch: packets)
        // The first rounds fill caches and the kernel's pools of buffers.
        for _ in 0..<3 { try probe.round(sending: true) }
        var whole: [Int64] = []
        var encryption: [Int64] = []
        for _ in 0..<max(rounds, 1) {
            whole.append(try probe.round(sending: true))
            encryption.append(try probe.round(sending: false))
        }
        let count = Double(viewers * packets)
        return RelayFloor(
            viewers: viewers, packetsPerBatch: packets, nanosecondsPerPacket: median(whole) / count,
            encryptionNanoseconds: median(encryption) / count)
    }

    private static func median(_ values: [Int64]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? Double(sorted[middle]) : Double(sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// The sockets, keys and buffers of one measurement.
private final class Probe {
    private static let headerSize = 12
    private static let payloadSize = 1200
    private static let tagSize = 16
    private static let datagramSize = headerSize + payloadSize + tagSize
    /// 65,507 bytes are the largest payload of a datagram, and so of a super-buffer.
    static let maximumPackets = 65_507 / datagramSize

    private struct Viewer {
        let context: OpaquePointer
        let descriptor: Int32
        var address: linux_udp_address
    }

    private let packetsPerBatch: Int
    private let sender: Int32
    private let received: OpaquePointer
    private let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: payloadSize, alignment: 64)
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 64)
    private var viewers: [Viewer] = []

    init(viewers count: Int, packetsPerBatch: Int) throws(RelayFloor.Failure) {
        self.packetsPerBatch = packetsPerBatch
        payload.initializeMemory(as: UInt8.self, repeating: 0x5A)
        output.initializeMemory(as: UInt8.self, repeating: 0)
        guard let batch = linux_udp_batch_create(64, 2048) else {
            payload.deallocate()
            output.deallocate()
            throw RelayFloor.Failure(description: "no memory for the receive buffers")
        }
        received = batch
        sender = linux_udp_socket(4)
        // Everything is stored from here on, so a failure below runs the deinitializer.
        guard sender >= 0 else { throw Self.failure("socket", sender) }
        linux_udp_set_buffers(sender, 1 << 20, 4 << 20)
        for index in 0..<count { viewers.append(try Self.viewer(index)) }
    }

    deinit {
        for viewer in viewers {
            EVP_CIPHER_CTX_free(viewer.context)
            linux_close(viewer.descriptor)
        }
        if sender >= 0 { linux_close(sender) }
        linux_udp_batch_destroy(received)
        payload.deallocate()
        output.deallocate()
    }

    /// Encrypts one batch for each viewer, sends it if asked to, and answers the processor time of that.
    @discardableResult
    func round(sending: Bool) throws(RelayFloor.Failure) -> Int64 {
        let start = threadTime()
        for index in viewers.indices {
            for packet in 0..<packetsPerBatch {
                guard encrypt(packet, for: viewers[index].context) else {
                    throw RelayFloor.Failure(description: "AES-128-GCM failed")
                }
            }
            guard sending else { continue }
            let result = linux_udp_send(
                sender, output.baseAddress, packetsPerBatch * Self.datagramSize, &viewers[index].address, nil,
                packetsPerBatch > 1 ? UInt16(Self.datagramSize) : 0)
            guard result >= 0 else { throw Self.failure("sendmsg", Int32(truncatingIfNeeded: result)) }
        }
        let end = threadTime()
        if sending { drain() }
        return end - start
    }

    private func encrypt(_ packet: Int, for context: OpaquePointer) -> Bool {
        guard let start = output.baseAddress?.advanced(by: packet * Self.datagramSize) else { return false }
        let header = start.assumingMemoryBound(to: UInt8.self)
        // The nonce must be another for each packet only where the result is used; here it is thrown away.
        var nonce: (UInt64, UInt32) = (UInt64(packet), 0)
        var count: Int32 = 0
        return withUnsafePointer(to: &nonce) { nonce in
            nonce.withMemoryRebound(to: UInt8.self, capacity: 12) { nonce in
                EVP_EncryptInit_ex(context, nil, nil, nil, nonce) == 1
            }
        } && EVP_EncryptUpdate(context, nil, &count, header, Int32(Self.headerSize)) == 1
            && EVP_EncryptUpdate(
                context, header + Self.headerSize, &count,
                payload.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(Self.payloadSize)) == 1
            && EVP_EncryptFinal_ex(context, header + Self.headerSize + Self.payloadSize, &count) == 1
            && EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagSize), header + Self.headerSize + Self.payloadSize) == 1
    }

    private func drain() {
        for viewer in viewers {
            // One call takes at most 64, and a batch is smaller: the second call is for leftovers of a late delivery.
            for _ in 0..<2 where linux_udp_receive(viewer.descriptor, received, 0).received > 0 {}
        }
    }

    private static func viewer(_ index: Int) throws(RelayFloor.Failure) -> Viewer {
        let descriptor = linux_udp_socket(4)
        guard descriptor >= 0 else { throw failure("socket (is the limit of open files too low?)", descriptor) }
        var address = linux_udp_address(high: 0, low: 0x7F00_0001, scope: 0, port: 0, family: 4)
        var result = linux_udp_bind(descriptor, &address)
        if result >= 0 { result = linux_udp_local_address(descriptor, &address) }
        linux_udp_set_buffers(descriptor, 1 << 20, 1 << 16)
        let key = (0..<16).map { UInt8(truncatingIfNeeded: $0 &+ index) }
        guard result >= 0, let context = EVP_CIPHER_CTX_new() else {
            linux_close(descriptor)
            throw failure("bind", result)
        }
        guard EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nil) == 1 else {
            EVP_CIPHER_CTX_free(context)
            linux_close(descriptor)
            throw RelayFloor.Failure(description: "OpenSSL has no AES-128-GCM")
        }
        return Viewer(context: context, descriptor: descriptor, address: address)
    }

    private static func failure(_ call: String, _ result: Int32) -> RelayFloor.Failure {
        RelayFloor.Failure(description: "\(call) failed: \(String(cString: strerror(0 &- result)))")
    }
}

/// The processor time that the calling thread has used, in nanoseconds.
private func threadTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
