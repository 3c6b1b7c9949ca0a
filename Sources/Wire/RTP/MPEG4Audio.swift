/// What an `AudioSpecificConfig` of MPEG-4 audio says (ISO/IEC 14496-3, section 1.6.2.1).
public struct AudioSpecificConfig: Hashable, Sendable {
    /// The audio object type: 2 is AAC-LC, 5 HE-AAC (spectral band replication), 29 HE-AAC v2, 39 AAC-ELD.
    public var objectType: Int
    /// The core's sample rate in hertz; with spectral band replication the output has twice the rate.
    public var sampleRate: Int
    /// The channel configuration: 1 is mono, 2 is stereo, 7 is eight channels; 0 where the stream itself states it.
    public var channelConfiguration: Int
    /// Samples per channel in a frame of the core: 1024, 960, 512 or 480.
    public var frameLength: Int
    /// The configuration in bits, which need not be a whole number of bytes.
    public var bitCount: Int

    /// The rates by index.
    static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
    ]

    /// The sample rate of an index, 0 to 12; nil for others.
    public static func rate(ofIndex index: Int) -> Int? {
        sampleRates.indices.contains(index) ? sampleRates[index] : nil
    }

    /// Describes AAC-LC.
    public init(sampleRate: Int, channels: Int) {
        objectType = 2
        self.sampleRate = sampleRate
        channelConfiguration = channels
        frameLength = 1024
        bitCount = Self.sampleRates.contains(sampleRate) ? 16 : 40
    }

    /// Reads a configuration; nil when it is cut short or names no rate.
    public init?(parsing bytes: UnsafeRawBufferPointer) {
        var reader = PlainBitReader(bytes)
        self.init(reading: &reader)
    }

    /// Reads a configuration; nil when it is cut short or names no rate.
    public init?(parsing bytes: [UInt8]) {
        guard let config = bytes.withUnsafeBytes({ AudioSpecificConfig(parsing: $0) }) else { return nil }
        self = config
    }

    init?(reading reader: inout PlainBitReader) {
        let start = reader.position
        guard let type = Self.readObjectType(&reader), let rate = Self.readSampleRate(&reader),
            let channels = reader.read(4)
        else { return nil }
        objectType = type
        sampleRate = rate
        channelConfiguration = Int(channels)
        frameLength = 1024
        var coreType = type
        if type == 5 || type == 29 {
            // After the core's rate come the output's rate and the core's own type.
            guard Self.readSampleRate(&reader) != nil, let core = Self.readObjectType(&reader) else { return nil }
            coreType = core
        }
        switch coreType {
        case 1, 2, 3, 4, 6, 7, 17, 19...23:
            // GASpecificConfig: frameLengthFlag, dependsOnCoreCoder, extensionFlag.
            guard let isShort = reader.read(1), let depends = reader.read(1) else { return nil }
            if depends == 1, reader.read(14) == nil { return nil }
            guard let hasExtension = reader.read(1) else { return nil }
            frameLength = isShort == 1 ? 960 : 1024
            // A program config element, or scalable coding: cameras send neither.
            if channels == 0 || [6, 20].contains(coreType) { break }
            if hasExtension == 1 {
                if [17, 19, 20, 23].contains(coreType), reader.read(3) == nil { return nil }
                if reader.read(1) == nil { return nil }
            }
        case 39:
            guard let isShort = reader.read(1) else { return nil }
            frameLength = isShort == 1 ? 480 : 512
        default:
            break
        }
        bitCount = reader.position - start
    }

    private static func readObjectType(_ reader: inout PlainBitReader) -> Int? {
        guard let type = reader.read(5) else { return nil }
        guard type == 31 else { return Int(type) }
        return reader.read(6).map { 32 + Int($0) }
    }

    private static func readSampleRate(_ reader: inout PlainBitReader) -> Int? {
        guard let index = reader.read(4) else { return nil }
        if index == 15 {
            return reader.read(24).map(Int.init).flatMap { (1000...768_000).contains($0) ? $0 : nil }
        }
        return sampleRates.indices.contains(Int(index)) ? sampleRates[Int(index)] : nil
    }

    /// The configuration's bytes, for AAC-LC.
    public var bytes: [UInt8] {
        var writer = PlainBitWriter()
        writer.write(UInt32(truncatingIfNeeded: objectType), bits: 5)
        if let index = Self.sampleRates.firstIndex(of: sampleRate) {
            writer.write(UInt32(index), bits: 4)
        } else {
            writer.write(15, bits: 4)
            writer.write(UInt32(truncatingIfNeeded: sampleRate), bits: 24)
        }
        writer.write(UInt32(truncatingIfNeeded: channelConfiguration), bits: 4)
        writer.write(0, bits: 3)
        return writer.bytes
    }

    /// The number of channels; 2 where the stream itself states it.
    public var channels: Int {
        switch channelConfiguration {
        case 1...6: channelConfiguration
        case 7: 8
        default: 2
        }
    }

    /// The object type as people call it, for example `AAC-LC`.
    public var name: String {
        switch objectType {
        case 1: "AAC Main"
        case 2: "AAC-LC"
        case 3: "AAC-SSR"
        case 4: "AAC-LTP"
        case 5: "HE-AAC"
        case 23: "AAC-LD"
        case 29: "HE-AAC v2"
        case 39: "AAC-ELD"
        case 42: "xHE-AAC"
        default: "MPEG-4 audio object type \(objectType)"
        }
    }
}
