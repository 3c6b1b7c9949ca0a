import Testing

@testable import MQTTDevices

@Suite struct OutgoingMessagesTests {
    @Test func `a message counts until the broker has it`() {
        var outgoing = OutgoingMessages()
        outgoing.add(1, size: 10)
        outgoing.add(2, size: 5)
        #expect(outgoing.byteCount == 15)
        outgoing.remove(1)
        #expect(outgoing.byteCount == 5)
        outgoing.remove(2)
        #expect(outgoing.byteCount == 0)
    }

    @Test func `a message that the library sends before its number is known never counts`() {
        var outgoing = OutgoingMessages()
        outgoing.remove(1)
        outgoing.add(1, size: 10)
        #expect(outgoing.byteCount == 0)
        // The library uses its numbers again.
        outgoing.add(1, size: 7)
        #expect(outgoing.byteCount == 7)
        outgoing.remove(1)
        #expect(outgoing.byteCount == 0)
    }
}
