import CLinuxUDP
import COpenSSL
import DatagramPort
import Glibc
import Transport

/// The least that relaying a packet to a viewer costs on this machine: one AES-128-GCM encryption and its share of one
/// send of a frame.
///
/// The relay is judged by its distance from this floor and not by absolute figures, which differ from machine to
/// machine. The probe does nothing else that a relay has to do: no header, no bookkeeping, no decisions.
final class RelayFloor {
    static let tagSize = 16

    private struct Viewer {
        let context: OpaquePointer
        var address: linux_udp_address
    }

    private let headerSize: Int
    private let payloadSize: Int
    private let datagramSize: Int
    private let packetsPerFrame: Int
    private let sender: Int32
    private let payload: UnsafeMutableRawBufferPointer
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 64)
    private let drain: DrainingPort
    private var viewers: [Viewer] = []

    init(viewers: [TransportAddress], frame: BenchmarkFrame, headerSize: Int, drain: DrainingPort) throws {
        self.drain = drain
        self.headerSize = headerSize
        self.payloadSize = frame.payloadSize
        self.packetsPerFrame = frame.packets
        datagramSize = headerSize + frame.payloadSize + Self.tagSize
        payload = .allocate(byteCount: frame.payloadSize * frame.packets, alignment: 64)
        payload.initializeMemory(as: UInt8.self, repeating: 0x5A)
        output.initializeMemory(as: UInt8.self, repeating: 0)
        sender = linux_udp_socket(4)
        guard sender >= 0 else { throw Self.failure("socket", sender) }
        linux_udp_set_buffers(sender, 1 << 20, 4 << 20)
        for (index, address) in viewers.enumerated() { self.viewers.append(try Self.viewer(index, address)) }
    }

    deinit {
        for viewer in viewers { EVP_CIPHER_CTX_free(viewer.context) }
        if sender >= 0 { linux_close(sender) }
        payload.deallocate()
        output.deallocate()
    }

    /// Encrypts one frame for each viewer with one of these numbers and sends it. Returns the processor time that this
    /// took, in nanoseconds.
    func forwardFrame(to numbers: Range<Int>) throws -> Int64 {
        let start = ProcessorClock.thread - drain.processorTime
        for index in numbers {
            for packet in 0..<packetsPerFrame {
                guard encrypt(packet, for: viewers[index].context) else {
                    throw BenchmarkFailure("AES-128-GCM failed")
                }
            }
            let result = linux_udp_send(
                sender, output.baseAddress, packetsPerFrame * datagramSize, &viewers[index].address, nil,
                packetsPerFrame > 1 ? UInt16(datagramSize) : 0)
            guard result >= 0 else { throw Self.failure("sendmsg", Int32(truncatingIfNeeded: result)) }
            drain.recordSend()
        }
        return ProcessorClock.thread - drain.processorTime - start
    }

    private func encrypt(_ packet: Int, for context: OpaquePointer) -> Bool {
        guard let start = output.baseAddress?.advanced(by: packet * datagramSize) else { return false }
        let header = start.assumingMemoryBound(to: UInt8.self)
        // Each packet needs a different nonce only if the result is used. Here it is dropped.
        var nonce: (UInt64, UInt32) = (UInt64(packet), 0)
        var count: Int32 = 0
        return withUnsafePointer(to: &nonce) { nonce in
            nonce.withMemoryRebound(to: UInt8.self, capacity: 12) { nonce in
                EVP_EncryptInit_ex(context, nil, nil, nil, nonce) == 1
            }
        } && EVP_EncryptUpdate(context, nil, &count, header, Int32(headerSize)) == 1
            && EVP_EncryptUpdate(
                context, header + headerSize, &count,
                payload.baseAddress?.advanced(by: packet * payloadSize).assumingMemoryBound(to: UInt8.self),
                Int32(payloadSize)) == 1
            && EVP_EncryptFinal_ex(context, header + headerSize + payloadSize, &count) == 1
            && EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagSize), header + headerSize + payloadSize) == 1
    }

    private static func viewer(_ index: Int, _ address: TransportAddress) throws -> Viewer {
        let key = (0..<16).map { UInt8(truncatingIfNeeded: $0 &+ index) }
        guard let context = EVP_CIPHER_CTX_new() else { throw BenchmarkFailure("no memory for a cipher") }
        guard EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nil) == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw BenchmarkFailure("OpenSSL has no AES-128-GCM")
        }
        return Viewer(
            context: context,
            address: linux_udp_address(
                high: address.high, low: address.low, scope: 0, port: address.port, family: address.family.rawValue))
    }

    private static func failure(_ call: String, _ result: Int32) -> BenchmarkFailure {
        BenchmarkFailure("\(call) failed: \(String(cString: strerror(0 &- result)))")
    }
}
