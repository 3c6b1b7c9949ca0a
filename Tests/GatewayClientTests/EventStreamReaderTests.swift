import GatewayClient
import HomeTypes
import Testing

@Suite struct EventStreamReaderTests {
    static let stream = """
        retry: 2000

        event: device
        data: {"id":"d1","name":"Tür"}

        event: device
        id: log-1-7
        data: {"id":"d2"}

        : still here

        event: deviceRemoved
        id: log-1-8
        data: {"deviceID":"d1"}


        """

    static let items: [EventStreamReader.Item] = [
        .event(GatewayEvent(name: "device", data: #"{"id":"d1","name":"Tür"}"#)),
        .event(GatewayEvent(name: "device", id: "log-1-7", data: #"{"id":"d2"}"#)),
        .comment,
        .event(GatewayEvent(name: "deviceRemoved", id: "log-1-8", data: #"{"deviceID":"d1"}"#)),
    ]

    @Test func `a stream reads the same however it is cut into parts`() throws {
        let bytes = Array(Self.stream.utf8)
        for size in 1...bytes.count {
            var reader = EventStreamReader()
            var items: [EventStreamReader.Item] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                items += try reader.read(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(items == Self.items, "in parts of \(size) bytes")
        }
    }

    @Test func `lines may end as HTTP's do, and data may span several`() throws {
        var reader = EventStreamReader()
        let items = try reader.read("event: device\r\ndata: {\r\ndata:}\r\n\r\n".utf8)
        #expect(items == [.event(GatewayEvent(name: "device", data: "{\n}"))])
    }

    @Test func `an event that never ends is refused`() throws {
        var reader = EventStreamReader()
        let part = [UInt8](repeating: 65, count: 1 << 20)
        #expect(throws: HomeError.self) {
            for _ in 0..<17 { _ = try reader.read(part) }
        }
        var inLines = EventStreamReader()
        let line = Array("data: ".utf8) + part + [10]
        #expect(throws: HomeError.self) {
            for _ in 0..<17 { _ = try inLines.read(line) }
        }
    }

    @Test func `no bytes stop the reader`() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            var bytes = Array(Self.stream.utf8)
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            var reader = EventStreamReader()
            var feed = EventFeed()
            feed.open()
            for item in try reader.read(bytes) { _ = feed.receive(item) }
        }
    }
}

/// A generator whose numbers a seed decides (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
