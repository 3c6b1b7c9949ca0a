import RTP
import Testing
import Transport

@testable import MediaRelay

@Suite struct TrackRingTests {
    private func append(_ batch: PacketBatch, to ring: inout TrackRing, _ timeline: inout TrackTimeline) throws {
        let placement = timeline.place(batch)
        ring.append(batch, at: try #require(placement))
    }

    @Test func keepsEverythingSinceTheNewestKeyFrame() throws {
        var ring = TrackRing(maximumDuration: .seconds(60), maximumBytes: 64 << 20)
        var timeline = TrackTimeline(clockRate: 90_000)
        var camera = FrameMaker()
        for frame in 0..<100 {
            try append(
                camera.next(isKeyFrame: frame == 0, at: milliseconds(Int64(frame) * 100)), to: &ring, &timeline)
        }
        #expect(ring.newestKeyFrame == TrackRing.Cursor(entry: 0, packet: 0))
        #expect(ring.end - ring.first == 100)
        try append(camera.next(isKeyFrame: true, at: milliseconds(10_000)), to: &ring, &timeline)
        // Two seconds stay for retransmission; the group of pictures before that has gone.
        #expect(ring.newestKeyFrame == TrackRing.Cursor(entry: 100, packet: 0))
        #expect(ring.first == 80)
    }

    @Test func losesItsKeyFrameToTheBoundOfBytesAndSaysSo() throws {
        var ring = TrackRing(maximumDuration: .seconds(60), maximumBytes: 100_000)
        var timeline = TrackTimeline(clockRate: 90_000)
        var camera = FrameMaker()
        for frame in 0..<200 {
            let batch = camera.next(
                isKeyFrame: frame == 0, payloadLength: 1000, at: milliseconds(Int64(frame) * 66))
            try append(batch, to: &ring, &timeline)
            #expect(ring.footprint <= 100_000 + batch.footprint)
        }
        #expect(ring.newestKeyFrame == nil)
        #expect(ring.keyFramesEvicted == 1)
    }

    @Test func losesItsKeyFrameToTheBoundOfTime() throws {
        var ring = TrackRing(maximumDuration: .seconds(3), maximumBytes: 64 << 20)
        var timeline = TrackTimeline(clockRate: 90_000)
        var camera = FrameMaker()
        for frame in 0..<100 {
            try append(
                camera.next(isKeyFrame: frame == 0, at: milliseconds(Int64(frame) * 100)), to: &ring, &timeline)
        }
        #expect(ring.newestKeyFrame == nil)
        #expect(ring.end - ring.first <= 32)
    }

    @Test func findsEveryPacketByItsSequenceNumberAcrossTheWrap() throws {
        var ring = TrackRing(maximumDuration: .seconds(60), maximumBytes: 64 << 20)
        var timeline = TrackTimeline(clockRate: 90_000)
        var camera = FrameMaker(sequenceNumber: 65_500)
        for frame in 0..<40 {
            try append(
                camera.next(isKeyFrame: frame == 0, at: milliseconds(Int64(frame) * 10)), to: &ring, &timeline)
        }
        for sequence in Int64(0)..<120 {
            let cursor = try #require(ring.find(sequence: sequence))
            let entry = try #require(ring[cursor.entry])
            let payload = entry.batch.payload(of: entry.batch.packets[cursor.packet])
            #expect(Int64(payload[0]) == sequence / 3)
            #expect(Int64(payload[1]) == sequence % 3)
        }
        #expect(ring.find(sequence: -1) == nil)
        #expect(ring.find(sequence: 120) == nil)
    }

    @Test func goesOnNumberingWhenTheCameraStartsAgain() throws {
        var timeline = TrackTimeline(clockRate: 90_000)
        var camera = FrameMaker(sequenceNumber: 100, timestamp: 1_000)
        let firstPlacement = timeline.place(camera.next(at: milliseconds(0)))
        let first = try #require(firstPlacement)
        #expect(first.firstSequence == 0)
        let newest = timeline.newestTimestamp
        camera.restart(sequenceNumber: 40_000, timestamp: 77)
        timeline.recordRestart()
        let batch = camera.next(at: milliseconds(500))
        let secondPlacement = timeline.place(batch)
        let second = try #require(secondPlacement)
        #expect(second.firstSequence == 3)
        // Half a second passed, and the camera's own timestamps do not matter.
        #expect(batch.packets[0].timestamp &+ second.timestampOffset &- newest == 45_000)
    }

    @Test func takesAJumpThatNoLossExplainsForARestart() throws {
        var timeline = TrackTimeline(clockRate: 90_000)
        var camera = FrameMaker(sequenceNumber: 100, timestamp: 1_000)
        _ = timeline.place(camera.next(at: milliseconds(0)))
        camera.restart(sequenceNumber: 30_000, timestamp: 4_000_000_000)
        let found = timeline.place(camera.next(at: milliseconds(40)))
        let placement = try #require(found)
        #expect(placement.firstSequence == 3)
    }

    @Test func keepsGapsThatLossExplains() throws {
        var timeline = TrackTimeline(clockRate: 90_000)
        var camera = FrameMaker(sequenceNumber: 100, timestamp: 1_000)
        _ = timeline.place(camera.next(at: milliseconds(0)))
        _ = camera.next(at: milliseconds(33))
        let found = timeline.place(camera.next(at: milliseconds(66)))
        let placement = try #require(found)
        #expect(placement.firstSequence == 6)
    }
}

@Suite struct EgressEpochTests {
    @Test func backlogIsCompressedToTheLiveEdgeAndKeepsItsOrder() {
        let epoch = EgressEpoch(
            trackSequence: 50, index: 7, liveTimestamp: 360_000, backlogTicks: 360_000, timestampOffset: 1_000,
            startedAt: .zero)
        var previous = epoch.timestamp(of: 0)
        #expect(360_000 + 1_000 - previous == EgressEpoch.compressedTicks)
        for frame in UInt32(1)...60 {
            let timestamp = epoch.timestamp(of: frame * 6_000)
            #expect(timestamp > previous)
            previous = timestamp
        }
        #expect(previous == 361_000)
        // After the live edge the camera's own pace counts.
        #expect(epoch.timestamp(of: 366_000) == 367_000)
    }

