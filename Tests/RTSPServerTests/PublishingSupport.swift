import Cameras
import DatagramPort
import Glibc
import Intake
import MediaRelay
import RTP
import RTSP
import SDP
import Signalling
import StationFakes
import Testing
import Transport

@testable import RTSPServer

/// What a published camera brings.
final class PublishedSink: CameraSink {
    struct State {
        var tracks: [TrackDescription] = []
        /// The payloads of each track's packets, in order.
        var payloads: [Int: [[UInt8]]] = [:]
        /// The tracks and times of the sender reports.
        var reports: [Int: UInt64] = [:]
        var states: [SourceState] = []
    }

    let state = Locked(State())

    private struct Inlet: PacketInlet {
        let sink: PublishedSink
        let track: Int

        func deliver(_ batch: PacketBatch) {
            sink.state.withLock { state in
                state.payloads[track, default: []] += batch.packets.map { Array(batch.payload(of: $0)) }
            }
        }
    }

    func open(_ tracks: [TrackDescription]) -> [any PacketInlet] {
        state.withLock { $0.tracks = tracks }
        return tracks.indices.map { Inlet(sink: self, track: $0) }
    }

    func handle(_ event: CameraEvent) {
        state.withLock { state in
            switch event {
            case .senderReport(let track, let ntp, _): state.reports[track] = ntp
            case .state(let new): state.states.append(new)
            default: break
            }
        }
    }

    func payloads(ofTrack track: Int) -> [[UInt8]] { state.withLock { $0.payloads[track] ?? [] } }
}

/// The publishers of one camera, without WebRTC.
actor FakePublishers: PublishingServing {
    nonisolated let source = PublishedSource()
    nonisolated let sink = PublishedSink()
    private var current: (id: String, publication: Publication, ended: @Sendable (PublisherEnd) -> Void)?
    private(set) var streams: [PublishedStream] = []
    private(set) var ends: [PublisherEnd] = []
    private var refusal: SignallingError?
    private var waits: [Duration] = []
    /// How often a server has asked to start a stream.
    private(set) var attempts = 0

    init() { source.start(sink: sink) }

    func refuse(_ error: SignallingError?) { refusal = error }

    /// Lets the next attempts fail, because the camera was taken over so recently that they have to wait this long.
    func postpone(_ waits: [Duration]) { self.waits = waits }

    func startPublishing(
        _ stream: PublishedStream, requestKeyFrame: @escaping @Sendable (Int) -> Void,
        ended: @escaping @Sendable (PublisherEnd) -> Void
    ) throws(SignallingError) -> StartedPublication {
        attempts += 1
        if let refusal { throw refusal }
        if !waits.isEmpty { throw .publishersChangeTooOften(device: stream.deviceID, wait: waits.removeFirst()) }
        end(because: .replaced)
        streams.append(stream)
        guard
            let publication = source.begin(stream.tracks, requestKeyFrame: requestKeyFrame, ended: { _ in })
        else { throw .stopped(device: stream.deviceID) }
        let id = "publisher-\(streams.count)"
        current = (id, publication, ended)
        return StartedPublication(sessionID: id, publication: publication)
    }

    func endPublishing(_ sessionID: String, because end: PublisherEnd) {
        guard let current, current.id == sessionID else { return }
        self.current = nil
        ends.append(end)
        source.end(current.publication, because: .stopped)
    }

    func endPublishers(of principal: String, unless mayPublish: @escaping @Sendable (_ deviceID: String) -> Bool) {
        if !mayPublish("phone") { end(because: .accessEnded) }
    }

    /// Something other than the publisher ends it.
    func end(because end: PublisherEnd) {
        guard let current else { return }
        self.current = nil
        ends.append(end)
        source.end(current.publication, because: .stopped)
        current.ended(end)
    }

    // What only WebRTC has.

    func requirePublishing(deviceID: String) throws(SignallingError) {}

    func startPublishing(_ request: StartLiveViewRequest) throws(SignallingError) -> StartLiveViewResponse {
        throw .unknownSession
    }

    func requirePublisher(_ session: SessionReference) throws(SignallingError) { throw .unknownSession }

    func tricklePublisher(
        _ fragment: String, _ session: SessionReference, reachedAddresses: [String]
    ) throws(SignallingError) -> TrickleResult {
        throw .unknownSession
    }

    func stopPublishing(_ session: SessionReference) throws(SignallingError) { throw .unknownSession }
}

