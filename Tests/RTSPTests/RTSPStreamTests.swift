import Testing
import Transport

@testable import RTSP

@Suite struct RTSPStreamTests {
    /// What a stream yields when `bytes` arrive `step` at a time; packets are given with their content.
    static func read(_ bytes: [UInt8], step: Int = .max, channels: Set<UInt8> = []) throws(RTSPError) -> [String] {
        var stream = RTSPStream()
        stream.knownChannels = channels
        var found: [String] = []
        var offset = 0
        while offset < bytes.count {
            let chunk = bytes[offset..<min(bytes.count, offset &+ min(step, bytes.count))]
            let taken = stream.receive { buffer in
                let count = min(chunk.count, buffer.count)
                buffer.copyBytes(from: chunk.prefix(count))
                return count
            }
            guard taken > 0 else { break }
            offset += taken
            while let element = try stream.next() {
                switch element {
                case .response(let response):
                    found.append(
                        "\(response.status) \(response.reason)|" + String(decoding: response.body, as: UTF8.self))
                case .request(let request):
                    found.append("\(request.method) \(request.uri)")
                case .interleaved(let channel, let range):
                    found.append("\(channel):" + stream.bytes(in: range).map { String($0) }.joined(separator: ","))
                }
            }
        }
        return found
    }

    static let packet: [UInt8] = [0x24, 0, 0, 12, 0x80, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]
    static let packetText = "0:128,96,0,1,0,0,0,2,0,0,0,3"

    @Test(arguments: [1, 2, 3, 5, 7, 1000])
    func messagesAndPacketsComeOutWhateverTheCut(step: Int) throws {
        let bytes =
            Array("RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 5\r\n\r\nhello".utf8) + Self.packet
            + Array("OPTIONS rtsp://h/ RTSP/1.0\r\nCSeq: 7\r\n\r\n".utf8) + Self.packet
        #expect(
            try Self.read(bytes, step: step) == [
                "200 OK|hello", Self.packetText, "OPTIONS rtsp://h/", Self.packetText,
            ])
    }

    @Test func aBodyThatComesByteByByteHasItsHeadReadOnce() throws {
        var stream = RTSPStream()
        /// Hands bytes in and answers how much room there was for them.
        func room(for text: String) -> Int {
            var room = 0
            stream.receive { buffer in
                room = buffer.count
                buffer.copyBytes(from: Array(text.utf8))
                return text.utf8.count
            }
            return room
        }
        _ = room(for: "RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 4\r\n\r\n")
        let early = try stream.next()
        #expect(early == nil)
        // A head that has been read is kept as a message, not as bytes to read again.
        for byte in ["$", "\r", "R"] {
            let free = room(for: byte)
            let element = try stream.next()
            #expect(free > RTSPStream.capacity - 4)
            #expect(element == nil)
        }
        _ = room(for: "zRTSP/1.0 404 No\r\n\r\n")
        let first = try stream.next()
        let second = try stream.next()
        let third = try stream.next()
        #expect(
            first
                == .response(
                    RTSPResponse(
                        status: 200, reason: "OK", headers: ["CSeq": "1", "Content-Length": "4"],
                        body: Array("$\rRz".utf8))))
        #expect(second == .response(RTSPResponse(status: 404, reason: "No")))
        #expect(third == nil)
    }

    @Test func anEmptyReasonAndBareLineFeedsAreRead() throws {
        let bytes = Array("RTSP/1.0 200\ncseq:1\ncontent-length: 2\n\nhi".utf8)
        #expect(try Self.read(bytes) == ["200 |hi"])
    }

    @Test(arguments: [1, 4, 1000])
    func garbageBetweenPacketsIsSkipped(step: Int) throws {
        // The garbage holds dollar signs: one before no packet, and one before the length of none.
        let garbage: [UInt8] = [0xFF, 0x24, 0x24, 0, 0, 0x24, 0, 0, 0, 0, 7]
        let bytes = Self.packet + garbage + Self.packet + Self.packet
        #expect(
            try Self.read(bytes, step: step, channels: [0, 1]) == [
                Self.packetText, Self.packetText, Self.packetText,
            ])
    }

    @Test func blankLinesBetweenMessagesAreNotGarbage() throws {
        var stream = RTSPStream()
        let bytes = Array("\r\n\r\nRTSP/1.0 200 OK\r\n\r\n\r\n".utf8)
        stream.receive { buffer in
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
        let first = try stream.next()
        let second = try stream.next()
        let discarded = stream.discardedBytes
        #expect(first == .response(RTSPResponse(status: 200, reason: "OK")))
        #expect(second == nil)
        #expect(discarded == 0)
    }

    @Test func theLongestPacketFits() throws {
        var content = [UInt8](repeating: 7, count: 0xFFFF)
        content[0] = 0x80
        let bytes: [UInt8] = [0x24, 0, 0xFF, 0xFF] + content
        let found = try Self.read(bytes + bytes + bytes, step: 1000)
        #expect(found.count == 3)
    }

    @Test func oversizedHeadersAndBodiesAreRefused() {
        let long = Array("RTSP/1.0 200 OK\r\nX: ".utf8) + [UInt8](repeating: 0x61, count: 20_000)
        #expect(throws: RTSPError.tooLarge(what: "headers", limit: 16 * 1024)) { try Self.read(long, step: 4096) }
        let body = Array("RTSP/1.0 200 OK\r\nContent-Length: 99999999\r\n\r\n".utf8)
        #expect(throws: RTSPError.tooLarge(what: "a body", limit: 64 * 1024)) { try Self.read(body) }
        let negative = Array("RTSP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n".utf8)
        #expect(throws: RTSPError.malformedMessage(.contentLength)) { try Self.read(negative) }
    }

    @Test func endlessGarbageEndsTheConnection() {
        let garbage = [UInt8](repeating: 0xAA, count: 2 * 1024 * 1024)
        let error = #expect(throws: RTSPError.self) { try Self.read(garbage, step: 60_000) }
        guard case .framingLost(let count) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(count > RTSPStream.maximumDiscarded && count < garbage.count)
    }

    @Test func aWebServerIsRecognised() {
        let bytes = Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)
        #expect(throws: RTSPError.self) { try Self.read(bytes) }
    }

    @Test func mutatedStreamsNeverTrap() {
        let text =
            "RTSP/1.0 401 Unauthorized\r\nCSeq: 2\r\nWWW-Authenticate: Digest realm=\"a\", nonce=\"b\"\r\n"
            + "Session: 12;timeout=30\r\nContent-Length: 4\r\n\r\nabcd"
        let corpus = Array(text.utf8) + Self.packet + Array("REDIRECT * RTSP/1.0\r\n\r\n".utf8) + Self.packet
        var random = RandomSource.seeded(11)
        for _ in 0..<2000 {
            var bytes = corpus
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: index)
                }
            }
            // Either it is read or an error says why not; both are fine, and no more comes out than went in.
            let found = (try? Self.read(bytes, step: 1 + Int.random(in: 0..<40, using: &random))) ?? []
            #expect(found.count <= bytes.count / 4 + 1)
        }
    }
}
