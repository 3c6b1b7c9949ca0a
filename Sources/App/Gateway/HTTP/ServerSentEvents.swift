import HomeHub
import NIOCore

/// The format of changes on the wire: server-sent events (HTML Living Standard, section 9.2).
enum ServerSentEvents {
    /// How long a client waits before it comes back, in milliseconds; the stream's first line.
    static let opening = "retry: 2000\n\n"

    static func encode(_ event: HomeEvent) -> String {
        guard !event.name.isEmpty else { return ": still here\n\n" }
        // An empty cursor would make the client forget the one that it has.
        let id = event.id.isEmpty ? "" : "id: \(event.id)\n"
        return "event: \(event.name)\n\(id)data: \(event.data)\n\n"
    }

    /// How many bytes are written at once, unless one event is larger.
    static let blockSize = 64 << 10

    /// Events as blocks of bytes, which are written one after the other. A single event is not copied: all watchers write
    /// the same bytes.
    static func blocks(_ events: [HomeEvent]) -> [ByteBuffer] {
        func bytes(_ event: HomeEvent) -> ByteBuffer { event.form { ByteBuffer(string: encode($0)) } }
        if events.count == 1 { return events.map(bytes) }
        var blocks: [ByteBuffer] = []
        var block = ByteBuffer()
        for event in events {
            let next = bytes(event)
            if block.readableBytes > 0, block.readableBytes + next.readableBytes > blockSize {
                blocks.append(block)
                block = ByteBuffer()
            }
            block.writeImmutableBuffer(next)
        }
        if block.readableBytes > 0 { blocks.append(block) }
        return blocks
    }
}
