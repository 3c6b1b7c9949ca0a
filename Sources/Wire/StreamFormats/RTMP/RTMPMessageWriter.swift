/// What one side of RTMP has to send: its messages, in chunks of 128 bytes, which is their length unless something else is
/// agreed on (Adobe RTMP Specification 1.0, section 5.3).
struct RTMPMessageWriter: Sendable {
    private var output: [UInt8] = []
    /// The other side asks for answers and does not read them. What does not fit is left out.
    private(set) var isFull = false

    private static let chunkSize = 128
    private static let maximumOutput = 1 << 16

    /// Takes what has to be sent.
    mutating func take() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Writes bytes of the handshake.
    mutating func write(_ bytes: some Sequence<UInt8>) { output += bytes }

    /// Writes a command.
    mutating func command(_ values: [AMF0Value], stream: UInt32) {
        send(type: 20, stream: stream, values.encoded)
    }

    /// Writes a message whose content is a number: 3 acknowledges, 5 states the window of acknowledgements.
    mutating func control(_ type: UInt8, _ value: UInt32) { send(type: type, stream: 0, Self.bytes(of: value)) }

    /// Writes the answer to a message of type 4, where that is a ping (section 7.1.7).
    mutating func answerPing(_ bytes: [UInt8]) {
        guard bytes.count >= 6, bytes[0] == 0, bytes[1] == 6 else { return }
        send(type: 4, stream: 0, [0, 7] + bytes[2..<6])
    }

    /// Writes a message.
    mutating func send(type: UInt8, stream: UInt32, _ bytes: [UInt8]) {
        guard output.count < Self.maximumOutput else {
            isFull = true
            return
        }
        let channel: UInt8 = type == 20 ? 3 : 2
        output += [channel, 0, 0, 0]
        output += Self.bytes(of: UInt32(truncatingIfNeeded: bytes.count))[1...]
        output.append(type)
        // The only number of RTMP whose lowest byte comes first.
        output += Self.bytes(of: stream).reversed()
        for start in stride(from: 0, to: bytes.count, by: Self.chunkSize) {
            if start > 0 { output.append(0xC0 | channel) }
            output += bytes[start..<min(start + Self.chunkSize, bytes.count)]
        }
    }

    static func bytes(of value: UInt32) -> [UInt8] {
        [UInt32(24), 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
