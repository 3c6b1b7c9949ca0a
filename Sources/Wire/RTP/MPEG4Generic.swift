/// The payload format for MPEG-4 elementary streams (RFC 3640), as cameras use it for AAC.
public enum MPEG4Generic {
    /// How the headers of access units are written: the parameters of `a=fmtp` (RFC 3640, section 4.1).
    public struct Parameters: Hashable, Sendable {
        /// The bits of an access unit's size; 0 where sizes are constant or a packet holds one unit.
        public var sizeLength: Int
        /// The bits of the first unit's index.
        public var indexLength: Int
        /// The bits by which the index of a further unit differs.
        public var indexDeltaLength: Int
        /// The bits of a composition time's difference; 0 where headers have none.
        public var compositionDeltaLength: Int
        /// The bits of a decoding time's difference; 0 where headers have none.
        public var decodingDeltaLength: Int
        /// Whether each header has a bit for random access.
        public var hasRandomAccessFlag: Bool
        /// The bits of the stream's state; 0 where headers have none.
        public var streamStateLength: Int
        /// The bits of the auxiliary section's size; 0 where payloads have no such section.
        public var auxiliarySizeLength: Int
        /// The size of every unit in bytes; 0 where sizes differ.
        public var constantSize: Int

        /// AAC in high bit rate: sizes of 13 bits (RFC 3640, section 3.3.6).
        public static let aacHighBitRate = Parameters(sizeLength: 13, indexLength: 3, indexDeltaLength: 3)
        /// AAC in low bit rate: sizes of 6 bits (RFC 3640, section 3.3.5).
        public static let aacLowBitRate = Parameters(sizeLength: 6, indexLength: 2, indexDeltaLength: 2)

        /// Describes the headers. Lengths outside 0 to 32 bits count as 0.
        public init(
            sizeLength: Int, indexLength: Int, indexDeltaLength: Int, compositionDeltaLength: Int = 0,
            decodingDeltaLength: Int = 0, hasRandomAccessFlag: Bool = false, streamStateLength: Int = 0,
            auxiliarySizeLength: Int = 0, constantSize: Int = 0
        ) {
            func bounded(_ length: Int) -> Int { (0...32).contains(length) ? length : 0 }
            self.sizeLength = bounded(sizeLength)
            self.indexLength = bounded(indexLength)
            self.indexDeltaLength = bounded(indexDeltaLength)
            self.compositionDeltaLength = bounded(compositionDeltaLength)
            self.decodingDeltaLength = bounded(decodingDeltaLength)
            self.hasRandomAccessFlag = hasRandomAccessFlag
            self.streamStateLength = bounded(streamStateLength)
            self.auxiliarySizeLength = bounded(auxiliarySizeLength)
            self.constantSize = (0...maximumUnitLength).contains(constantSize) ? constantSize : 0
        }

        /// Whether payloads start with a section of headers.
        var hasHeaders: Bool {
            sizeLength + indexLength + indexDeltaLength + compositionDeltaLength + decodingDeltaLength
                + streamStateLength > 0 || hasRandomAccessFlag
        }
    }

    /// The largest access unit that is assembled from fragments, in bytes: AAC needs 768 per channel.
    public static let maximumUnitLength = 16 * 1024

    /// The length of the header section of a payload with one access unit in high bit rate.
    public static let singleUnitHeaderLength = 4

    /// Writes the header section of a payload with one whole access unit of `length` bytes, in high bit rate
    /// (RFC 3640, section 3.3.6). `length` is below 8192.
    public static func writeSingleUnitHeader(length: Int, into bytes: UnsafeMutableRawBufferPointer) {
        guard bytes.count >= singleUnitHeaderLength else { return }
        bytes[0] = 0
        bytes[1] = 16
        bytes[2] = UInt8(truncatingIfNeeded: length >> 5)
        bytes[3] = UInt8(truncatingIfNeeded: length << 3)
    }
}

/// Extracts access units from RTP payloads (RFC 3640, section 3.2), in order. A unit may come in several fragments.
///
/// It does not undo interleaving: cameras do not use it with AAC, and it would add the delay of a group.
public struct MPEG4GenericDepacketizer: Sendable {
    private let parameters: MPEG4Generic.Parameters
    private var fragment: [UInt8] = []
    private var fragmentedLength = 0

