import PeerFakes
import RTP
import SDP
import Testing
import Transport

@testable import MediaRelay

/// What viewers lose of a sound that the gateway makes.
@Suite struct SoundLossTests {
    @Test func theMakerOfASoundLearnsWhatItsViewersLose() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer { $0.reportInterval = .seconds(60) }
        #expect(world.connect(viewer))
        let reports = Locked<[Double]>([])
        var description = RelayTrackDescription(isVideo: false, codec: .opus, requestKeyFrame: {})
        description.reportLoss = { share, _ in reports.withLock { $0.append(share) } }
        try #require(world.relayed(viewer).egress.first { !$0.configuration.isVideo }).track.setSource(description)
        func report(highest: UInt32, lost: Int32, ssrc: UInt32) {
            viewer.send {
                $0.writeReceiverReport(
                    ssrc: 9,
                    blocks: [
                        RTCPReportBlock(
                            ssrc: ssrc, fractionLost: 200, cumulativeLost: lost, extendedHighestSequenceNumber: highest,
                            jitter: 0, lastSenderReport: 0, delaySinceLastSenderReport: 0)
                    ])
            }
            world.run(.seconds(5))
        }
        report(highest: 1_000, lost: 0, ssrc: viewer.audioSSRC)
        report(highest: 1_500, lost: 50, ssrc: viewer.audioSSRC)
        report(highest: 9_000, lost: 4_000, ssrc: viewer.videoSSRC)
        // Too few packets to judge by.
        report(highest: 1_510, lost: 60, ssrc: viewer.audioSSRC)
        report(highest: 2_000, lost: 50, ssrc: viewer.audioSSRC)
        #expect(reports.withLock { $0 } == [0.1, 0])
    }
}
