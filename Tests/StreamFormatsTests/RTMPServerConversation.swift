import PacketFakes
import Transport

@testable import StreamFormats

/// A session of the server with what a client sends to it, as a test sees it.
struct RTMPServerConversation {
    var session: RTMPServerSession
    var events: [RTMPServerEvent] = []
    var units: [StreamUnit] = []
    var failure: RTMPServerError?
    /// What the server sent, with the handshake.
    var output: [UInt8] = []
    /// What the caller says to a client that asks to publish; nil for nothing.
    var decision: Decision? = .accept

    enum Decision {
        case accept
        case refuse(RTMPRefusal, words: String)
    }

    init(_ decision: Decision? = .accept) {
        session = RTMPServerSession(random: .seeded(3))
        self.decision = decision
    }

    /// Hands the bytes to the session in pieces, and acts on its events as the server does.
    mutating func take(_ bytes: [UInt8], pieces size: Int = .max) {
        var start = 0
        while start < bytes.count, failure == nil, session.wantsInput {
            let end = start + min(size, bytes.count - start)
            let piece = Array(bytes[start..<end])
            start = end
            var found: [StreamUnit] = []
            do throws(RTMPServerError) {
                try Self.hand(piece, to: &session) { found.append($0) }
            } catch {
                failure = error
            }
            units += found
            act()
            output += session.takeOutput()
        }
    }

    private static func hand(
        _ bytes: [UInt8], to session: inout RTMPServerSession, _ body: (StreamUnit) -> Void
    ) throws(RTMPServerError) {
        try bytes.withUnsafeBufferPointer { (piece: UnsafeBufferPointer<UInt8>) throws(RTMPServerError) in
            try session.handle(UnsafeRawBufferPointer(piece), body)
        }
    }

    private mutating func act() {
        while let event = session.pollEvent() {
            events.append(event)
            guard case .publish = event, failure == nil else { continue }
            var found: [StreamUnit] = []
            switch decision {
            case .accept:
                do throws(RTMPServerError) {
                    try session.accept { found.append($0) }
                } catch {
                    failure = error
                }
            case .refuse(let refusal, let words): session.refuse(refusal, saying: words)
            case nil: break
            }
            units += found
        }
    }

    /// The server's messages.
    var messages: [RTMPChunkReader.Message] {
        var reader = RTMPChunkReader()
        Array(output.dropFirst(3073)).withUnsafeBytes { reader.append($0) }
        var messages: [RTMPChunkReader.Message] = []
        while let message = try? reader.next() { messages.append(message) }
        return messages
    }

    /// The server's commands.
    var commands: [[AMF0Value]] {
        messages.filter { $0.type == 20 }.map { AMF0Reader.values(of: $0.bytes) }
    }

    /// The codes of the answers, in their order.
    var codes: [String] {
        commands.compactMap { values in
            values.last { if case .object = $0 { true } else { false } }?.text(of: "code")
        }
    }
}

extension RTMPPublisherBytes {
    /// A whole session of an encoder, up to the end of its stream.
    static func session(pictures: Int = 3, name: String = "yard?token=abc") -> RTMPPublisherBytes {
        var client = RTMPPublisherBytes()
        client.connect(to: "live")
        client.setChunkSize(4096)
        client.publish(name)
        client.metadata()
        client.describeVideo()
        client.describeAudio()
        for index in 0..<pictures {
            client.picture(at: UInt32(40 * index), length: 300)
            client.sound(at: UInt32(40 * index + 5))
        }
        client.unpublish(name)
        return client
    }
}
