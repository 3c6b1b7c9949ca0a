/// `a=rtpmap`: what a payload type carries (RFC 8866, section 6.6).
struct PayloadMapping: Hashable, Sendable {
    var payloadType: UInt8
    var name: String
    var clockRate: Int
    var channels: Int

    init?(parsing value: String) {
        let (word, rest) = value.firstWord
        guard let payloadType = UInt8(word), payloadType <= 127 else { return nil }
        let parts = rest.firstWord.word.parts(separatedBy: "/")
        guard parts.count >= 2, !parts[0].isEmpty, let clockRate = Int(parts[1]), (1...1_000_000).contains(clockRate)
        else { return nil }
        self.payloadType = payloadType
        self.name = String(parts[0])
        self.clockRate = clockRate
        let channels = parts.count > 2 ? Int(parts[2]) ?? 1 : 1
        self.channels = (1...64).contains(channels) ? channels : 1
    }

    /// The mapping as it is written after the payload type.
    var text: String { MediaCodec(name: name, clockRate: clockRate, channels: channels).mapping }

    /// Whether it is what RFC 3551 assigns to this static payload type.
    var isAssigned: Bool {
        guard let assigned = StaticPayloadTypes.codec(payloadType) else { return false }
        return assigned.isNamed(name) && assigned.clockRate == clockRate && assigned.channels == channels
    }
}

/// A payload type of a media description and its codec.
public struct RTPPayload: Hashable, Sendable {
    /// The payload type, 0 to 127.
    public var payloadType: UInt8
    /// The codec with its format parameters.
    public var codec: MediaCodec

    /// Describes a payload type.
    public init(payloadType: UInt8, codec: MediaCodec) {
        self.payloadType = payloadType
        self.codec = codec
    }
}

extension FormatParameters {
    /// Reads what follows the payload type in an `a=fmtp` line: `name=value` separated by semicolons.
    public init<Text: StringProtocol>(parsing text: Text) where Text.SubSequence == Substring {
        self.init(
            text.parts(separatedBy: ";").compactMap { part in
                let part = part.trimmed
                guard !part.isEmpty else { return nil }
                let pair = part.parts(separatedBy: "=", atMost: 2)
                return Parameter(
                    name: String(pair[0].trimmed), value: pair.count == 2 ? String(pair[1].trimmed) : "")
            })
    }

    /// The parameters as `a=fmtp` writes them.
    public var text: String {
        parameters.map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }.joined(separator: ";")
    }
}

extension MediaCodec {
    /// The codec as `a=rtpmap` writes it, for example `opus/48000/2`.
    public var mapping: String {
        channels > 1 ? "\(name)/\(clockRate)/\(channels)" : "\(name)/\(clockRate)"
    }
}

extension MediaDescription {
    /// The payload types in the order of the `m=` line, with their codecs. Payload types without a codec are left out.
    ///
    /// A static payload type needs no `a=rtpmap` (RFC 3551, section 6). If a camera contradicts itself, these rules
    /// apply. The first of two mappings counts; for a static payload type the one that RFC 3551 assigns counts. Several
    /// `a=fmtp` lines add up. A mapping or a set of parameters for a payload type that the `m=` line does not name
    /// belongs to the only payload type that lacks one. Of several such sets the first in the order of the lines is
    /// used.
    public var payloads: [RTPPayload] {
        guard isRTP else { return [] }
        var mappings: [UInt8: PayloadMapping] = [:]
        var parameters: [UInt8: FormatParameters] = [:]
        var parameterOrder: [UInt8] = []
        for case .attribute(let attribute) in lines {
            guard let value = attribute.value else { continue }
            if attribute.name.equalsIgnoringCase("rtpmap") {
                guard let mapping = PayloadMapping(parsing: value) else { continue }
                if let first = mappings[mapping.payloadType], first.isAssigned || !mapping.isAssigned { continue }
                mappings[mapping.payloadType] = mapping
            } else if attribute.name.equalsIgnoringCase("fmtp") {
                guard let (payloadType, more) = Self.formatParameters(value) else { continue }
                if parameters[payloadType] == nil { parameterOrder.append(payloadType) }
                parameters[payloadType, default: []].parameters += more.parameters
            }
        }
        let payloadTypes = self.payloadTypes
        let orphans = mappings.keys.filter { !payloadTypes.contains($0) }
        let unmapped = payloadTypes.filter { mappings[$0] == nil && StaticPayloadTypes.codec($0) == nil }
        if orphans.count == 1, unmapped.count == 1 { mappings[unmapped[0]] = mappings[orphans[0]] }

        let strays = parameterOrder.filter { !payloadTypes.contains($0) }.compactMap { parameters[$0] }
        return payloadTypes.compactMap { payloadType in
            let mapped = mappings[payloadType].map {
                MediaCodec(name: $0.name, clockRate: $0.clockRate, channels: $0.channels)
            }
            guard var codec = mapped ?? StaticPayloadTypes.codec(payloadType) else { return nil }
            codec.formatParameters = parameters[payloadType] ?? []
            if codec.formatParameters.parameters.isEmpty {
                codec.formatParameters = strays.first { codec.isConfigured(by: $0) } ?? []
            }
            return RTPPayload(payloadType: payloadType, codec: codec)
        }
    }