    @Test func numbersGoOnFromTheEpochsStart() {
        let epoch = EgressEpoch(
            trackSequence: 50, index: 7, liveTimestamp: 0, backlogTicks: 0, timestampOffset: 0, startedAt: .zero)
        #expect(epoch.index(of: 50) == 7)
        #expect(epoch.index(of: 65_600) == 65_557)
    }
}

@Suite struct TrackClockTests {
    @Test func reportsOfBothTracksShareOneClockHoweverWrongItIs() {
        var wallClock = SourceWallClock()
        // The camera thinks that it is 1970, and its picture's report comes 300 ms before its sound's.
        let ntp = UInt64(2_208_988_800) << 32
        let video = wallClock.instant(of: ntp, receivedAt: milliseconds(1_000)).instant
        let audio = wallClock.instant(of: ntp + UInt64(0.3 * 4_294_967_296), receivedAt: milliseconds(1_350))
            .instant
        #expect(abs((audio - video).inMilliseconds - 300) < 0.01)
    }

    @Test func aCameraThatSetsItsClockIsTiedAgain() {
        var wallClock = SourceWallClock()
        _ = wallClock.instant(of: 1 << 32, receivedAt: milliseconds(0))
        let after = wallClock.instant(of: 1_000_000 << 32, receivedAt: milliseconds(5_000)).instant
        #expect(after == milliseconds(5_000))
    }

    @Test func aReportThatWasDelayedLessCorrectsAllTracks() throws {
        var wallClock = SourceWallClock()
        let second = UInt64(1) << 32
        var picture = TrackClock(clockRate: 90_000)
        // Delayed by 80 ms, then by 5.
        picture.recordReport(timestamp: 0, at: wallClock.instant(of: second, receivedAt: milliseconds(80)).instant)
        let (instant, correction) = wallClock.instant(of: 2 * second, receivedAt: milliseconds(1_005))
        #expect(instant == milliseconds(1_005))
        #expect(abs(correction.inMilliseconds + 75) < 0.01)
        picture.correct(by: correction)
        #expect(picture.timestamp(at: milliseconds(1_005)) == 90_000)
        // A report with more delay changes nothing.
        let late = wallClock.instant(of: 3 * second, receivedAt: milliseconds(2_300))
        #expect(late.correction == .zero)
        #expect(abs((late.instant - milliseconds(2_005)).inMilliseconds) < 0.01)
    }

    @Test func withoutReportsTheArrivalHasToDo() throws {
        var clock = TrackClock(clockRate: 90_000)
        for frame in Int64(0)..<100 {
            // Each packet is late by up to 9 ms.
            clock.recordArrival(
                timestamp: UInt32(frame * 3_000), at: milliseconds(frame * 1_000 / 30 + frame * 7 % 10))
        }
        let timestamp = try #require(clock.timestamp(at: milliseconds(3_300)))
        #expect(abs(Int64(timestamp) - 297_000) < 900)
    }
}
