import DatagramPort
import Foundation
import MediaRelay
import RTP
import SDP
import SRTP
import STUN
import Transport

// Receives a VP8 stream by SRTP (RFC 3711), hands it to a relay, and counts what a reader of the relay gets. The relay
// also asks a STUN server at which address it is seen from outside.
//
//     swift run srtp-listener KEY PORT SECONDS [STUN-SERVER]
//
//     ffmpeg -re -f lavfi -i testsrc=size=320x240:rate=15 -c:v libvpx -g 15 -f rtp \
//         -srtp_out_suite AES_CM_128_HMAC_SHA1_80 -srtp_out_params KEY srtp://127.0.0.1:PORT
//
// KEY is the master key and salt, 30 bytes in Base64 (RFC 4568). A viewer would be added to the relay beside the reader.

/// One stream on its way from SRTP packets to the batches of a relay's track.
struct Stream: ~Copyable {
    var receiver: SRTPReceiver
    var pool = PacketBatchPool()
    let inlet: TrackInlet
    var refused = 0
    private var isKeyFrame = false

    init(key: [UInt8], inlet: TrackInlet) throws(SRTPError) {
        let profile = SRTPProfile.aes128CMHMACSHA1_80
        receiver = try SRTPReceiver(
            profile: profile, masterKey: Array(key[..<profile.masterKeyLength]),
            masterSalt: Array(key[profile.masterKeyLength...]))
        self.inlet = inlet
    }

    mutating func take(_ datagram: UnsafeMutableRawBufferPointer, at now: Instant) {
        guard let plain = try? receiver.unprotectRTP(datagram),
            let packet = try? RTPPacketView(
                parsing: UnsafeRawBufferPointer(rebasing: datagram[..<plain.payload.upperBound]))
        else {
            refused += 1
            return
        }
        var flags: PacketBatch.Flags = packet.marker ? [.marker] : []
        if VP8.isFrameStart(payload: packet.payload) {
            flags.insert(.startsFrame)
            isKeyFrame = VP8.isKeyFrameStart(payload: packet.payload)
        }
        if isKeyFrame { flags.insert(.keyFrame) }
        pool.append(
            PacketBatch.Packet(
                offset: 0, length: 0, timestamp: packet.timestamp, sequenceNumber: packet.sequenceNumber,
                payloadType: packet.payloadType, flags: flags), payload: packet.payload)
        // A batch is what comes at once, usually a frame.
        if packet.marker, let batch = pool.finish(arrival: now) { inlet.deliver(batch) }
    }
}

func listen(key: [UInt8], at portNumber: UInt16, for duration: Duration, stun: TransportAddress?) throws -> String {
    let port = try UDPPort(.loopback(port: portNumber))
    let relay = try MediaRelay(ports: UDPPortGroup(.init(), count: 1))
    defer { relay.stop() }
    if let stun { relay.setSTUNServers([stun]) }
    let codec = MediaCodec(name: "VP8", clockRate: 90_000)
    let inlets = relay.setTracks(
        camera: "stream", [RelayTrackDescription(isVideo: true, codec: codec, requestKeyFrame: {})])
    var stream = try Stream(key: key, inlet: inlets[0])
    let queue = TapQueue(limits: .init(duration: .seconds(2), overflow: .refuse))
    relay.addTap(queue.makeTap(resumesAtKeyFrame: true), to: TrackID(camera: "stream", index: 0))

    let buffers = try DatagramBuffers()
    var entries: [TapQueue.Entry] = []
    var (frames, keyFrames) = (0, 0)
    let end = MonotonicClock.now + duration
    while MonotonicClock.now < end {
        var descriptors = port.descriptors.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        poll(&descriptors, UInt(descriptors.count), 20)
        for (family, _) in port.descriptors {
            guard let datagrams = port.receive(family, into: buffers) else { continue }
            for datagram in datagrams { stream.take(datagram.bytes, at: MonotonicClock.now) }
        }
        _ = queue.take(into: &entries)
        for case .batch(let tapped) in entries.map(\.event) {
            frames += 1
            if tapped.batch.startsKeyFrame { keyFrames += 1 }
        }
        entries.removeAll()
    }
    let outside = relay.outsideAddresses.map(\.description).joined(separator: ", ")
    return "\(frames) frames, \(keyFrames) of them key frames; \(stream.refused) packets refused; seen at "
        + (outside.isEmpty ? "no address from outside" : outside)
}

let arguments = CommandLine.arguments
guard arguments.count == 4 || arguments.count == 5, let key = Base64.decode(arguments[1]), key.count == 30,
    let port = UInt16(arguments[2]), let seconds = Double(arguments[3])
else {
    print("usage: srtp-listener KEY PORT SECONDS [STUN-SERVER]")
    exit(2)
}
do {
    let server = arguments.count == 5 ? ICEServerURL(arguments[4]) : nil
    let stun = server.flatMap { TransportAddress($0.host, port: $0.port) }
    print(try listen(key: key, at: port, for: .seconds(seconds), stun: stun))
} catch {
    print("srtp-listener: \(error)")
    exit(1)
}
