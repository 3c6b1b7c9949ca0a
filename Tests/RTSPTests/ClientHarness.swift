import Testing
import Transport

@testable import RTSP

/// A client and what its server sees, in virtual time.
final class ClientHarness {
    var client: RTSPClient
    var now = Instant.zero
    var requests: [RTSPRequest] = []
    private var server = RTSPStream()

    init(
        _ address: String = "rtsp://u:p@cam/live", keepAlive: RTSPKeepAlive? = nil, refusesBasic: Bool = false,
        hashes: Set<DigestAlgorithm> = DigestAlgorithm.available
    ) throws {
        var configuration = RTSPClient.Configuration()
        configuration.refusesBasic = refusesBasic
        configuration.keepAlive = keepAlive
        configuration.hashes = hashes
        client = RTSPClient(
            url: try RTSPURL(parsing: address), configuration: configuration, random: .seeded(1))
        client.start(at: now)
    }

    /// The client's next request.
    func request() throws -> RTSPRequest? {
        var sent: [UInt8] = []
        client.write { bytes in
            sent += bytes
            return bytes.count
        }
        server.receive { buffer in
            buffer.copyBytes(from: sent)
            return sent.count
        }
        while let element = try server.next() {
            if case .request(let request) = element { requests.append(request) }
        }
        return requests.isEmpty ? nil : requests.removeFirst()
    }

    func receive(_ bytes: [UInt8]) throws -> [RTSPClient.Event] {
        client.receive { buffer in
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
        var events: [RTSPClient.Event] = []
        while let event = try client.pollEvent(at: now) { events.append(event) }
        return events
    }

    /// Answers the client's next request, whose method must be `method`.
    func answer(
        _ method: RTSPMethod, _ status: Int = 200, _ headers: RTSPHeaders = [:], body: String = "",
        location: SourceLocation = #_sourceLocation
    ) throws -> [RTSPClient.Event] {
        let request = try #require(try request(), sourceLocation: location)
        #expect(request.method == method.rawValue, sourceLocation: location)
        var headers = headers
        headers["CSeq"] = request.headers["CSeq"]
        return try receive(
            RTSPResponse(status: status, reason: "", headers: headers, body: Array(body.utf8)).encoded())
    }

    /// Goes through the whole set-up.
    func play(methods: String = "OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER", timeout: Int = 60) throws {
        _ = try answer(.options, 200, ["Public": methods])
        _ = try answer(.describe, 200, body: "v=0\r\n")
        client.setUp(["rtsp://cam/live/1"], at: now)
        _ = try answer(.setup, 200, ["Session": "77;timeout=\(timeout)", "Transport": "RTP/AVP/TCP;interleaved=0-1"])
        let events = try answer(.play)
        #expect(events == [.playing(nil)])
    }

    /// Moves on to the client's next deadline.
    func advance() throws {
        let deadline = client.nextDeadline
        now = try #require(deadline)
        try client.handleDeadline(at: now)
    }
}
