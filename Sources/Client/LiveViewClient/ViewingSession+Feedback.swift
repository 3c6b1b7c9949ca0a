import DatagramPort
import PeerConnection
import RTP
import SDP
import Transport

/// When reports are due, and what they report about the path.
struct ReportTimer {
    private static let interval = Duration.seconds(1)
    let ssrc: UInt32
    var feedback = TransportFeedbackGenerator()
    private var nextReport: Instant?

    init(ssrc: UInt32) {
        self.ssrc = ssrc
    }

    mutating func start(at now: Instant) {
        nextReport = now + Self.interval
    }

    mutating func takeReport(at now: Instant) -> Bool {
        guard let due = nextReport, due <= now else { return false }
        nextReport = now + Self.interval
        return true
    }

    var next: Instant? {
        guard let feedback = feedback.nextDeadline else { return nextReport }
        return nextReport.map { min($0, feedback) } ?? feedback
    }
}

extension ViewingSession {
    /// Sends reports, requests for lost packets and for key frames, and arrival times, as they fall due.
    func sendFeedback(scratch: UnsafeMutableRawBufferPointer, at now: Instant) {
        let area = UnsafeMutableRawBufferPointer(rebasing: scratch[..<1400])
        var writer = ByteWriter(area)
        if reports.takeReport(at: now) {
            var blocks: [RTCPReportBlock] = []
            for index in media.indices {
                guard let ssrc = media[index].ssrc, media[index].statistics?.hasReceived == true,
                    let block = media[index].statistics?.makeReportBlock(ssrc: ssrc, at: now)
                else { continue }
                blocks.append(block)
            }
            writer.writeReceiverReport(ssrc: reports.ssrc, blocks: blocks)
            writer.writeSourceDescription(ssrc: reports.ssrc, canonicalName: "gatehouse-viewer")
        }
        let videoSource = media.indices.first { media[$0].isVideo }.flatMap { media[$0].ssrc } ?? 0
        pictures.collectRequests(at: now)
        if !pictures.requests.isEmpty {
            writer.writeNack(senderSSRC: reports.ssrc, mediaSSRC: videoSource, sequenceNumbers: pictures.requests)
            pictures.removeRequests()
        }
        if pictures.takeKeyFrameRequest(at: now) {
            writer.writePictureLossIndication(senderSSRC: reports.ssrc, mediaSSRC: videoSource)
        }
        send(writer, area)
        // More than one report is due only after a long pause. There are always fewer than eight.
        for _ in 0..<8 {
            guard let due = reports.feedback.nextDeadline, due <= now else { break }
            var report = ByteWriter(area)
            guard
                reports.feedback.writeFeedback(
                    senderSSRC: reports.ssrc, mediaSSRC: videoSource, into: &report)
            else { break }
            send(report, area)
        }
    }

    /// Sends RTCP BYE and ends.
    func stop(at now: Instant) {
        guard !hasEnded else { return }
        withUnsafeTemporaryAllocation(byteCount: 1400, alignment: 8) { buffer in
            let area = UnsafeMutableRawBufferPointer(rebasing: buffer[..<1200])
            var writer = ByteWriter(area)
            writer.writeReceiverReport(ssrc: reports.ssrc)
            writer.writeGoodbye(ssrcs: [reports.ssrc])
            send(writer, buffer)
        }
        end("stopped")
    }

    private func send(_ writer: ByteWriter, _ area: UnsafeMutableRawBufferPointer) {
        guard writer.count > 0, !writer.overflowed, let destination = peer.remoteAddress else { return }
        let count = peer.protectRTCP(area, byteCount: writer.count)
        guard count > 0 else { return }
        port.send(
            UnsafeRawBufferPointer(rebasing: area[..<count]),
            transmit: Transmit(destination: destination, byteCount: count), from: peer.localAddress)
    }
}
