import Intake
import RTP
import RTSP
import SDP
import Transport

extension RTSPSession {
    /// Receives a packet on a channel of the connection.
    mutating func receive(
        _ channel: UInt8, _ range: Range<Int>, _ playing: PlayingTracks, _ output: inout SourceOutput, at now: Instant
    ) {
        switch playing.channels[Int(channel)] {
        case .none:
            break
        case .media(let index):
            let bytes = driver.client.bytes(in: range)
            if Self.isControl(bytes) {
                learnControlOnMedia(output)
                receiveControl(bytes, index, playing, output, at: now)
            } else {
                let track = playing.sharesChannels ? track(of: bytes, output) ?? index : index
                receiveMedia(bytes, track, playing, &output, at: now)
            }
        case .control(let index):
            receiveControl(driver.client.bytes(in: range), index, playing, output, at: now)
        }
    }

    /// The track with the packet's payload type.
    private func track(of bytes: UnsafeRawBufferPointer, _ output: SourceOutput) -> Int? {
        guard bytes.count > 1 else { return nil }
        return output.descriptions.firstIndex { $0.payloadType == bytes[1] & 0x7F }
    }

    /// Receives a datagram on a track's RTP port.
    mutating func receiveDatagram(
        _ bytes: UnsafeRawBufferPointer, _ pair: DatagramPair, _ index: Int, _ playing: PlayingTracks,
        _ output: inout SourceOutput, at now: Instant
    ) {
        if Self.isControl(bytes) {
            learnControlOnMedia(output)
            receiveControl(bytes, index, playing, output, at: now)
            return
        }
        guard pair.insert(bytes, at: now) else { return }
        handOut(pair, index, playing, &output, at: now)
    }

    /// Hands out the packets that are in order.
    mutating func handOut(
        _ pair: DatagramPair, _ index: Int, _ playing: PlayingTracks, _ output: inout SourceOutput, at now: Instant
    ) {
        while let packet = pair.next(at: now) { receiveMedia(packet, index, playing, &output, at: now) }
    }

    /// RTCP's packet types, 192 to 223, are in the position of RTP's marker and a payload type from 64 to 95, which no
    /// profile uses (RFC 5761, section 4).
    private static func isControl(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 8 && bytes[0] >> 6 == 2 && (192...223).contains(bytes[1])
    }

    private func learnControlOnMedia(_ output: SourceOutput) {
        output.findings.learn { $0.quirks.insert(.controlOnMediaPort) }
    }

    private mutating func receiveMedia(
        _ bytes: UnsafeRawBufferPointer, _ index: Int, _ playing: PlayingTracks, _ output: inout SourceOutput,
        at now: Instant
    ) {
        guard output.tracks.indices.contains(index), playing.tracks.indices.contains(index),
            output.tracks[index].track.receive(bytes, at: now)
        else { return }
        let isFirst = playing.tracks[index].lastPacket == nil
        playing.tracks[index].lastPacket = now
        if playing.tracks[index].isSilent {
            playing.tracks[index].isSilent = false
            output.findings.setSilent(index, false)
        }
        if index == 0, playing.flowingSince == nil { beginFlowing(playing, &output, at: now) }
        if isFirst { beginTrack(index, playing, output, at: now) }
        learnProfile(index, playing, &output)
    }

    /// The first packet shows that the agreed transport works. The next connection begins with it.
    private mutating func beginFlowing(_ playing: PlayingTracks, _ output: inout SourceOutput, at now: Instant) {
        playing.flowingSince = now
        let used = playing.transport
        output.findings.learn { $0.transport = used }
        learnFromPlaying(playing, output)
        output.tell(.flowing)
    }

    /// If a stream does not begin with a key frame, one is requested, so that viewers need not wait for the camera's
    /// next one.
    private mutating func beginTrack(
        _ index: Int, _ playing: PlayingTracks, _ output: SourceOutput, at now: Instant
    ) {
        guard output.descriptions.indices.contains(index) else { return }
        if output.tracks[index].track.payloadType != playing.tracks[index].describedPayloadType {
            output.findings.learn { $0.quirks.insert(.otherPayloadType) }
        }
        guard output.descriptions[index].kind == .video, output.tracks[index].track.frame?.isKeyFrame != true else {
            return
        }
        requestKeyFrames(1 << UInt64(index), playing, output, at: now)
    }

    private func learnProfile(_ index: Int, _ playing: PlayingTracks, _ output: inout SourceOutput) {
        if output.tracks[index].track.reordering.isReordering { output.learnReordering(track: index) }
        guard !playing.tracks[index].hasProfile, output.tracks[index].track.frame?.isKeyFrame == true else { return }
        let parameters = output.tracks[index].track.learnedParameters
        guard !parameters.isEmpty else { return }
        playing.tracks[index].hasProfile = true
        output.learnProfile(parameters, track: index)
    }

    // MARK: RTCP

    mutating func receiveControl(
        _ bytes: UnsafeRawBufferPointer, _ index: Int, _ playing: PlayingTracks, _ output: SourceOutput, at now: Instant
    ) {
        guard output.tracks.indices.contains(index), playing.tracks.indices.contains(index) else { return }
        let box = output.tracks[index]
        for packet in RTCPPackets(bytes) {
            switch packet {
            case .senderReport(let report, _):
                box.track.noteSenderReport(report.ntp, at: now)
                if case .datagrams(let pair) = playing.tracks[index].carrier {
                    pair.noteSenderReport(report.ntp, at: now)
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
    private func learnFromPlaying(_ playing: PlayingTracks, _ output: SourceOutput) {
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
