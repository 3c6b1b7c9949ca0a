import RTP
import SDP

/// The parameter sets of one H.265 stream, kept for key frames that come without them.
package struct H265ParameterSets {
    /// The sets without start codes: video, sequence and picture parameter sets in this order.
    private(set) var sets: [[UInt8]] = []

    private static let maximumCount = 8
    private static let maximumSize = 1024

    /// Starts with the sets of the camera's session description.
    package init(_ sets: [[UInt8]]) {
        for set in sets.sorted(by: { Self.type($0) < Self.type($1) }) {
            set.withUnsafeBytes { learn($0) }
        }
    }

    private static func type(_ set: [UInt8]) -> UInt8 { set.first.map(H265.type) ?? 0 }

    /// Whether it has at least one set of each kind.
    var isComplete: Bool {
        (H265.UnitType.videoParameterSet...H265.UnitType.pictureParameterSet).allSatisfy { type in
            sets.contains { Self.type($0) == type }
        }
    }

    /// Learns a set that came with the stream: it is used from now on. A new sequence parameter set invalidates the old
    /// picture parameter sets.
    mutating func learn(_ unit: UnsafeRawBufferPointer) {
        guard unit.count > H265.headerLength, unit.count <= Self.maximumSize else { return }
        let type = H265.type(unit[0])
        guard (H265.UnitType.videoParameterSet...H265.UnitType.pictureParameterSet).contains(type),
            !sets.contains(where: { $0.elementsEqual(unit) })
        else { return }
        switch type {
        case H265.UnitType.pictureParameterSet:
            if sets.count >= Self.maximumCount, let oldest = sets.firstIndex(where: { Self.type($0) == type }) {
                sets.remove(at: oldest)
            }
        case H265.UnitType.sequenceParameterSet:
            sets.removeAll { Self.type($0) >= type }
        default:
            sets.removeAll { Self.type($0) == type }
        }
        let place = sets.firstIndex { Self.type($0) > type } ?? sets.endIndex
        sets.insert(Array(unit), at: place)
    }

    /// What the sequence parameter set says.
    var sequenceParameterSet: H265.SequenceParameterSet? {
        sets.first { Self.type($0) == H265.UnitType.sequenceParameterSet }?.withUnsafeBytes {
            H265.SequenceParameterSet(parsing: $0)
        }
    }

    /// The highest temporal layer that the stream may have (`sps_max_sub_layers_minus1`); the highest that exists before
    /// the first set.
    var highestTemporalLayer: UInt8 {
        let set = sets.first { Self.type($0) == H265.UnitType.sequenceParameterSet }
        // The set's first four bits after the header name the video parameter set.
        return set.map { $0[H265.headerLength] >> 1 & 7 } ?? 7
    }

    /// The parameters of `a=fmtp` that state the profile (RFC 7798, section 7.1); empty while no set states it.
    package var profileParameters: [FormatParameters.Parameter] {
        guard let set = sequenceParameterSet else { return [] }
        return [
            .init(name: "profile-id", value: String(set.profile)),
            .init(name: "tier-flag", value: set.isHighTier ? "1" : "0"),
            .init(name: "level-id", value: String(set.level)),
        ]
    }
}