    /// The codec of each payload type.
    public var codecs: [UInt8: MediaCodec] {
        Dictionary(payloads.map { ($0.payloadType, $0.codec) }, uniquingKeysWith: { first, _ in first })
    }

    /// The payload types of the `m=` line in order, each once; empty where the section does not carry RTP.
    public var payloadTypes: [UInt8] {
        guard isRTP else { return [] }
        var seen: Set<UInt8> = []
        return formats.compactMap { UInt8($0) }.filter { $0 <= 127 && seen.insert($0).inserted }
    }

    /// All `a=fmtp` parameters of the media description, whatever their payload type.
    var allFormatParameters: [FormatParameters] {
        values(of: "fmtp").compactMap { Self.formatParameters($0)?.parameters }
    }

    private static func formatParameters(_ value: String) -> (payloadType: UInt8, parameters: FormatParameters)? {
        let (word, rest) = value.firstWord
        guard let payloadType = UInt8(word), payloadType <= 127 else { return nil }
        return (payloadType, FormatParameters(parsing: rest))
    }
}

extension SessionDescription {
    /// The payload types of one media description, as ``MediaDescription/payloads`` gives them. Parameters that a
    /// camera wrote under another `m=` line are found too.
    public func payloads(ofMediaAt index: Int) -> [RTPPayload] {
        guard media.indices.contains(index) else { return [] }
        var payloads = media[index].payloads
        // Only the first useful one, which is what a camera sends. If every one were looked up, a hostile description
        // could make the search long.
        guard let position = payloads.firstIndex(where: { $0.codec.isOfUse }) else { return payloads }
        let codec = payloads[position].codec
        guard codec.formatParameters.parameters.isEmpty else { return payloads }
        let others = media.indices.filter { $0 != index }
        let stray = others.lazy.flatMap { media[$0].allFormatParameters }.first { codec.isConfigured(by: $0) }
        guard let stray else { return payloads }
        // Another media description with this codec has a better claim to the parameters.
        let isClaimed = others.contains { other in
            media[other].payloads.contains { $0.codec.isConfigured(by: stray) }
        }
        if !isClaimed { payloads[position].codec.formatParameters = stray }
        return payloads
    }
}

extension MediaCodec {
    /// Whether the parameters hold configuration that only this codec's decoder uses.
    func isConfigured(by parameters: FormatParameters) -> Bool {
        let names: [String] =
            switch name.lowercased() {
            case "h264": ["sprop-parameter-sets", "packetization-mode"]
            case "h265": ["sprop-vps", "sprop-sps", "sprop-pps"]
            case "mpeg4-generic", "mp4a-latm": ["config", "streamtype", "sizelength"]
            default: []
            }
        return names.contains { parameters[$0] != nil }
    }
}

/// The payload types that need no `a=rtpmap` (RFC 3551, section 6).
enum StaticPayloadTypes {
    static func codec(_ payloadType: UInt8) -> MediaCodec? {
        switch payloadType {
        case 0: MediaCodec(name: "PCMU", clockRate: 8000)
        case 3: MediaCodec(name: "GSM", clockRate: 8000)
        case 4: MediaCodec(name: "G723", clockRate: 8000)
        case 5: MediaCodec(name: "DVI4", clockRate: 8000)
        case 6: MediaCodec(name: "DVI4", clockRate: 16000)
        case 7: MediaCodec(name: "LPC", clockRate: 8000)
        case 8: MediaCodec(name: "PCMA", clockRate: 8000)
        case 9: MediaCodec(name: "G722", clockRate: 8000)
        case 10: MediaCodec(name: "L16", clockRate: 44100, channels: 2)
        case 11: MediaCodec(name: "L16", clockRate: 44100)
        case 12: MediaCodec(name: "QCELP", clockRate: 8000)
        case 13: MediaCodec(name: "CN", clockRate: 8000)
        case 14: MediaCodec(name: "MPA", clockRate: 90000)
        case 15: MediaCodec(name: "G728", clockRate: 8000)
        case 18: MediaCodec(name: "G729", clockRate: 8000)
        case 25: MediaCodec(name: "CelB", clockRate: 90000)
        case 26: MediaCodec(name: "JPEG", clockRate: 90000)
        case 28: MediaCodec(name: "nv", clockRate: 90000)
        case 31: MediaCodec(name: "H261", clockRate: 90000)
        case 32: MediaCodec(name: "MPV", clockRate: 90000)
        case 33: MediaCodec(name: "MP2T", clockRate: 90000)
        case 34: MediaCodec(name: "H263", clockRate: 90000)
        default: nil
        }
    }
}
