import Glibc
import RTSP
import Transport

/// A camera's RTSP server on a loopback socket, byte by byte: it answers what the script says and notes what it got.
final class TestCameraServer: Sendable {
    struct Script: Sendable {
        /// The answer to a request; the CSeq is added. Nil leaves the request without an answer.
        var answer: @Sendable (RTSPRequest) -> RTSPResponse?
        /// What is sent after the answer to PLAY, one entry per write. The argument counts the connections from 0.
        var media: @Sendable (Int) -> [[UInt8]] = { _ in [] }
        /// Whether the server closes the connection after the media.
        var closes = false
    }

    /// What the server noted.
    enum Note: Sendable, Equatable {
        case request(RTSPRequest)
        case packet(channel: UInt8, [UInt8])
        case closed
    }

    let port: UInt16
    let notes: AsyncStream<Note>
    private let continuation: AsyncStream<Note>.Continuation
    private let listener: Int32
    private let isStopping = Locked(false)
    private let current = Locked<Int32>(-1)
    private let script: Script

    init(_ script: Script) throws {
        self.script = script
        (notes, continuation) = AsyncStream.makeStream()
        (listener, port) = try LoopbackSocket.listen(backlog: 4)
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<TestCameraServer>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        pthread_detach(thread)
    }

    /// Sends bytes over the connection that is open.
    func send(_ bytes: [UInt8]) { LoopbackSocket.write(bytes, to: current.withLock { $0 }) }

    /// Closes the connection that is open, as a camera does that restarts.
    func hangUp() { shutdown(current.withLock { $0 }, Int32(SHUT_RDWR)) }

    /// Ends the server; its thread ends with the connection that it serves.
    func stop() {
        isStopping.withLock { $0 = true }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func run() {
        for connection in 0..<100 {
            let descriptor = accept(listener, nil, nil)
            if descriptor < 0 || isStopping.withLock({ $0 }) { break }
            current.withLock { $0 = descriptor }
            serve(descriptor, connection)
            close(descriptor)
            continuation.yield(.closed)
        }
        close(listener)
        continuation.finish()
    }

    private func serve(_ descriptor: Int32, _ connection: Int) {
        var stream = RTSPStream()
        while true {
            let count = stream.receive { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count <= 0 { return }
            while let element = try? stream.next() {
                switch element {
                case .interleaved(let channel, let range):
                    continuation.yield(.packet(channel: channel, Array(stream.bytes(in: range))))
                case .response:
                    break
                case .request(let request):
                    continuation.yield(.request(request))
                    guard var response = script.answer(request) else { continue }
                    response.headers["CSeq"] = request.headers["CSeq"]
                    LoopbackSocket.write(response.encoded(), to: descriptor)
                    guard request.method == "PLAY", response.status == 200 else { continue }
                    for bytes in script.media(connection) { LoopbackSocket.write(bytes, to: descriptor) }
                    if script.closes { return }
                }
            }
        }
    }
}

extension TestCameraServer.Script {
    static let description = """
        v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=test\r\nt=0 0\r\na=control:*\r\n\
        m=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\na=control:video\r\n\
        m=audio 0 RTP/AVP 8\r\na=control:audio\r\n
        """

    /// A camera that does everything right.
    static func good(
        media: @escaping @Sendable (Int) -> [[UInt8]], closes: Bool = false,
        authorize: @escaping @Sendable (RTSPRequest) -> RTSPResponse? = { _ in nil }
    ) -> TestCameraServer.Script {
        TestCameraServer.Script(
            answer: { request in
                if let refusal = authorize(request) { return refusal }
                switch request.method {
                case "OPTIONS":
                    return RTSPResponse(status: 200, headers: ["Public": "OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN"])
                case "DESCRIBE":
                    return RTSPResponse(status: 200, body: Array(description.utf8))
                case "SETUP":
                    let transport = request.headers["Transport"] ?? ""
                    return RTSPResponse(status: 200, headers: ["Session": "4711;timeout=60", "Transport": transport])
                default:
                    return RTSPResponse(status: 200, reason: "OK")
                }
            }, media: media, closes: closes)
    }
}

/// A packet in the form that the stream has.
func interleaved(_ channel: UInt8, _ packet: [UInt8]) -> [UInt8] {
    [0x24, channel, UInt8(packet.count >> 8), UInt8(packet.count & 0xFF)] + packet
}
