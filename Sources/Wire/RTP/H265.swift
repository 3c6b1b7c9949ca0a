/// The H.265 payload format (RFC 7798), without decoding order numbers.
public enum H265 {
    /// The types of NAL units and of RTP payloads that this project distinguishes (ITU-T H.265, table 7-1; RFC 7798,
    /// section 4.4).
    public enum UnitType {
        /// The last type of a coded slice segment.
        @inlinable public static var lastSlice: UInt8 { 31 }
        /// A video parameter set.
        @inlinable public static var videoParameterSet: UInt8 { 32 }
        /// A sequence parameter set.
        @inlinable public static var sequenceParameterSet: UInt8 { 33 }
        /// A picture parameter set.
        @inlinable public static var pictureParameterSet: UInt8 { 34 }
        /// An access unit delimiter.
        @inlinable public static var accessUnitDelimiter: UInt8 { 35 }
        /// Several units in one payload.
        @inlinable public static var aggregation: UInt8 { 48 }
        /// A fragment of a unit.
        @inlinable public static var fragmentationUnit: UInt8 { 49 }
    }

    /// The length of a unit's header in bytes.
    @inlinable public static var headerLength: Int { 2 }

    /// The type in the first byte of a unit's or a payload's header.
    @inlinable
    public static func type(_ first: UInt8) -> UInt8 { first >> 1 & 0x3F }

    /// The header's first byte with another type; the rest of it stays.
    @inlinable
    public static func header(_ first: UInt8, withType type: UInt8) -> UInt8 { first & 0x81 | type << 1 }

    /// Whether units of this type are slices of a picture from which decoding can start: IDR, BLA and CRA (IRAP).
    @inlinable
    public static func isRandomAccessPoint(_ type: UInt8) -> Bool { (16...23).contains(type) }

    /// Whether other pictures may need a slice of this type in a temporal layer, where `highest` is the highest layer of the
    /// stream. A sub-layer non-reference picture (table 7-1: the even types below 16) is needed only by higher layers.
    public static func isReferenced(type: UInt8, temporalLayer: UInt8, highest: UInt8) -> Bool {
        type >= 16 || type & 1 == 1 || temporalLayer < highest
    }

    /// The temporal layer, from 0, in the second byte of a unit's or a payload's header.
    @inlinable
    public static func temporalLayer(_ second: UInt8) -> UInt8 { max(second & 7, 1) - 1 }

    /// What one RTP payload holds, as far as it matters for starting to decode.
    public struct PayloadInfo: OptionSet, Sendable, BitwiseCopyable {
        public let rawValue: UInt8

        @inlinable
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// A video or sequence parameter set.
        @inlinable public static var parameterSet: PayloadInfo { PayloadInfo(rawValue: 1) }
        /// A slice of a picture from which decoding can start, or a part of one.
        @inlinable public static var randomAccessPoint: PayloadInfo { PayloadInfo(rawValue: 2) }
        /// A slice of another picture, or a part of one.
        @inlinable public static var otherSlice: PayloadInfo { PayloadInfo(rawValue: 4) }
        /// The first bytes of the first slice of a picture.
        @inlinable public static var startsPicture: PayloadInfo { PayloadInfo(rawValue: 8) }
    }

    /// Looks into a payload: single units, aggregations and fragments. Never fails; for a payload that is cut short,
    /// the result covers the part before the cut.
    public static func info(payload: UnsafeRawBufferPointer) -> PayloadInfo {
        guard payload.count > headerLength else { return [] }
        switch type(payload[0]) {
        case UnitType.fragmentationUnit:
            let header = payload[2]
            var info = info(ofType: header & 0x3F)
            let startsSlice = header & 0x80 != 0 && header & 0x3F <= UnitType.lastSlice
            if startsSlice, payload.count > 3, payload[3] & 0x80 != 0 { info.insert(.startsPicture) }
            return info
        case UnitType.aggregation:
            var info: PayloadInfo = []
            forEachUnit(inAggregation: payload) { info.formUnion(self.info(ofUnit: $0)) }
            return info
        default:
            return info(ofUnit: payload)
        }
    }

    /// What a unit holds.
    public static func info(ofUnit unit: UnsafeRawBufferPointer) -> PayloadInfo {
        guard let first = unit.first else { return [] }
        var info = info(ofType: type(first))
        // first_slice_segment_in_pic_flag is the slice header's first bit.
        if type(first) <= UnitType.lastSlice, unit.count > headerLength, unit[2] & 0x80 != 0 {
            info.insert(.startsPicture)
        }
        return info
    }

    private static func info(ofType type: UInt8) -> PayloadInfo {
        switch type {
        case 16...23: .randomAccessPoint
        case 0...31: .otherSlice
        case UnitType.videoParameterSet, UnitType.sequenceParameterSet: .parameterSet
        default: []
        }
    }

    /// Hands each unit of an aggregation (RFC 7798, section 4.4.2) to `body`.
    ///
    /// - Returns: false where a length reaches past the end; the units before it are handed out.
    @discardableResult
    public static func forEachUnit(
        inAggregation payload: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        var offset = headerLength
        while offset + 2 < payload.count {
            let length = Int(payload.bigEndian16(at: offset))
            offset += 2
            guard length > headerLength, payload.count - offset >= length else { return false }
            body(UnsafeRawBufferPointer(rebasing: payload[offset..<offset + length]))
            offset += length
        }
        return true
    }
}
