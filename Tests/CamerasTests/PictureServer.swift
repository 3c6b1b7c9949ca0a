import Codecs
import Glibc
import Transport

/// A camera's HTTP server on a loopback socket, byte by byte: it answers each request with what the script says.
final class PictureServer: Sendable {
    /// What follows a request.
    struct Answer: Sendable {
        /// What is sent, one entry per write.
        var writes: [[UInt8]]
        /// Whether the connection stays open afterwards, until the client closes it.
        var staysOpen = false
        /// For so many milliseconds the server waits for another connection before it answers; see
        /// ``PictureServer/simultaneous``.
        var hesitation: Int32 = 0

        init(_ text: String, _ more: [[UInt8]] = [], staysOpen: Bool = false) {
            writes = [Array(text.utf8)] + more
            self.staysOpen = staysOpen
        }
    }

    let port: UInt16
    /// The heads of the requests.
    let heard = Locked<[String]>([])
    /// How often another connection was made before a hesitant answer.
    let simultaneous = Locked(0)
    private let listener: Int32
    private let isStopping = Locked(false)
    private let answer: @Sendable (_ head: String, _ number: Int) -> Answer

    /// A server that answers with `answer`, which gets the request's head and its number from 0.
    init(_ answer: @escaping @Sendable (_ head: String, _ number: Int) -> Answer) throws {
        self.answer = answer
        (listener, port) = try LoopbackSocket.listen(backlog: 16)
        guard startDetachedThread(name: "picture-server", { [self] in run() }) else { throw LoopbackSocket.Failure() }
    }

    /// Ends the server; its thread ends with the connection that it serves.
    func stop() {
        isStopping.withLock { $0 = true }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func run() {
        for number in 0..<10_000 {
            let descriptor = accept(listener, nil, nil)
            if descriptor < 0 || isStopping.withLock({ $0 }) { break }
            serve(descriptor, number)
            close(descriptor)
        }
        close(listener)
    }

    private func serve(_ descriptor: Int32, _ number: Int) {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.reversed().starts(with: Array("\n\r\n\r".utf8)), head.count < 16_384 {
            guard recv(descriptor, &byte, 1, 0) == 1 else { return }
            head.append(byte)
        }
        let text = String(decoding: head, as: UTF8.self)
        heard.withLock { $0.append(text) }
        let answer = answer(text, number)
        if answer.hesitation > 0 { hesitate(answer.hesitation) }
        for bytes in answer.writes {
            guard LoopbackSocket.write(bytes, to: descriptor) else { return }
        }
        if answer.staysOpen { while recv(descriptor, &byte, 1, 0) == 1 {} }
    }

    private func hesitate(_ milliseconds: Int32) {
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, milliseconds) > 0, !isStopping.withLock({ $0 }) else { return }
        simultaneous.withLock { $0 += 1 }
    }
}

extension PictureServer {
    /// A picture of one shade.
    static func picture(luma: UInt8 = 90, width: Int = 64, height: Int = 48) -> [UInt8] {
        var frame = I420Frame(width: width, height: height)
        for index in frame.luma.indices { frame.luma[index] = luma }
        return (try? JPEGEncoder.encode(frame)) ?? []
    }

    /// A series whose boundary is another one than announced, with lengths that are wrong or missing.
    static func series(_ pictures: [[UInt8]], staysOpen: Bool = true) -> Answer {
        let heads = ["Content-Length: 7\r\n", "", "Content-Length: 90000\r\nX-Timestamp: 1.5\r\n"]
        let parts = pictures.enumerated().map { index, picture in
            Array("\r\n--other\r\nContent-Type: image/jpeg\r\n\(heads[index % heads.count])\r\n".utf8) + picture
        }
        return Answer(
            "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=frame\r\n\r\n", parts,
            staysOpen: staysOpen)
    }

    /// One picture.
    static func single(_ picture: [UInt8]) -> Answer {
        Answer("HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: \(picture.count)\r\n\r\n", [picture])
    }
}
