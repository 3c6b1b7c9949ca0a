import Cameras
import MediaRelay
import RTP
import SDP
import Testing
import Transport

@testable import RTSPServer

@Suite("RTSP server: what waits for a reader")
struct SendQueueTests {
    /// The timestamps of the packets that wait, one by one.
    private func drain(_ queue: inout SendQueue) -> [UInt32] {
        var found: [UInt32] = []
        while let entry = queue.first {
            found.append(entry.tapped.batch.packets[entry.next].timestamp / 3000)
            queue.advance(to: entry.next + 1)
        }
        return found
    }

    @Test("nothing is accepted before a key frame, and everything from it on")
    func keyFrameFirst() {
        var batches = Batches()
        var queue = SendQueue(isVideo: true)
        queue.append(batches.frame(packets: 2), ordinal: 1, at: .zero)
        #expect(queue.isEmpty)
        #expect(queue.framesDropped == 1)
        queue.append(batches.frame(packets: 2, isKeyFrame: true), ordinal: 2, at: .zero)
        queue.append(batches.frame(packets: 1), ordinal: 3, at: .zero)
        #expect(drain(&queue) == [2, 2, 3])
        #expect(queue.byteCount == 0)
    }

    @Test("a slow reader gets the rest of its frame and continues with the newest key frame")
    func leavesOutWholeFrames() {
        var batches = Batches()
        var queue = SendQueue(isVideo: true)
        for index in 0..<9 {
            queue.append(batches.frame(packets: 3, isKeyFrame: index % 3 == 0), ordinal: UInt64(index), at: .zero)
        }
        queue.advance(to: 1)
        let isKeyFrameMissing = queue.leaveOut()
        #expect(!isKeyFrameMissing)
        // Frames 2 to 6 are skipped: 7 is the newest key frame.
        #expect(drain(&queue) == [1, 1, 7, 7, 7, 8, 8, 8, 9, 9, 9])
        #expect(queue.framesDropped == 5)
        #expect(queue.byteCount == 0)
    }

    @Test("without a newer key frame the rest waits for one, which is requested")
    func awaitsKeyFrame() {
        var batches = Batches()
        var queue = SendQueue(isVideo: true)
        for index in 0..<4 {
            queue.append(batches.frame(packets: 2, isKeyFrame: index == 0), ordinal: UInt64(index), at: .zero)
        }
        // Nothing has been sent: the key frame itself is kept.
        let isKeyFrameMissing = queue.leaveOut()
        #expect(isKeyFrameMissing)
        queue.append(batches.frame(packets: 2), ordinal: 5, at: .zero)
        queue.append(batches.frame(packets: 2, isKeyFrame: true), ordinal: 6, at: .zero)
        #expect(drain(&queue) == [1, 1, 6, 6])
        #expect(queue.framesDropped == 4)
    }

    @Test("a frame that never ends is not cut, and shows in the bytes")
    func endlessFrame() {
        var batches = Batches()
        var queue = SendQueue(isVideo: true)
        queue.append(batches.frame(packets: 50, isKeyFrame: true), ordinal: 1, at: .zero)
        queue.advance(to: 1)
        let isKeyFrameMissing = queue.leaveOut()
        #expect(!isKeyFrameMissing)
        #expect(queue.byteCount > 5000)
        let rest = drain(&queue)
        #expect(rest.count == 49)
    }

    @Test("sound that is too old is dropped entirely")
    func sound() {
        var batches = Batches()
        var queue = SendQueue(isVideo: false)
        for index in 0..<5 { queue.append(batches.frame(packets: 1), ordinal: UInt64(index), at: .zero) }
        let isKeyFrameMissing = queue.leaveOut()
        #expect(!isKeyFrameMissing)
        #expect(queue.isEmpty)
        #expect(queue.framesDropped == 5)
        queue.append(batches.frame(packets: 1), ordinal: 9, at: .zero)
        #expect(drain(&queue) == [6])
    }
}

@Suite("RTSP server: a reader's track")
struct ReaderTrackTests {
    private func header(_ bytes: [UInt8]) -> (sequence: UInt16, timestamp: UInt32, ssrc: UInt32, marker: Bool)? {
        bytes.withUnsafeBytes { bytes in
            guard let view = try? RTPPacketView(parsing: bytes) else { return nil }
            return (view.sequenceNumber, view.timestamp, view.ssrc, view.marker)
        }
    }

