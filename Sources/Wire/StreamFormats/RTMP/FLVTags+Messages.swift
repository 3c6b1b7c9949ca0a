extension FLVTags {
    /// The part of a tag in front of its content.
    private static let headerLength = 11

    /// Takes a message of RTMP that holds video, sound or data, or several of them. Others have no effect.
    mutating func take(
        _ message: RTMPChunkReader.Message, within allowance: inout UnitAllowance, _ body: (StreamUnit) -> Void
    ) {
        if message.type == 22 { return takeAggregate(message, within: &allowance, body) }
        guard let kind = Kind(rawValue: message.type) else { return }
        message.bytes.withUnsafeBytes { take(kind, $0, timestamp: message.timestamp, within: &allowance, body) }
    }

    /// Several tags in one message (Adobe RTMP Specification 1.0, section 7.1.6).
    private mutating func takeAggregate(
        _ message: RTMPChunkReader.Message, within allowance: inout UnitAllowance, _ body: (StreamUnit) -> Void
    ) {
        var offset = 0
        var first: UInt32?
        let bytes = message.bytes
        while bytes.count - offset >= Self.headerLength, !allowance.isExceeded {
            let length = Int(bytes[offset + 1]) << 16 | Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
            var time = UInt32(bytes[offset + 7]) << 24
            time |= UInt32(bytes[offset + 4]) << 16 | UInt32(bytes[offset + 5]) << 8 | UInt32(bytes[offset + 6])
            let start = offset + Self.headerLength
            guard bytes.count - start >= length else { return }
            let begin = first ?? time
            first = begin
            if let kind = Kind(rawValue: bytes[offset]) {
                let timestamp = message.timestamp &+ (time &- begin)
                bytes[start..<start + length].withUnsafeBytes {
                    take(kind, $0, timestamp: timestamp, within: &allowance, body)
                }
            }
            offset = start + length + 4
        }
    }
}
