import Codecs
import PacketFakes
import RTP
import SDP
import Testing
import Transport

@testable import Cameras

/// The stream on virtual time.
@Suite struct BackChannelStreamTests {
    struct Line: ~Copyable {
        var stream: BackChannelStream
        var packets: [(time: Instant, bytes: [UInt8])] = []
        var reports: [[UInt8]] = []

        init(_ codec: MediaCodec, payloadType: UInt8 = 0) throws {
            var random = RandomSource.seeded(1)
            let choice = BackChannelCodec(
                controlURI: "x", payload: RTPPayload(payloadType: payloadType, codec: codec))
            stream = BackChannelStream(
                choice, encoder: try SpeechEncoders.make(for: codec), random: &random, at: .zero)
        }

        mutating func run(at now: Instant, backlog: Duration = .zero, sample: Int16 = 0) throws {
            var (new, control): ([(Instant, [UInt8])], [[UInt8]]) = ([], [])
            try stream.run(
                at: now, ntp: NTPTimestamp(unixNanoseconds: now.nanoseconds), backlog: backlog,
                pull: { $0.update(repeating: sample) },
                send: { output, header, payload in
                    let bytes = Array(header) + Array(payload)
                    if output == .media { new.append((now, bytes)) } else { control.append(bytes) }
                })
            packets += new
            reports += control
        }
    }

    static func view(_ bytes: [UInt8]) throws -> (sequence: UInt16, time: UInt32, marker: Bool, type: UInt8, count: Int)
    {
        try bytes.withUnsafeBytes { bytes in
            let packet = try RTPPacketView(parsing: bytes)
            return (packet.sequenceNumber, packet.timestamp, packet.marker, packet.payloadType, packet.payload.count)
        }
    }

    @Test func aPacketLeavesEveryTwentyMilliseconds() throws {
        var line = try Line(.pcmu)
        for millisecond in 0..<1000 { try line.run(at: .zero + .milliseconds(millisecond)) }
        #expect(line.packets.count == 50)
        let views = try line.packets.map { try Self.view($0.bytes) }
        #expect(views.map(\.marker) == [true] + [Bool](repeating: false, count: 49))
        for (view, next) in zip(views, views.dropFirst()) {
            #expect(next.sequence == view.sequence &+ 1)
            #expect(next.time &- view.time == UInt32(view.count))
        }
        #expect(views.allSatisfy { $0.count == 160 && $0.type == 0 })
    }

    @Test func opusTicksAt48Kilohertz() throws {
        var line = try Line(.opus, payloadType: 111)
        for frame in 0..<10 { try line.run(at: .zero + .milliseconds(20 * frame)) }
        let views = try line.packets.map { try Self.view($0.bytes) }
        #expect(views.count == 10 && views.allSatisfy { $0.type == 111 })
        #expect(zip(views, views.dropFirst()).allSatisfy { $1.time &- $0.time == 960 })
    }

    @Test func aGatewayThatSleptDropsWhatIsLate() throws {
        var line = try Line(.pcma, payloadType: 8)
        for frame in 0..<5 { try line.run(at: .zero + .milliseconds(20 * frame)) }
        try line.run(at: .zero + .milliseconds(5_080))
        #expect(line.packets.count <= 7, "no burst")
        let views = try line.packets.map { try Self.view($0.bytes) }
        let last = try #require(views.last)
        // The camera's clock ran on meanwhile: 5 s of 8 kHz.
        #expect(abs(Int(Int32(bitPattern: last.time &- views[4].time)) - 40_000) < 400)
        #expect(last.sequence &- views[4].sequence <= 2)
    }

    @Test func aConnectionThatAcceptedNothingGetsNothingOld() throws {
        var line = try Line(.pcmu)
        for frame in 0..<10 { try line.run(at: .zero + .milliseconds(20 * frame)) }
        for frame in 10..<60 { try line.run(at: .zero + .milliseconds(20 * frame), backlog: .milliseconds(300)) }
        #expect(line.packets.count == 10 && line.stream.packetsDropped == 50)
        for frame in 60..<70 { try line.run(at: .zero + .milliseconds(20 * frame)) }
        let views = try line.packets.map { try Self.view($0.bytes) }
        #expect(views.count == 20)
        // Numbers continue, because nothing was lost on the way; the timestamps show the pause.
        #expect(views[10].sequence == views[9].sequence &+ 1)
        #expect(Int(views[10].time &- views[9].time) >= 50 * 160)
    }

    @Test func reportsStateWhatWasSent() throws {
        var line = try Line(.pcmu)
        for frame in 0..<501 { try line.run(at: .zero + .milliseconds(20 * frame)) }
        #expect(line.reports.count == 3)
        let packets = line.reports[2].withUnsafeBytes { bytes in
            var found: RTCPSenderReport?
            for packet in RTCPPackets(bytes) {
                if case .senderReport(let report, _) = packet { found = report }
            }
            return found
        }
        let report = try #require(packets)
        #expect(report.packetCount == 501)
        let last = try Self.view(try #require(line.packets.last?.bytes))
        #expect(report.rtpTimestamp == last.time &+ UInt32(last.count))
        var goodbye = false
        line.stream.finish(ntp: NTPTimestamp(rawValue: 1)) { output, _, bytes in
            guard output == .control else { return }
            for packet in RTCPPackets(bytes) { if case .goodbye = packet { goodbye = true } }
        }
        #expect(goodbye)
    }
}
