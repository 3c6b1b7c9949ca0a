/// Extracts AAC frames from RTP payloads of `MP4A-LATM` (RFC 6416, section 6; RFC 3016). The payloads are audio
/// multiplex elements of ISO/IEC 14496-3, section 1.7.3. Their configuration is in the session description or in the
/// stream.
///
/// It reads one program with one layer, which is all that cameras send. An element may come in several packets. It is
/// complete when it has the length that it states.
public struct MPEG4LATMDepacketizer: Sendable {
    /// The configuration of the sound, in the form that a decoder accepts; nil until the stream has sent one.
    public private(set) var audioSpecificConfig: [UInt8]?
    /// What the configuration says.
    public private(set) var configuration: AudioSpecificConfig?

    private let isConfigurationInBand: Bool
    private var multiplex: StreamMultiplex?
    private var waiting: [UInt8] = []
    private var frame: [UInt8] = []

    /// The most bytes that wait for the rest of an element.
    public static let maximumElementLength = 16 * 1024

    /// Starts with the values of `a=fmtp`: `config`, a StreamMuxConfig in bytes (empty where it is missing), and
    /// `cpresent`.
    public init(streamMuxConfig: [UInt8], isConfigurationInBand: Bool) {
        self.isConfigurationInBand = isConfigurationInBand
        streamMuxConfig.withUnsafeBytes { bytes in
            var reader = PlainBitReader(bytes)
            if let multiplex = StreamMultiplex(reading: &reader, from: bytes) { adopt(multiplex) }
        }
    }

    /// Records that a packet has been lost: an element that has begun cannot be completed.
    public mutating func recordLoss() {
        waiting.removeAll(keepingCapacity: true)
    }

    /// Adds a payload and hands each complete frame of AAC to `body`. The bytes are valid until `body` returns. When
    /// `body` is called, ``audioSpecificConfig`` is the frame's; `body` gets it, too.
    ///
    /// - Returns: false where the payload cannot be read or no configuration is known yet.
    public mutating func depacketize(
        _ payload: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, _ configuration: [UInt8]) -> Void
    ) -> Bool {
        guard waiting.count + payload.count <= Self.maximumElementLength else {
            recordLoss()
            return false
        }
        if waiting.isEmpty {
            return take(payload, body)
        }
        waiting.append(contentsOf: payload)
        let whole = waiting
        waiting.removeAll(keepingCapacity: true)
        return whole.withUnsafeBytes { take($0, body) }
    }

    private enum Outcome {
        case complete, incomplete, invalid
    }

    private mutating func take(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, [UInt8]) -> Void
    ) -> Bool {
        var offset = 0
        while offset < bytes.count {
            var reader = PlainBitReader(bytes.from(offset))
            switch readElement(&reader, from: bytes.from(offset), body) {
            case .complete:
                // Elements start at a byte boundary.
                offset += max(1, (reader.position + 7) / 8)
            case .incomplete:
                waiting.append(contentsOf: bytes.from(offset))
                return true
            case .invalid:
                return false
            }
        }
        return true
    }

    private mutating func readElement(
        _ reader: inout PlainBitReader, from bytes: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, [UInt8]) -> Void
    ) -> Outcome {
        if isConfigurationInBand {
            guard let usesSame = reader.read(1) else { return .incomplete }
            if usesSame == 0 {
                guard let multiplex = StreamMultiplex(reading: &reader, from: bytes) else { return .invalid }
                adopt(multiplex)
            }
        }
        guard let multiplex, let configuration = audioSpecificConfig else { return .invalid }
        // All lengths are checked before the first frame is handed out, so no frame is handed out twice.
        var ahead = reader
        for _ in 0..<multiplex.subframeCount {
            guard let length = multiplex.readLength(&ahead) else { return .incomplete }
            guard length <= Self.maximumElementLength else { return .invalid }
            guard ahead.skip(length * 8) else { return .incomplete }
        }
        for _ in 0..<multiplex.subframeCount {
            frame.removeAll(keepingCapacity: true)
            guard let length = multiplex.readLength(&reader), reader.copyBytes(length, appendingTo: &frame) else {
                return .invalid
            }
            if !frame.isEmpty { frame.withUnsafeBytes { body($0, configuration) } }
        }
        _ = reader.skip(min(multiplex.otherDataBits, reader.remaining))
        return .complete
    }

    private mutating func adopt(_ multiplex: StreamMultiplex) {
        self.multiplex = multiplex
        audioSpecificConfig = multiplex.audioSpecificConfig
        configuration = multiplex.configuration
    }
}

