@testable import MediaRelay

extension PublishedTrack {
    /// What a ``SimulatedPublisher`` and the relay have agreed on.
    /// - Parameters:
    ///   - offeredSource: the source that the offer names for the video.
    ///   - hasTransportSequence: whether there is transport-wide feedback.
    static func simulated(
        offeredSource: UInt32 = SimulatedPublisher.videoSSRC, hasTransportSequence: Bool = true
    ) -> [PublishedTrack] {
        let sequence: UInt8? = hasTransportSequence ? 3 : nil
        return [
            PublishedTrack(
                isVideo: true, payloadType: 96, retransmissionPayloadType: 97, ssrc: offeredSource,
                clockRate: 90_000, takesNack: true, takesPictureLossIndication: true,
                transportSequenceExtension: sequence, wantsEstimate: !hasTransportSequence),
            PublishedTrack(
                isVideo: false, payloadType: 111, retransmissionPayloadType: nil, ssrc: nil, clockRate: 48_000,
                takesNack: false, takesPictureLossIndication: false, transportSequenceExtension: sequence,
                wantsEstimate: false),
        ]
    }
}
