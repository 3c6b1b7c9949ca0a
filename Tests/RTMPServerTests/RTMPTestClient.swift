import Glibc
import PacketFakes
import Testing
import Transport

@testable import StreamFormats

/// A client that sends what a test has written, and reads what the server says. It waits on its thread.
final class RTMPTestClient: Sendable {
    /// What the server says about a stream.
    struct Status: Equatable {
        var code: String
        var words: String
    }

    private let socket: Int32
    private let received = Locked<[UInt8]>([])
    /// Far more than the server needs on a busy machine.
    private static let patience = 120

    init(to port: UInt16) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var timeout = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
    }

    deinit { close(socket) }

    /// Sends bytes; false if the connection has gone.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[offset...])
                return Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            offset += count
        }
        return true
    }

    /// Ends what the client sends.
    func finish() { shutdown(socket, Int32(SHUT_WR)) }

    /// Reads until the server has said something with this code, or to the end of the connection.
    func statuses(until code: String? = nil) -> [Status] {
        while code == nil || !all.contains(where: { $0.code == code }) {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            received.withLock { $0 += buffer[..<count] }
        }
        return all
    }

    private var all: [Status] {
        let bytes = received.withLock { Array($0.dropFirst(3073)) }
        var reader = RTMPChunkReader()
        bytes.withUnsafeBytes { reader.append($0) }
        var found: [Status] = []
        while let message = try? reader.next() {
            guard message.type == 20, let last = AMF0Reader.values(of: message.bytes).last,
                let code = last.text(of: "code")
            else { continue }
            found.append(Status(code: code, words: last.text(of: "description") ?? ""))
        }
        return found
    }
}

extension RTMPPublisherBytes {
    /// An encoder that has asked to publish.
    static func asking(_ name: String = "yard?token=right") -> RTMPPublisherBytes {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        client.publish(name)
        return client
    }

    /// What an encoder sends then: the description of its tracks, and some of both.
    static func media(video: Bool = true, audio: Bool = true, from start: UInt32 = 0) -> [UInt8] {
        var client = RTMPPublisherBytes(handshake: false)
        client.metadata(video: video, audio: audio)
        if video { client.describeVideo() }
        if audio { client.describeAudio() }
        for index in 0..<5 as Range<UInt32> {
            if video { client.picture(at: start + 40 * index, length: 400) }
            if audio { client.sound(at: start + 40 * index + 3) }
        }
        return client.bytes
    }
}