    private func packets(_ track: inout ReaderTrack) -> [[UInt8]] {
        var found: [[UInt8]] = []
        while let length = track.nextLength {
            var bytes = [UInt8](repeating: 0, count: length)
            let written = bytes.withUnsafeMutableBytes { track.writeNext(into: $0) }
            #expect(written == length)
            found.append(bytes)
        }
        return found
    }

    private func makeTrack() -> ReaderTrack {
        var random = RandomSource.seeded(5)
        return ReaderTrack(
            index: 0, id: TrackID(camera: "c", index: 0), description: video, random: &random)
    }

    @Test("numbers follow each other over the source's wrap, show its losses, and hide what was skipped")
    func numbers() {
        var batches = Batches()
        var track = makeTrack()
        let start = track.nextSequenceNumber
        track.append(batches.frame(packets: 4, isKeyFrame: true), ordinal: 1, at: .zero)
        track.append(batches.frame(packets: 4), ordinal: 2, at: .zero)
        batches.lose(2)
        track.append(batches.frame(packets: 1), ordinal: 3, at: .zero)
        var numbers = packets(&track).compactMap { header($0).map { $0.sequence &- start } }
        #expect(numbers == [0, 1, 2, 3, 4, 5, 6, 7, 10])
        // Frames that the reader is not to get leave no gap.
        for index in 0..<4 {
            track.append(batches.frame(packets: 2, isKeyFrame: index == 3), ordinal: 4, at: .zero)
        }
        let isKeyFrameMissing = track.queue.leaveOut()
        #expect(!isKeyFrameMissing)
        numbers = packets(&track).compactMap { header($0).map { $0.sequence &- start } }
        #expect(numbers == [11, 12])
    }

    @Test("a sender report ties the timestamps to the wall clock by the moment of capture")
    func report() {
        var batches = Batches()
        var track = makeTrack()
        track.append(batches.frame(packets: 1, isKeyFrame: true, at: .zero + .seconds(1)), ordinal: 1, at: .zero)
        let sent = packets(&track).first.flatMap { header($0) }
        var bytes = [UInt8](repeating: 0, count: 200)
        let now = Instant.zero + .seconds(3)
        let clock = WallClockReading(instant: .zero, unixNanoseconds: 1_700_000_000_000_000_000)
        let length = bytes.withUnsafeMutableBytes {
            track.writeReport(
                canonicalName: "gatehouse-1", clock: clock, interval: .seconds(5), at: now, into: $0)
        }
        #expect(length > 28)
        #expect(bytes[1] == 200)
        let timestamp = bytes[16..<20].reduce(0) { $0 << 8 | UInt32($1) }
        // Two seconds after the capture.
        #expect(timestamp == (sent?.timestamp ?? 0) &+ 180_000)
        let ntp = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
        #expect(NTPTimestamp(rawValue: ntp).unixNanoseconds == 1_700_000_003_000_000_000)
        #expect(bytes[20..<24].reduce(0) { $0 << 8 | UInt32($1) } == 1)
        #expect(track.nextReport == now + .milliseconds(500))
    }

    @Test("the description names each codec with a separate payload type")
    func description() {
        let opus = TrackDescription(
            kind: .audio, codec: .init(name: "opus", clockRate: 48_000, channels: 2), payloadType: 96)
        let alaw = TrackDescription(kind: .audio, codec: .init(name: "PCMA", clockRate: 8000), payloadType: 96)
        let text = ServedDescription.text(
            name: "Front\r\na=evil", tracks: [video, opus, alaw], address: TransportAddress(ipv4: 0x7F00_0001, port: 1),
            sessionID: 1)
        #expect(text.contains("m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1\r\n"))
        #expect(text.contains("m=audio 0 RTP/AVP 97\r\na=rtpmap:97 opus/48000/2\r\na=control:trackID=1\r\n"))
        #expect(text.contains("m=audio 0 RTP/AVP 8\r\na=rtpmap:8 PCMA/8000\r\na=control:trackID=2\r\n"))
        #expect(!text.contains("\r\na=evil"))
    }
}