/// A server with a camera that is published, `phone`, and one that is pulled, `door`.
final class PublishingHouse: Sendable {
    let publishers = FakePublishers()
    let mayPublish = Locked(true)
    let relay: MediaRelay
    let server: RTSPServer
    let news = Locked<[RTSPServerNews]>([])

    init(change: (inout RTSPServerConfiguration) -> Void = { _ in }) throws {
        relay = try MediaRelay(ports: try UDPPortGroup(.loopback(), count: 1))
        var configuration = try #require(
            RTSPServerConfiguration(
                host: "127.0.0.1", port: 0,
                authentication: RTSPAuthentication(passwords: ["a-token"], allowsBasic: true)))
        configuration.reportInterval = .milliseconds(50)
        // A client that waits for a processor has not gone.
        configuration.session.idleTimeout = .seconds(3_600)
        configuration.session.recordTimeout = .seconds(3_600)
        let mayPublish = mayPublish
        configuration.publishing = PublishingGate(publishers) { _, _ in mayPublish.withLock { $0 } }
        change(&configuration)
        let news = news
        server = try RTSPServer(configuration, relay: relay, report: { event in news.withLock { $0.append(event) } })
        var phone = ServedCamera(id: "phone-id", key: "phone", name: "Phone", tracks: { [] })
        phone.takesPublisher = { true }
        server.setCameras([phone, ServedCamera(id: "door", name: "Door", tracks: { [] })])
    }

    deinit {
        server.stop()
        relay.stop()
    }
}

/// A program that publishes: it speaks RTSP over one connection, with media in it.
final class PublishingClient {
    struct Answer {
        var status: Int
        var reason: String
        var head: String

        func field(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map {
                String($0.dropFirst(name.count + 2))
            }
        }
    }

    /// VP8 with and without feedback, and Opus.
    static let description = """
        v=0
        o=- 0 0 IN IP4 127.0.0.1
        s=No Name
        t=0 0
        m=audio 0 RTP/AVP 97
        a=rtpmap:97 opus/48000/2
        a=control:streamid=0
        m=video 0 RTP/AVPF 96
        a=rtpmap:96 VP8/90000
        a=rtcp-fb:96 nack pli
        a=control:streamid=1

        """

    private let descriptor: Int32
    private let base: String
    private let hasPassword: Bool
    private var sequence = 0
    private var session: String?

    /// Connects; without a password, the addresses have to say who it is.
    init(_ house: PublishingHouse, hasPassword: Bool = true) throws {
        self.hasPassword = hasPassword
        base = "rtsp://127.0.0.1:\(house.server.port)"
        descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = house.server.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        // What never comes fails the test instead of holding it for ever.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        try #require(setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size) == 0)
    }

    deinit { disconnect() }

    private var isOpen = true

    func disconnect() {
        if isOpen { close(descriptor) }
        isOpen = false
    }

