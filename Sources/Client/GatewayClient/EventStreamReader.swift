import HomeTypes

/// Reads the text of an event stream as it arrives (HTML Living Standard, section 9.2.6).
public struct EventStreamReader: Sendable {
    /// A part of a stream.
    public enum Item: Sendable, Hashable {
        case event(GatewayEvent)
        /// A comment. The gateway sends it so that the connection is not silent.
        case comment
    }

    /// A gateway sends events of a few kilobytes. An event that is larger than this is treated as endless.
    static let limit = 16 << 20

    /// The beginning of a line whose end has not arrived.
    private var rest: [UInt8] = []
    private var name: String?
    private var id: String?
    private var data: String?
    /// The bytes of the event that is being read.
    private var size = 0

    /// Begins a stream.
    public init() {}

    /// Reads what has arrived. A part may end inside an event, and inside a character.
    /// - Throws: `internal` when an event is larger than 16 MiB.
    public mutating func read(_ bytes: some Sequence<UInt8>) throws(HomeError) -> [Item] {
        var items: [Item] = []
        let searched = rest.count
        rest += bytes
        var start = 0
        while let end = rest[max(start, searched)...].firstIndex(of: 10) {
            if let item = readLine(rest[start..<end]) { items.append(item) }
            start = end + 1
        }
        rest.removeFirst(start)
        guard size + rest.count <= Self.limit else {
            throw .internal("the event stream sends an event that never ends")
        }
        return items
    }

    private mutating func readLine(_ bytes: ArraySlice<UInt8>) -> Item? {
        let bytes = bytes.last == 13 ? bytes.dropLast() : bytes
        guard !bytes.isEmpty else { return finishEvent() }
        size += bytes.count
        let line = String(decoding: bytes, as: UTF8.self)
        guard let colon = line.firstIndex(of: ":") else { return nil }
        var value = line[line.index(after: colon)...]
        if value.first == " " { value.removeFirst() }
        switch line[..<colon] {
        case "": return .comment
        case "event": name = String(value)
        case "id": id = value.isEmpty ? nil : String(value)
        case "data": data = data.map { $0 + "\n" + value } ?? String(value)
        default: break
        }
        return nil
    }

    private mutating func finishEvent() -> Item? {
        defer { (name, id, data, size) = (nil, nil, nil, 0) }
        guard let name, let data else { return nil }
        return .event(GatewayEvent(name: name, id: id, data: data))
    }
}