/// What a StreamMuxConfig says about one program with one layer (ISO/IEC 14496-3, table 1.42).
private struct StreamMultiplex: Sendable {
    var subframeCount: Int
    var audioSpecificConfig: [UInt8]
    var configuration: AudioSpecificConfig
    var otherDataBits = 0
    /// The length of each frame where it is constant; nil where it is written before each.
    var constantLength: Int?

    init?(reading reader: inout PlainBitReader, from bytes: UnsafeRawBufferPointer) {
        guard let version = reader.read(1) else { return nil }
        // Version 1 has a second form, which is reserved.
        if version == 1, reader.read(1) != 0 { return nil }
        if version == 1, Self.readValue(&reader) == nil { return nil }
        guard reader.read(1) != nil, let subframes = reader.read(6), reader.read(4) == 0, reader.read(3) == 0 else {
            return nil
        }
        subframeCount = Int(subframes) + 1
        var end: Int?
        if version == 1 {
            guard let length = Self.readValue(&reader), length <= reader.remaining else { return nil }
            end = reader.position + length
        }
        var copy = reader
        guard let config = AudioSpecificConfig(reading: &reader) else { return nil }
        configuration = config
        let bitCount = (end ?? reader.position) - copy.position
        guard bitCount > 0, bitCount <= 1024 else { return nil }
        var writer = PlainBitWriter()
        for _ in 0..<bitCount {
            guard let bit = copy.read(1) else { return nil }
            writer.write(bit, bits: 1)
        }
        audioSpecificConfig = writer.bytes
        reader = copy
        guard let lengthType = reader.read(3) else { return nil }
        switch lengthType {
        case 0:
            guard reader.read(8) != nil else { return nil }
        case 1:
            // In steps of one byte, from twenty on.
            guard let length = reader.read(9) else { return nil }
            constantLength = Int(length) + 20
        default:
            return nil
        }
        guard let hasOtherData = reader.read(1) else { return nil }
        if hasOtherData == 1 {
            guard let bits = version == 1 ? Self.readValue(&reader) : Self.readEscapedLength(&reader) else {
                return nil
            }
            otherDataBits = bits
        }
        guard let hasChecksum = reader.read(1) else { return nil }
        if hasChecksum == 1, reader.read(8) == nil { return nil }
    }

    /// The length of the next frame in bytes (PayloadLengthInfo, table 1.44); nil past the end.
    func readLength(_ reader: inout PlainBitReader) -> Int? {
        if let constantLength { return constantLength }
        var length = 0
        while let byte = reader.read(8) {
            length += Int(byte)
            if byte != 255 { return length }
        }
        return nil
    }

    /// LatmGetValue (table 1.43).
    private static func readValue(_ reader: inout PlainBitReader) -> Int? {
        guard let count = reader.read(2), let value = reader.read((Int(count) + 1) * 8) else { return nil }
        return Int(value)
    }

    private static func readEscapedLength(_ reader: inout PlainBitReader) -> Int? {
        var length = 0
        for _ in 0..<4 {
            guard let escape = reader.read(1), let byte = reader.read(8) else { return nil }
            length = length << 8 | Int(byte)
            if escape == 0 { return length }
        }
        return nil
    }
}
