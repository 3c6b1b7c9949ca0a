import RTP
import SDP

/// AAC in `mpeg4-generic` (RFC 3640), by libavcodec.
final class AACSpeechDecoder: AudioDecoder {
    private var depacketizer: MPEG4GenericDepacketizer
    private let decoder: LibavSpeechDecoder

    init(_ codec: MediaCodec) throws(CodecError) {
        let format = codec.formatParameters
        if let mode = format["mode"]?.lowercased(), !mode.hasPrefix("aac"), mode != "generic" {
            throw CodecError(codec: codec.name, operation: "make a decoder", reason: "the mode \(mode) is not AAC")
        }
        // Some cameras put the parameters under a wrong payload type. All of them send AAC-LC in high bit rate, and
        // `a=rtpmap` also states the rate and the channels.
        let config =
            AudioSpecificConfig.bytes(in: format)
            ?? AudioSpecificConfig(sampleRate: codec.clockRate, channels: codec.channels).bytes
        guard let description = AudioSpecificConfig(parsing: config) else {
            throw CodecError(
                codec: codec.name, operation: "make a decoder",
                reason: "config=\(format["config"] ?? "") cannot be read")
        }
        depacketizer = MPEG4GenericDepacketizer(MPEG4Generic.Parameters(format))
        decoder = try LibavSpeechDecoder(
            .init(
                name: "aac", codec: description.name, extradata: config, sampleRate: description.sampleRate,
                channels: description.channels))
    }

    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        var failure: CodecError?
        let isWhole = depacketizer.depacketize(payload) { unit in
            do throws(CodecError) {
                try decoder.decode(unit, output)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard isWhole else {
            throw CodecError(
                codec: "AAC", operation: "decode",
                reason: "the headers of the access units do not fit a payload of \(payload.count) bytes (RFC 3640)")
        }
    }

    func recordLoss() { depacketizer.recordLoss() }
}

/// AAC in `MP4A-LATM` (RFC 6416), by libavcodec.
final class LATMSpeechDecoder: AudioDecoder {
    private var depacketizer: MPEG4LATMDepacketizer
    private var decoder: LibavSpeechDecoder?
    private var configuration: [UInt8] = []

    init(_ codec: MediaCodec) throws(CodecError) {
        let format = codec.formatParameters
        let isInBand = format["cpresent"].flatMap { Int($0) } != 0
        depacketizer = MPEG4LATMDepacketizer(
            streamMuxConfig: decodeHexadecimal(format["config"] ?? "") ?? [], isConfigurationInBand: isInBand)
        if !isInBand, depacketizer.configuration == nil {
            throw CodecError(
                codec: codec.name, operation: "make a decoder",
                reason: "cpresent=0 and config=\(format["config"] ?? "") cannot be read")
        }
        // A missing library is noticed now, not at the first packet.
        try Libav.load(codec: codec.name, operation: "make a decoder")
    }

    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        var failure: CodecError?
        let isWhole = depacketizer.depacketize(payload) { frame, configuration in
            do throws(CodecError) {
                try decode(frame, configuration, output)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard isWhole else {
            throw CodecError(
                codec: "MP4A-LATM", operation: "decode",
                reason: "the audio multiplex element of \(payload.count) bytes cannot be read (RFC 6416)")
        }
    }

    private func decode(
        _ frame: UnsafeRawBufferPointer, _ configuration: [UInt8], _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        if decoder == nil || configuration != self.configuration {
            decoder = try LibavSpeechDecoder(
                .init(
                    name: "aac", codec: "AAC", extradata: configuration,
                    sampleRate: AudioSpecificConfig(parsing: configuration)?.sampleRate ?? 48_000))
            self.configuration = configuration
        }
        try decoder?.decode(frame, output)
    }

    func recordLoss() { depacketizer.recordLoss() }
}

extension AudioSpecificConfig {
    /// The bytes of `config` in `a=fmtp`; nil where it is missing or not a configuration.
    package static func bytes(in format: FormatParameters) -> [UInt8]? {
        guard let bytes = format["config"].flatMap({ decodeHexadecimal($0) }), bytes.count <= 128,
            AudioSpecificConfig(parsing: bytes) != nil
        else { return nil }
        return bytes
    }
}

extension MPEG4Generic.Parameters {
    /// Reads the parameters of `a=fmtp`; where they state no sizes, those of the mode apply.
    package init(_ format: FormatParameters) {
        func number(_ name: String) -> Int? { format[name].flatMap { Int($0) } }
        let preset: Self = format["mode"]?.lowercased() == "aac-lbr" ? .aacLowBitRate : .aacHighBitRate
        let constantSize = number("constantsize") ?? 0
        let isBare = number("sizelength") == nil && constantSize == 0
        self.init(
            sizeLength: isBare ? preset.sizeLength : number("sizelength") ?? 0,
            indexLength: number("indexlength") ?? (isBare ? preset.indexLength : 0),
            indexDeltaLength: number("indexdeltalength") ?? (isBare ? preset.indexDeltaLength : 0),
            compositionDeltaLength: number("ctsdeltalength") ?? 0,
            decodingDeltaLength: number("dtsdeltalength") ?? 0,
            hasRandomAccessFlag: number("randomaccessindication") == 1,
            streamStateLength: number("streamstateindication") ?? 0,
            auxiliarySizeLength: number("auxiliarydatasizelength") ?? 0, constantSize: constantSize)
    }
}

/// Reads pairs of hexadecimal digits; nil for anything else.
package func decodeHexadecimal(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
        let value: UInt8
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): value = character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): value = character - UInt8(ascii: "A") + 10
        case UInt8(ascii: "\""), UInt8(ascii: " "): continue
        default: return nil
        }
        if let first = high {
            bytes.append(first << 4 | value)
            high = nil
        } else {
            high = value
        }
    }
    // A final single digit is the rest of a configuration that is not a whole number of bytes.
    if let high { bytes.append(high << 4) }
    return bytes
}
