import RTP
import Testing
import Transport

@testable import MediaRelay

/// What arrives from a publisher that sends several layers of one picture, although the answer named none: 50 packets
/// of each in a second, under one payload type.
private final class LayeredPublisher {
    private let sink: CollectedPackets
    private let ingest: Ingest
    private var now = Instant.zero
    private var number: UInt16 = 0
    /// The numbers of the layers, in the order of their packets.
    var layers: [UInt32]

    /// A publisher whose offer names the first of its layers.
    init(_ layers: [UInt32]) {
        let sink = CollectedPackets()
        self.layers = layers
        self.sink = sink
        ingest = Ingest(
            tracks: PublishedTrack.simulated(offeredSource: layers.first ?? 0), reducedSizeRTCP: true, sink: sink,
            ssrc: 1)
    }

    func run(_ duration: Duration) throws {
        let end = now + duration
        while now < end {
            number &+= 1
            for layer in layers {
                // The picture names its layer.
                let content: [UInt8] = [0x10, UInt8(layer >> 8), UInt8(layer & 0xFF)]
                let header: [UInt8] = [0x80, 96, UInt8(number >> 8), UInt8(number & 0xFF), 0, 0, 0, 9, 0, 0]
                let bytes: [UInt8] = header + content.dropFirst() + content
                try bytes.withUnsafeBytes { try ingest.receive(RTPPacketView(parsing: $0), at: now) }
            }
            ingest.deliver(at: now)
            now = now + .milliseconds(20)
        }
    }

    func sayGoodbye(_ layer: UInt32) {
        let bytes: [UInt8] = [0x81, 203, 0, 1, 0, 0, UInt8(layer >> 8), UInt8(layer & 0xFF)]
        bytes.withUnsafeBytes {
            for packet in RTCPPackets($0) {
                if case .goodbye(let goodbye) = packet { ingest.recordGoodbye(goodbye, at: now) }
            }
        }
    }

    /// The layers whose pictures were handed on, each once for every time that it began.
    var relayed: [UInt32] {
        var relayed: [UInt32] = []
        for (_, payload) in sink.video where payload.count == 3 {
            let layer = UInt32(payload[1]) << 8 | UInt32(payload[2])
            if relayed.last != layer { relayed.append(layer) }
        }
        return relayed
    }
}

/// A publisher may send several layers of its picture. One of them is the camera's picture.
@Suite struct LayeredPublisherTests {
    @Test func `layers that all change their numbers at once are followed in a fraction of a second`() throws {
        let publisher = LayeredPublisher([900, 901, 902])
        try publisher.run(.seconds(2))
        publisher.layers = [910, 911, 912]
        try publisher.run(.milliseconds(400))
        #expect(publisher.relayed == [900, 910])
        try publisher.run(.seconds(3))
        #expect(publisher.relayed == [900, 910])
    }

    @Test func `layers that change their numbers one after the other keep the camera's picture`() throws {
        let publisher = LayeredPublisher([902, 901, 900])
        // The first packet is of another layer than the offer named.
        publisher.layers = [900, 901, 902]
        try publisher.run(.seconds(2))
        let own = try #require(publisher.relayed.last)
        #expect(publisher.relayed.count == 1)
        for replacement in [(901, 911), (900, 910)] as [(UInt32, UInt32)] {
            publisher.layers = publisher.layers.map { $0 == replacement.0 ? replacement.1 : $0 }
            try publisher.run(.seconds(2))
            #expect(publisher.relayed == [own])
        }
        publisher.layers = [910, 911, 912]
        try publisher.run(.milliseconds(400))
        #expect(publisher.relayed == [own, 912])
    }

    @Test func `after a goodbye the number that follows is taken, not another layer`() throws {
        let publisher = LayeredPublisher([900, 901, 902])
        try publisher.run(.seconds(2))
        publisher.sayGoodbye(900)
        publisher.layers = [901, 902]
        try publisher.run(.milliseconds(200))
        publisher.layers = [901, 902, 910]
        try publisher.run(.milliseconds(20))
        #expect(publisher.relayed == [900, 910])
    }

    @Test func `another layer is the picture once the layer before is switched off`() throws {
        let publisher = LayeredPublisher([900, 901, 902])
        try publisher.run(.seconds(2))
        publisher.layers = [901, 902]
        try publisher.run(.milliseconds(900))
        #expect(publisher.relayed == [900])
        try publisher.run(.milliseconds(300))
        #expect(publisher.relayed == [900, 901])
        // The layer before returns and does not mix in.
        publisher.layers = [900, 901, 902]
        try publisher.run(.seconds(2))
        #expect(publisher.relayed == [900, 901])
    }

    @Test func `a publisher that invents numbers does not keep its own source out`() throws {
        let publisher = LayeredPublisher([900])
        try publisher.run(.seconds(2))
        for number in UInt32(0)..<200 {
            publisher.layers = [900, 2_000 + number]
            try publisher.run(.milliseconds(20))
        }
        #expect(publisher.relayed == [900])
        publisher.layers = [910]
        try publisher.run(.milliseconds(400))
        #expect(publisher.relayed == [900, 910])
    }
}
