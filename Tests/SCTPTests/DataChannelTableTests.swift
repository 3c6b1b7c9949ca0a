import Testing

@testable import SCTP

@Suite("The channels of an association")
struct DataChannelTableTests {
    private let data = DataChannelParameters(label: "data")

    private func opening(_ label: String) -> [UInt8] {
        DataChannelMessage.open(DataChannelParameters(label: label)).bytes
    }

    @Test("open when the peer asks, and the peer is informed")
    func opens() {
        var table = DataChannelTable()
        let steps = table.handle(opening("data"), stream: 0, protocolIdentifier: 50)
        #expect(
            steps == [
                .send(SCTPMessage(stream: 0, protocolIdentifier: 50, payload: [2])), .opened(stream: 0, data),
            ])
        #expect(table.openStreams == [0])
        #expect(
            table.handle(Array("hey".utf8), stream: 0, protocolIdentifier: 51)
                == [.text(stream: 0, Array("hey".utf8))])
        #expect(table.handle([0], stream: 0, protocolIdentifier: 56) == [.text(stream: 0, [])])
        #expect(table.handle([1, 2], stream: 0, protocolIdentifier: 53) == [.binary(stream: 0, [1, 2])])
    }

    @Test("carry texts as the peer has asked for it")
    func carries() throws {
        var table = DataChannelTable()
        let parameters = DataChannelParameters(label: "a", isOrdered: false, reliability: .retransmissions(0))
        _ = table.handle(DataChannelMessage.open(parameters).bytes, stream: 6, protocolIdentifier: 50)
        let message = try #require(table.message(text: [0x61], stream: 6))
        #expect(!message.isOrdered && message.reliability == .retransmissions(0) && message.protocolIdentifier == 51)
        #expect(table.message(text: [], stream: 6)?.payload == [0])
        #expect(table.message(text: [], stream: 6)?.protocolIdentifier == 56)
        #expect(table.message(text: [0x61], stream: 8) == nil)
    }

    @Test("close when the peer resets its streams, and can be opened again")
    func closes() {
        var table = DataChannelTable()
        for stream: UInt16 in [0, 2, 4] { _ = table.handle(opening("x"), stream: stream, protocolIdentifier: 50) }
        #expect(table.handleReset([2, 9]) == [.closed(stream: 2), .reset(stream: 2)])
        #expect(table.handleReset([2]) == [])
        #expect(table.handle(opening("x"), stream: 2, protocolIdentifier: 50).count == 2)
        #expect(table.close(4) == [.reset(stream: 4)])
        // None means all.
        #expect(
            table.handleReset([]) == [
                .closed(stream: 0), .reset(stream: 0), .closed(stream: 2), .reset(stream: 2),
            ])
    }

    @Test("are bounded in number and in the length of their names")
    func bounded() {
        var table = DataChannelTable()
        for number in 0..<DataChannelTable.maximumChannels {
            #expect(table.handle(opening("x"), stream: UInt16(number), protocolIdentifier: 50).count == 2)
        }
        #expect(table.handle(opening("x"), stream: 20, protocolIdentifier: 50) == [.reset(stream: 20)])
        #expect(table.close(3) == [.reset(stream: 3)])
        let long = String(repeating: "x", count: DataChannelTable.longestNames + 1)
        #expect(table.handle(opening(long), stream: 3, protocolIdentifier: 50) == [.reset(stream: 3)])
        #expect(table.handle(opening("x"), stream: 3, protocolIdentifier: 50).count == 2)
        // A stream that does not exist cannot be reset either.
        #expect(table.handle(opening("x"), stream: 999, protocolIdentifier: 50) == [])
    }

    @Test("that are opened twice are closed")
    func openedTwice() {
        var table = DataChannelTable()
        _ = table.handle(opening("x"), stream: 0, protocolIdentifier: 50)
        #expect(
            table.handle(opening("y"), stream: 0, protocolIdentifier: 50)
                == [.closed(stream: 0), .reset(stream: 0)])
        #expect(table.openStreams.isEmpty)
    }

    @Test("do not hear what comes without a channel")
    func strangers() {
        var table = DataChannelTable()
        #expect(table.handle([1], stream: 0, protocolIdentifier: 51) == [])
        #expect(table.handle([9, 9], stream: 0, protocolIdentifier: 50) == [])
        #expect(table.handle([2], stream: 0, protocolIdentifier: 50) == [])
        _ = table.handle(opening("x"), stream: 0, protocolIdentifier: 50)
        #expect(table.handle([1], stream: 0, protocolIdentifier: 46) == [])
        #expect(table.refusals == 3)
    }

    @Test("that this side opens are open when the peer answers")
    func ownChannel() throws {
        var (mine, theirs) = (DataChannelTable(), DataChannelTable())
        let opened = mine.open(data, asDTLSClient: false)
        let (stream, steps) = try #require(opened)
        #expect(stream == 1 && mine.openStreams.isEmpty)
        // Until then, nothing may overtake the request.
        #expect(mine.message(text: [0x61], stream: stream)?.isOrdered == true)
        guard case .send(let request) = steps.first else { throw Missing() }
        let answer = theirs.handle(request.payload, stream: 1, protocolIdentifier: request.protocolIdentifier)
        guard case .send(let acknowledgement) = answer.first else { throw Missing() }
        #expect(mine.handle(acknowledgement.payload, stream: 1, protocolIdentifier: 50) == [.opened(stream: 1, data)])
        #expect(mine.openStreams == [1] && theirs.openStreams == [1])
    }

    private struct Missing: Error {}
}
