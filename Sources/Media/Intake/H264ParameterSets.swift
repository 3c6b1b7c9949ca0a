import RTP

/// The parameter sets of one H.264 stream, kept for key frames that come without them.
package struct H264ParameterSets {
    /// The sets without start codes, the sequence parameter set first.
    private(set) var sets: [[UInt8]]

    private static let maximumCount = 8
    private static let maximumSize = 1024

    /// Starts with the sets of the camera's session description.
    init(_ sets: [[UInt8]]) {
        self.sets = []
        for set in sets.sorted(by: { $0.first.map { $0 & 0x1F } ?? 0 < $1.first.map { $0 & 0x1F } ?? 0 }) {
            set.withUnsafeBytes { learn($0) }
        }
    }

    /// Whether it has at least one set of each kind.
    var isComplete: Bool {
        has(H264.UnitType.sequenceParameterSet) && has(H264.UnitType.pictureParameterSet)
    }

    private func has(_ type: UInt8) -> Bool {
        sets.contains { $0.first.map { $0 & 0x1F } == type }
    }

    /// Learns a set that came with the stream: it is used from now on. A new sequence parameter set invalidates the old
    /// picture parameter sets.
    mutating func learn(_ unit: UnsafeRawBufferPointer) {
        guard let first = unit.first, unit.count <= Self.maximumSize else { return }
        switch first & 0x1F {
        case H264.UnitType.sequenceParameterSet:
            if let known = sets.first, known.elementsEqual(unit) { return }
            sets = [Array(unit)]
        case H264.UnitType.pictureParameterSet:
            if sets.contains(where: { $0.elementsEqual(unit) }) { return }
            if sets.count >= Self.maximumCount { sets.remove(at: 1) }
            sets.append(Array(unit))
        default:
            break
        }
    }

    /// What the sequence parameter set says.
    var sequenceParameterSet: H264.SequenceParameterSet? {
        sets.first { $0.first.map { $0 & 0x1F } == H264.UnitType.sequenceParameterSet }?.withUnsafeBytes {
            H264.SequenceParameterSet(parsing: $0)
        }
    }

    /// The `profile-level-id` of the first sequence parameter set (RFC 6184, section 8.1), as six hexadecimal digits.
    var profileLevel: String? { Self.profileLevel(sets) }

    package static func profileLevel(_ sets: [[UInt8]]) -> String? {
        guard
            let set = sets.first(where: {
                $0.count >= 4 && $0[0] & 0x1F == H264.UnitType.sequenceParameterSet
            })
        else { return nil }
        let digits = Array("0123456789abcdef".utf8)
        let text = set[1...3].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
