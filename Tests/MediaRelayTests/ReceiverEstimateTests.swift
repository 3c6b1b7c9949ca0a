import Congestion
import NetworkSimulator
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// A viewer that sends its own estimate (REMB) and receiver reports, and no transport-wide feedback.
@Suite struct ReceiverEstimateTests {
    /// Its estimate, as browsers make it: it rises by 8 % a second, up to half as much again as it gets, and falls to 85 % of
    /// what the line carries while that is too little.
    private struct Receiver {
        let world: RelayWorld
        let viewer: SimulatedViewer
        var rate: Double?
        /// What the line carries; nil for everything.
        var line: Double?
        var switches: [StreamWish] = []
        private var bytes: UInt64 = 0

        init(world: RelayWorld, viewer: SimulatedViewer) {
            self.world = world
            self.viewer = viewer
        }

        mutating func run(seconds: Int) throws {
            for _ in 0..<seconds {
                for _ in 0..<50 { try step() }
                let wire = try world.relayed(viewer).wire
                let total = wire.bytes + wire.datagrams * UInt64(BandwidthEstimator.headerBytes)
                let sent = Double(total - bytes) * 8
                bytes = total
                let before = rate ?? sent
                if let line, sent > line {
                    rate = min(before, line * 0.85)
                } else {
                    rate = max(before, min(before * 1.08, sent * 1.5 + 10_000))
                }
                let estimate = UInt64(rate ?? 0)
                viewer.send {
                    $0.writeReceiverEstimatedMaximumBitrate(senderSSRC: 9, bitsPerSecond: estimate, ssrcs: [1])
                }
            }
        }

        private mutating func step() throws {
            world.run(.milliseconds(20))
            for wish in viewer.notices.takeWishes() {
                let (main, sub) = (world.camera.video, world.camera.subvideo)
                let track = try #require(world.shard.tracks[wish == .smaller ? sub : main])
                world.shard.move(
                    try world.relayed(viewer), from: wish == .smaller ? main : sub, to: track,
                    as: wish == .smaller ? .smaller : .larger, at: world.now)
                world.host.settle()
                switches.append(wish)
            }
        }

        mutating func limit(to rate: Int?) {
            line = rate.map { Double($0) }
            LimitedLineTests.limit(world, viewer, to: rate, queue: 200)
        }

        var hasMainStream: Bool { get throws { try world.relayed(viewer).egress[0].track.id == world.camera.video } }
    }

    private static func makeReceiver() throws -> Receiver {
        let world = try LimitedLineTests.makeWorld { $0.substream = (3_000, 14_000) }
        let (viewer, _) = try LimitedLineTests.addViewer(to: world, transportFeedback: false)
        var receiver = Receiver(world: world, viewer: viewer)
        try receiver.run(seconds: 5)
        #expect(receiver.switches.isEmpty)
        receiver.limit(to: LimitedLineTests.rate)
        try receiver.run(seconds: 12)
        #expect(receiver.switches == [.smaller])
        return receiver
    }

    @Test func aMoveUpThatThePathCarriesLasts() throws {
        var receiver = try Self.makeReceiver()
        receiver.limit(to: nil)
        try receiver.run(seconds: 90)
        #expect(receiver.switches == [.smaller, .larger])
        #expect(try receiver.hasMainStream)
        #expect(try !receiver.world.relayed(receiver.viewer).line.isLimited)
    }

    @Test func aMoveUpThatThePathDoesNotCarryEndsSoon() throws {
        var receiver = try Self.makeReceiver()
        var secondsOfMain = 0
        for _ in 0..<120 {
            try receiver.run(seconds: 1)
            if try receiver.hasMainStream { secondsOfMain += 1 }
        }
        // It tries after 20 seconds, and then after longer pauses.
        let tries = receiver.switches.count { $0 == .larger }
        #expect(tries >= 1 && tries <= 3 && secondsOfMain <= tries * 6, "\(tries) \(secondsOfMain)")
    }
}
