import RTP
import SDP

/// Detects whether a camera sends pictures in an order other than display order, as with B-frames. Browsers show each
/// picture as it comes, so such a stream stutters.
package struct ReorderingDetector {
    /// Whether it has been seen to reorder.
    package private(set) var isReordering = false
    /// Whether the stream promises not to.
    private var isOrderPromised = false
    private var stepsBack = 0

    /// More than one, so that a clock that is set back once does not count.
    private static let minimumStepsBack = 3
    /// As far as B-frames can reach: half a second at 90 kHz.
    private static let maximumStep: Int32 = 45_000

    /// Records what a sequence parameter set says: how many pictures may be reordered, nil where it does not say.
    mutating func recordParameterSet(reorderedPictures: Int?, isProof: Bool) {
        isOrderPromised = reorderedPictures == 0
        if isProof, let reorderedPictures, reorderedPictures > 0 { isReordering = true }
    }

    /// Records the payload with the beginning of an H.264 slice.
    mutating func recordH264(payload: UnsafeRawBufferPointer) {
        guard !isReordering, !isOrderPromised else { return }
        if H264.startsBidirectionalSlice(payload: payload) { isReordering = true }
    }

    /// Records the timestamps of a picture and of the one that came before it.
    mutating func record(_ timestamp: UInt32, after previous: UInt32) {
        guard !isReordering else { return }
        let step = Int32(bitPattern: timestamp &- previous)
        if step < 0, step >= -Self.maximumStep { stepsBack += 1 }
        if stepsBack >= Self.minimumStepsBack { isReordering = true }
    }
}

extension IncomingTrack {
    /// Passes the promise of the newest parameter sets to the detector.
    mutating func recordParameterSets() {
        switch format {
        case .h264:
            guard let set = parameterSets.sequenceParameterSet else { return }
            // A set that allows reordering is not proof: some encoders write it and never reorder.
            reordering.recordParameterSet(
                reorderedPictures: set.profile == 66 ? 0 : set.reorderedFrames, isProof: false)
        case .h265:
            guard let set = h265ParameterSets.sequenceParameterSet else { return }
            reordering.recordParameterSet(reorderedPictures: set.reorderedPictures, isProof: true)
        default:
            break
        }
    }

    /// The parameters of `a=fmtp` that the stream itself has stated; empty before it has.
    package var learnedParameters: [FormatParameters.Parameter] {
        switch format {
        case .h264: parameterSets.profileLevel.map { [.init(name: "profile-level-id", value: $0)] } ?? []
        case .h265: h265ParameterSets.profileParameters
        default: []
        }
    }
}