    /// Starts empty.
    public init(_ parameters: MPEG4Generic.Parameters) {
        self.parameters = parameters
    }

    /// Records that a packet has been lost: a unit that has begun cannot be completed.
    public mutating func recordLoss() {
        fragment.removeAll(keepingCapacity: true)
        fragmentedLength = 0
    }

    /// Adds a payload and hands each complete access unit to `body`. The bytes are valid until `body` returns.
    ///
    /// - Returns: false where the payload contradicts itself; the units before the contradiction are handed out.
    public mutating func depacketize(
        _ payload: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        guard parameters.hasHeaders else {
            return takeWithoutHeaders(payload, body)
        }
        guard payload.count > 2 else { return false }
        let headerBits = Int(payload.bigEndian16(at: 0))
        let headerBytes = (headerBits + 7) / 8
        guard headerBits > 0, payload.count > 2 + headerBytes else { return false }
        var headers = PlainBitReader(UnsafeRawBufferPointer(rebasing: payload[2..<2 + headerBytes]))
        guard let dataOffset = dataOffset(payload, from: 2 + headerBytes) else { return false }
        var data = payload.from(dataOffset)
        var isFirst = true
        while headers.position < headerBits, !data.isEmpty {
            guard let size = readHeader(&headers, isFirst: isFirst), headers.position <= headerBits else {
                return false
            }
            let length = size > 0 ? size : data.count
            guard length <= MPEG4Generic.maximumUnitLength else { return false }
            if length > data.count || !fragment.isEmpty {
                // Only a unit that is alone in its packet may be cut into fragments. Each states the size of the whole.
                return isFirst && takeFragment(data, of: length, body)
            }
            body(UnsafeRawBufferPointer(rebasing: data[..<length]))
            data = data.from(length)
            isFirst = false
        }
        return !isFirst
    }

    /// Where the data starts after the auxiliary section, which is not read.
    private func dataOffset(_ payload: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard parameters.auxiliarySizeLength > 0 else { return start }
        var reader = PlainBitReader(payload.from(start))
        guard let bits = reader.read(parameters.auxiliarySizeLength) else { return nil }
        let end = start + (parameters.auxiliarySizeLength + Int(bits) + 7) / 8
        return end < payload.count ? end : nil
    }

    /// The size in the next header; 0 where it is not written.
    private func readHeader(_ reader: inout PlainBitReader, isFirst: Bool) -> Int? {
        guard let size = reader.read(parameters.sizeLength) else { return nil }
        guard reader.skip(isFirst ? parameters.indexLength : parameters.indexDeltaLength) else { return nil }
        for length in [parameters.compositionDeltaLength, parameters.decodingDeltaLength] where length > 0 {
            guard let flag = reader.read(1), flag == 0 || reader.skip(length) else { return nil }
        }
        guard reader.skip((parameters.hasRandomAccessFlag ? 1 : 0) + parameters.streamStateLength) else { return nil }
        return parameters.sizeLength == 0 ? parameters.constantSize : Int(size)
    }

    private mutating func takeFragment(
        _ data: UnsafeRawBufferPointer, of length: Int, _ body: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        if fragment.isEmpty || fragmentedLength != length {
            // A different size means a different unit: the one before lost its end.
            fragment.removeAll(keepingCapacity: true)
            fragmentedLength = length
        }
        guard fragment.count + data.count <= length else {
            recordLoss()
            if data.count == length { body(data) }
            return data.count == length
        }
        fragment.append(contentsOf: data)
        if fragment.count == length {
            fragment.withUnsafeBytes { body($0) }
            recordLoss()
        }
        return true
    }

    private func takeWithoutHeaders(
        _ payload: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        guard !payload.isEmpty else { return false }
        guard parameters.constantSize > 0 else {
            body(payload)
            return true
        }
        var rest = payload
        while rest.count >= parameters.constantSize {
            body(UnsafeRawBufferPointer(rebasing: rest[..<parameters.constantSize]))
            rest = rest.from(parameters.constantSize)
        }
        return rest.isEmpty
    }
}