    /// Whether the server closes the connection.
    func isClosedByServer() -> Bool {
        var byte: UInt8 = 0
        for _ in 0..<1_000_000 {
            let count = recv(descriptor, &byte, 1, 0)
            if count <= 0 { return count == 0 || errno == ECONNRESET }
        }
        return false
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return count == 0 || recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
    }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Asks, and throws away the reports that come before the answer.
    func ask(_ method: String, _ path: String, _ fields: [String] = [], body: String = "") throws -> Answer {
        sequence += 1
        var lines = ["\(method) \(base)/\(path) RTSP/1.0", "CSeq: \(sequence)"]
        // "me:a-token"
        if hasPassword { lines.append("Authorization: Basic bWU6YS10b2tlbg==") }
        if let session { lines.append("Session: \(session)") }
        lines += fields
        if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
        send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
        for _ in 0..<100_000 {
            let first = try #require(read(1)?.first)
            if first == UInt8(ascii: "$") {
                let header = try #require(read(3))
                _ = try #require(read(Int(header[1]) << 8 | Int(header[2])))
                continue
            }
            var head = [first]
            while !head.suffix(4).elementsEqual([13, 10, 13, 10]), head.count < 4_096 {
                head += try #require(read(1))
            }
            let text = String(decoding: head, as: UTF8.self)
            let words = text.prefix { $0 != "\r\n" }.split(separator: " ", maxSplits: 2)
            let answer = Answer(
                status: words.count > 1 ? Int(words[1]) ?? 0 : 0, reason: words.count > 2 ? String(words[2]) : "",
                head: text)
            if let named = answer.field("Session") { session = String(named.prefix { $0 != ";" }) }
            return answer
        }
        throw Broken()
    }

    struct Broken: Error {}

    /// The next packet that the server sends on a channel of the connection.
    func nextPacket() throws -> (channel: UInt8, bytes: [UInt8]) {
        let header = try #require(read(4))
        try #require(header[0] == UInt8(ascii: "$"))
        return (header[1], try #require(read(Int(header[2]) << 8 | Int(header[3]))))
    }

    func announce(_ path: String = "phone", _ description: String = PublishingClient.description) throws -> Answer {
        try ask("ANNOUNCE", path, ["Content-Type: application/sdp"], body: description)
    }

    /// Announces sound and picture, sets both up over the connection, and records.
    func publish() throws {
        try #require(try announce().status == 200)
        for (index, channels) in ["0-1", "2-3"].enumerated() {
            let answer = try ask(
                "SETUP", "phone/streamid=\(index)",
                ["Transport: RTP/AVP/TCP;unicast;interleaved=\(channels);mode=record"])
            try #require(answer.status == 200)
        }
        let answer = try ask("RECORD", "phone", ["Range: npt=0.000-"])
        try #require(answer.status == 200, "\(answer.head)")
    }

    /// Sends a packet on a channel of the connection.
    func send(_ packet: [UInt8], onChannel channel: UInt8) {
        send([UInt8(ascii: "$"), channel, UInt8(packet.count >> 8), UInt8(packet.count & 0xFF)] + packet)
    }

    /// A request to record, whose answer nobody waits for.
    var recordRequest: [UInt8] {
        Array("RECORD \(base)/phone RTSP/1.0\r\nCSeq: 999\r\nSession: \(session ?? "")\r\n\r\n".utf8)
    }

    /// An RTP packet that ends a frame.
    static func packet(
        _ payloadType: UInt8, _ number: UInt16, ssrc: UInt8 = 9, _ payload: [UInt8] = [0x10, 0x10, 0]
    ) -> [UInt8] {
        [
            0x80, 0x80 | payloadType, UInt8(number >> 8), UInt8(number & 0xFF), 0, 0, 0, UInt8(number & 0xFF), 0, 0, 0,
            ssrc,
        ]
            + payload
    }

    /// A sender report (RFC 3550, section 6.4.1).
    static func senderReport(ssrc: UInt8 = 9, seconds: UInt8) -> [UInt8] {
        [0x80, 200, 0, 6, 0, 0, 0, ssrc, 0, 0, 0, seconds] + [UInt8](repeating: 0, count: 16)
    }
}

/// The types and formats of the packets in a compound RTCP packet.
func controlPackets(in bytes: [UInt8]) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var place = 0
    while place + 4 <= bytes.count {
        found.append([bytes[place + 1], bytes[place] & 0x1F])
        place += (Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])) * 4 + 4
    }
    return found
}
