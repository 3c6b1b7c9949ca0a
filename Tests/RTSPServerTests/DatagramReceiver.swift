import Glibc
import RTP
import Testing

/// A client's end of a track that comes in datagrams.
struct DatagramReceiver: Sendable {
    let media: (descriptor: Int32, port: UInt16)
    let control: (descriptor: Int32, port: UInt16)

    init() throws { (media, control) = try PublishingTests.datagramPair() }

    /// The header field of a SETUP.
    var transport: String { "Transport: RTP/AVP;unicast;client_port=\(media.port)-\(control.port)" }

    /// Waits for the end of the track. Returns whether it came.
    func waitForGoodbye() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 2_048)
        for _ in 0..<1_000 {
            let count = recv(control.descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            let isGoodbye = buffer[..<count].withUnsafeBytes { bytes in
                RTCPPackets(bytes).contains { if case .goodbye = $0 { true } else { false } }
            }
            if isGoodbye { return true }
        }
        return false
    }

    /// The packets that have come.
    func packets() -> [(timestamp: UInt32, sequence: UInt16)] {
        var packets: [(timestamp: UInt32, sequence: UInt16)] = []
        var buffer = [UInt8](repeating: 0, count: 2_048)
        while case let count = recv(media.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
            buffer[..<count].withUnsafeBytes { bytes in
                guard let view = try? RTPPacketView(parsing: bytes) else { return }
                packets.append((view.timestamp, view.sequenceNumber))
            }
        }
        return packets
    }

    func close() {
        Glibc.close(media.descriptor)
        Glibc.close(control.descriptor)
    }
}
