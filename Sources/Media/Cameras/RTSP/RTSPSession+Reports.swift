import Intake
import RTP
import RTSP
import Transport

extension RTSPSession {
    mutating func receiveControl(
        _ bytes: UnsafeRawBufferPointer, _ index: Int, _ playing: PlayingTracks, _ output: SourceOutput, at now: Instant
    ) {
        guard output.tracks.indices.contains(index), playing.tracks.indices.contains(index) else { return }
        let box = output.tracks[index]
        for packet in RTCPPackets(bytes) {
            switch packet {
            case .senderReport(let report, _):
                box.track.recordSenderReport(report.ntp, at: now)
                if case .datagrams(let pair) = playing.tracks[index].carrier {
                    pair.recordSenderReport(report.ntp, at: now)
                }
                guard report.ssrc == box.track.timeline.ssrc, report.ntp.rawValue != 0 else { continue }
                let found = HeldReport(
                    ntp: report.ntp, timestamp: box.track.timeline.outgoing(report.rtpTimestamp))
                if coalescingEnds != nil {
                    playing.tracks[index].heldReport = found
                } else {
                    output.sink.handle(
                        .senderReport(track: index, ntp: found.ntp.rawValue, rtpTimestamp: found.timestamp))
                }
            case .goodbye(let goodbye):
                if index == 0, let ssrc = box.track.timeline.ssrc, goodbye.contains(ssrc) {
                    failClosed(.streamEnded)
                }
            default:
                break
            }
        }
    }

    mutating func sendReports(_ playing: PlayingTracks, _ output: SourceOutput, at now: Instant) {
        guard playing.nextReport <= now else { return }
        playing.nextReport = now + configuration.reportInterval
        learnFromPlaying(playing, output)
        guard configuration.keepAlive != .nothing else { return }
        for index in playing.tracks.indices {
            // The path through a NAT is kept open even while nothing comes.
            if case .datagrams(let pair) = playing.tracks[index].carrier { pair.punch(ssrc: ssrc) }
            if playing.tracks[index].lastPacket != nil {
                sendControl(track: index, playing, output, at: now, keyFrame: false)
            }
        }
    }

    /// Learns what shows only after a while.
    func learnFromPlaying(_ playing: PlayingTracks, _ output: SourceOutput) {
        let accepted = driver.client.keepAliveAccepted
        let inUse = driver.client.keepAliveInUse
        let hasGarbage = driver.client.discardedBytes > 0
        let hasWrongPort = playing.pairs.contains(where: \.hasWrongPort)
        let hasWrongSource = playing.pairs.contains(where: \.hasWrongSource)
        let clockLeaps = output.tracks.contains { $0.track.timeline.leaps > 0 }
        let hasWrongPace = output.tracks.contains { $0.track.timeline.hasWrongPace }
        output.findings.use { $0.keepAlive = inUse }
        output.findings.learn { profile in
            if let accepted { profile.keepAlive = accepted }
            if hasGarbage { profile.quirks.insert(.garbageBetweenPackets) }
            if hasWrongPort { profile.quirks.insert(.wrongServerPort) }
            if hasWrongSource { profile.quirks.insert(.wrongSource) }
            if clockLeaps { profile.quirks.insert(.clockLeaps) }
            if hasWrongPace { profile.quirks.insert(.wrongClockRate) }
        }
    }

    mutating func requestKeyFrames(
        _ tracks: UInt64, _ playing: PlayingTracks, _ output: SourceOutput, at now: Instant
    ) {
        for index in playing.tracks.indices where index < 64 && tracks & (1 << UInt64(index)) != 0 {
            if let last = playing.tracks[index].lastKeyFrameRequest, now - last < .milliseconds(300) { continue }
            playing.tracks[index].lastKeyFrameRequest = now
            sendControl(track: index, playing, output, at: now, keyFrame: true)
        }
    }

    /// Sends a receiver report, with a picture loss indication where a key frame is wanted (RFC 4585, section 6.3.1).
    /// RTSP has no separate request for a key frame. A server that does not know the indication ignores it.
    private mutating func sendControl(
        track: Int, _ playing: PlayingTracks, _ output: SourceOutput, at now: Instant, keyFrame: Bool
    ) {
        guard output.tracks.indices.contains(track), let source = output.tracks[track].track.timeline.ssrc else {
            return
        }
        var block: RTCPReportBlock
        if case .datagrams(let pair) = playing.tracks[track].carrier, let measured = pair.reportBlock(at: now) {
            block = measured
        } else {
            block = output.tracks[track].track.receptionBlock(ssrc: source, at: now)
        }
        let (own, carrier) = (ssrc, playing.tracks[track].carrier)
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { buffer in
            var writer = ByteWriter(buffer)
            writer.writeReceiverReport(ssrc: own, blocks: [block])
            writer.writeSourceDescription(ssrc: own, canonicalName: "gatehouse")
            if keyFrame { writer.writePictureLossIndication(senderSSRC: own, mediaSSRC: source) }
            guard !writer.overflowed else { return }
            let packet = UnsafeRawBufferPointer(rebasing: buffer[..<writer.count])
            switch carrier {
            case .channels(_, let channel): driver.client.sendInterleaved(channel: channel, packet)
            case .datagrams(let pair): pair.sendControl(packet)
            }
        }
    }
}
