import DTLS
import DatagramPort
import Foundation
import FoundationNetworking
import ICE
import PeerConnection
import RTP
import SDP
import Transport

// Watches a camera of any WHEP server for some seconds, and prints what comes.
//
//     swift run whep-player http://127.0.0.1:8080/whep/front-door TOKEN 5
//
// Four parts: an offer (SDP), its answer (HTTP), a connection that does no I/O (PeerConnection), and the loop that lends
// it a socket and a clock.

/// Posts an offer (WHEP draft, section 4.2) and returns the answer with the session's address.
func post(_ offer: String, to url: URL, token: String) throws -> (answer: String, session: URL?) {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data(offer.utf8)
    request.setValue("application/sdp", forHTTPHeaderField: "Content-Type")
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var result: (Data?, URLResponse?, (any Error)?)  // Written before the signal, read after it.
    URLSession.shared.dataTask(with: request) {
        result = ($0, $1, $2); done.signal()
    }.resume()
    done.wait()
    if let error = result.2 { throw error }
    let text = String(decoding: result.0 ?? Data(), as: UTF8.self)
    guard let response = result.1 as? HTTPURLResponse, response.statusCode == 201 else { throw WHEPFailure(text: text) }
    let location = response.value(forHTTPHeaderField: "Location")
    return (text, location.flatMap { URL(string: $0, relativeTo: url) })
}

struct WHEPFailure: Error { var text: String }

/// Sends what a connection wants to send, and reads its events. Returns why it failed, once it has.
func drain(
    _ connection: inout PeerConnection, _ port: UDPPort, _ output: UnsafeMutableRawBufferPointer, at now: Instant
) -> String? {
    while let transmit = connection.pollTransmit(into: output, at: now) {
        port.send(UnsafeRawBufferPointer(output), transmit: transmit, from: connection.transmitSource)
    }
    var failure: String?
    while let event = connection.pollEvent() {
        if case .failed(let reason) = event { failure = "the connection failed: \(reason)" }
    }
    return failure
}

func watch(_ url: URL, token: String, for duration: Duration) throws -> String {
    var random = RandomSource.system
    let identity = try DTLSIdentity.generate()
    let credentials = ICECredentials(using: &random)
    let port = try UDPPort()
    let addresses = hostAddresses(HostAddressFilter()).map { $0.address.withPort(port.localPort) }

    // Offer: one m-line of video that is only received, with our ICE, DTLS and addresses.
    let offerer = LiveViewOfferer(
        viewing: LocalTransportDescription(
            credentials: credentials, identity: identity, addresses: ICEAddresses(hosts: addresses)),
        talks: false, audioCodecs: [], sessionID: random.next() >> 2, ssrc: 1, cname: "whep-player")
    let posted = MonotonicClock.now
    let (text, session) = try post(offerer.offer().encoded(), to: url, token: token)
    let agreed = try offerer.accept(answer: SessionDescription(parsing: text))
    guard let video = agreed.media.first, let format = FrameAssembler.Format(named: video.codec.name) else {
        return "the camera sends no video"
    }

    var connection = try PeerConnection(
        configuration: PeerConnectionConfiguration(
            agreed, as: .offerer, credentials: credentials, addresses: ICEAddresses(hosts: addresses),
            identity: identity),
        random: .system, now: posted)

    // The loop: read datagrams, let deadlines act, send what is due.
    var assembler = FrameAssembler(format: format)
    var frames = 0
    var first: Duration?
    let buffers = try DatagramBuffers()
    let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    defer { output.deallocate() }
    let end = posted + duration
    while MonotonicClock.now < end {
        var descriptors = port.descriptors.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        poll(&descriptors, UInt(descriptors.count), 5)
        let now = MonotonicClock.now
        for (family, _) in port.descriptors {
            guard let datagrams = port.receive(family, into: buffers) else { continue }
            for datagram in datagrams {
                let received = connection.handle(
                    datagram.bytes, from: datagram.source, to: datagram.destination, at: now)
                // What the connection has to say is taken before the next datagram.
                if let failure = drain(&connection, port, output, at: now) { return failure }
                guard case .rtp(let count) = received,
                    let packet = try? RTPPacketView(
                        parsing: UnsafeRawBufferPointer(rebasing: datagram.bytes[..<count])),
                    video.receivePayloadTypes[packet.payloadType] != nil
                else { continue }
                assembler.insert(
                    sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                    payload: packet.payload, at: now)
            }
        }
        while assembler.nextFrame(at: now) != nil {
            frames += 1
            first = first ?? (now - posted)
        }
        connection.handleDeadline(at: now)
        if let failure = drain(&connection, port, output, at: now) { return failure }
    }
    if let session {
        var request = URLRequest(url: session)
        request.httpMethod = "DELETE"
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let done = DispatchSemaphore(value: 0)
        URLSession.shared.dataTask(with: request) { _, _, _ in done.signal() }.resume()
        done.wait()
    }
    return "\(frames) frames of \(video.codec.name); the first after \(first?.inMilliseconds ?? 0) ms"
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let url = URL(string: arguments[1]), let seconds = Double(arguments[3]) else {
    print("usage: whep-player ADDRESS TOKEN SECONDS")
    exit(2)
}
do {
    print(try watch(url, token: arguments[2], for: .seconds(seconds)))
} catch {
    print("whep-player: \(error)")
    exit(1)
}
