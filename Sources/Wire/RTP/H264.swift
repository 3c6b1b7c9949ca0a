/// The H.264 payload format (RFC 6184), packetization modes 0 and 1.
public enum H264 {
    /// The types of NAL units and of RTP payloads that this project distinguishes (RFC 6184, table 1).
    public enum UnitType {
        /// A coded slice of a picture other than IDR.
        @inlinable public static var slice: UInt8 { 1 }
        /// A coded slice data partition A.
        @inlinable public static var partitionA: UInt8 { 2 }
        /// A coded slice of an IDR picture.
        @inlinable public static var instantaneousDecoderRefresh: UInt8 { 5 }
        /// Supplemental enhancement information.
        @inlinable public static var supplementalEnhancement: UInt8 { 6 }
        /// A sequence parameter set.
        @inlinable public static var sequenceParameterSet: UInt8 { 7 }
        /// A picture parameter set.
        @inlinable public static var pictureParameterSet: UInt8 { 8 }
        /// An access unit delimiter.
        @inlinable public static var accessUnitDelimiter: UInt8 { 9 }
        /// A single-time aggregation packet.
        @inlinable public static var singleTimeAggregation: UInt8 { 24 }
        /// A fragmentation unit.
        @inlinable public static var fragmentationUnit: UInt8 { 28 }
    }

    /// What one RTP payload holds, as far as it matters for starting to decode.
    public struct KeyFrameInfo: OptionSet, Sendable, BitwiseCopyable {
        public let rawValue: UInt8

        @inlinable
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// A sequence parameter set.
        @inlinable public static var sequenceParameterSet: KeyFrameInfo { KeyFrameInfo(rawValue: 1) }
        /// A picture parameter set.
        @inlinable public static var pictureParameterSet: KeyFrameInfo { KeyFrameInfo(rawValue: 2) }
        /// A slice of an IDR picture, or a part of one.
        @inlinable public static var instantaneousDecoderRefresh: KeyFrameInfo { KeyFrameInfo(rawValue: 4) }
        /// The first bytes of the first slice of a picture, IDR or not.
        @inlinable public static var startsPicture: KeyFrameInfo { KeyFrameInfo(rawValue: 8) }
        /// An access unit delimiter, the first unit of its frame.
        @inlinable public static var accessUnitDelimiter: KeyFrameInfo { KeyFrameInfo(rawValue: 16) }
        /// A slice, or a part of one, of a picture other than IDR.
        @inlinable public static var otherSlice: KeyFrameInfo { KeyFrameInfo(rawValue: 32) }

        /// The payload belongs to a frame from which decoding can start: a parameter set before an IDR picture, or
        /// (a part of) that picture itself.
        ///
        /// One payload does not show what follows a parameter set, and some cameras repeat theirs before other
        /// pictures. Code that has the whole frame looks for ``instantaneousDecoderRefresh`` in it.
        @inlinable public var belongsToKeyFrame: Bool {
            !isDisjoint(with: [.sequenceParameterSet, .instantaneousDecoderRefresh])
        }
    }

    /// Looks into a payload: single NAL units, aggregations (STAP-A) and fragments (FU-A). Never fails; for a payload
    /// that is cut short, the result covers the part before the cut.
    @inlinable
    public static func keyFrameInfo(payload: UnsafeRawBufferPointer) -> KeyFrameInfo {
        guard let first = payload.first else { return [] }
        switch first & 0x1F {
        case UnitType.fragmentationUnit:
            guard payload.count > 1 else { return [] }
            let header = payload[1]
            var info = info(ofUnitType: header & 0x1F)
            if header & 0x80 != 0, payload.count > 2, isSlice(header & 0x1F), payload[2] & 0x80 != 0 {
                info.insert(.startsPicture)
            }
            return info
        case UnitType.singleTimeAggregation:
            var info: KeyFrameInfo = []
            var offset = 1
            while offset + 2 < payload.count {
                let length = Int(payload.bigEndian16(at: offset))
                offset += 2
                if length > 0 { info.formUnion(self.info(ofUnit: payload.from(offset))) }
                offset += length
            }
            return info
        default:
            return info(ofUnit: payload)
        }
    }

    @inlinable
    static func info(ofUnit unit: UnsafeRawBufferPointer) -> KeyFrameInfo {
        guard let header = unit.first else { return [] }
        var info = info(ofUnitType: header & 0x1F)
        // first_mb_in_slice is the slice header's first field, and zero is coded as a single one bit.
        if isSlice(header & 0x1F), unit.count > 1, unit[1] & 0x80 != 0 { info.insert(.startsPicture) }
        return info
    }

    @inlinable
    static func info(ofUnitType type: UInt8) -> KeyFrameInfo {
        switch type {
        case 7: .sequenceParameterSet
        case 8: .pictureParameterSet
        case 5: .instantaneousDecoderRefresh
        case 9: .accessUnitDelimiter
        case 1, 2: .otherSlice
        default: []
        }
    }

    /// Whether other pictures may need what a unit or a payload holds (`nal_ref_idc`, in the same place of both headers).
    @inlinable
    public static func isReferenced(_ payload: UnsafeRawBufferPointer) -> Bool {
        payload.first.map { $0 & 0x60 != 0 } ?? true
    }

    @inlinable
    static func isSlice(_ type: UInt8) -> Bool { type == 1 || type == 2 || type == 5 }
}
