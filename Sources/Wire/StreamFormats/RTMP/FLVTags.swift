import RTP
import Transport

/// Reads the bodies of FLV tags, which are RTMP's messages of video, sound and data as well (Adobe Flash Video File Format
/// Specification 10.1, annex E; Enhanced RTMP for H.265).
struct FLVTags: Sendable {
    /// The types of tags.
    enum Kind: UInt8 {
        case audio = 8
        case video = 9
        case data = 18
    }

    private(set) var list = StreamTrackList()
    /// The tracks that the metadata announce; nil before they have come.
    private var announced: (video: Bool, audio: Bool)?
    private var video: UnitConfiguration?
    private var clock = TimestampUnwrapper(bits: 32)

    /// Whether a track has been announced that is not described yet.
    var awaitsTracks: Bool {
        let isThere = { (isVideo: Bool) in list.index(isVideo: isVideo) != nil }
        guard let announced else { return !isThere(true) || !isThere(false) }
        return announced.video && !isThere(true) || announced.audio && !isThere(false)
    }

    /// Takes one body, with its timestamp of 32 bits in milliseconds. A unit for which nothing is left of `allowance` is
    /// left out.
    mutating func take(
        _ kind: Kind, _ bytes: UnsafeRawBufferPointer, timestamp: UInt32, within allowance: inout UnitAllowance,
        _ body: (StreamUnit) -> Void
    ) {
        switch kind {
        case .data: takeMetadata(bytes)
        case .audio: takeAudio(bytes, timestamp) { if allowance.admit($0) { body($0) } }
        case .video: takeVideo(bytes, timestamp) { if allowance.admit($0) { body($0) } }
        }
    }

    private mutating func ticks(_ timestamp: UInt32) -> Int64 { clock.unwrap(Int64(timestamp)) * 90 }

    // MARK: Video

    private mutating func takeVideo(
        _ bytes: UnsafeRawBufferPointer, _ timestamp: UInt32, _ body: (StreamUnit) -> Void
    ) {
        guard bytes.count >= 5 else { return }
        let isEnhanced = bytes[0] & 0x80 != 0
        var offset = 5
        var composition: Int64 = 0
        let isConfiguration: Bool
        if isEnhanced {
            let name = String(decoding: bytes[1..<5], as: UTF8.self)
            guard name == "hvc1" || name == "avc1" else {
                if bytes[0] & 0xF <= 3 { list.leaveOut(.namedCodec(.video, name.filter(\.isLetterOrDigit))) }
                // OBS sends its first track outside of these.
                if bytes[0] & 0xF == 6 { list.leaveOut(.furtherTracks(.video)) }
                return
            }
            switch bytes[0] & 0xF {
            case 0: isConfiguration = true
            case 1:
                guard bytes.count >= 8 else { return }
                (isConfiguration, composition, offset) = (false, signed(bytes, at: 5), 8)
            case 3: isConfiguration = false
            // The end of a sequence, and metadata.
            default: return
            }
            if isConfiguration { configure(bytes, from: offset, isH265: name == "hvc1") }
        } else {
            let codec = bytes[0] & 0xF
            // 12 is H.265 as Chinese cameras send it, in the form of H.264.
            guard codec == 7 || codec == 12 else {
                list.leaveOut(.numberedCodec(.video, codec))
                return
            }
            guard bytes[1] <= 1 else { return }
            isConfiguration = bytes[1] == 0
            composition = signed(bytes, at: 2)
            if isConfiguration { configure(bytes, from: offset, isH265: codec == 12) }
        }
        guard !isConfiguration, let video, let track = list.index(isVideo: true),
            let unit = video.annexB(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
        else { return }
        let decoding = ticks(timestamp)
        body(StreamUnit(track: track, bytes: unit, presentation: decoding + composition * 90, decoding: decoding))
    }

    private func signed(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int64 {
        let value = Int64(bytes[offset]) << 16 | Int64(bytes[offset + 1]) << 8 | Int64(bytes[offset + 2])
        return value >= 1 << 23 ? value - 1 << 24 : value
    }

    private mutating func configure(_ bytes: UnsafeRawBufferPointer, from offset: Int, isH265: Bool) {
        let record = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        guard let new = isH265 ? UnitConfiguration(hevc: record) : UnitConfiguration(avc: record), new != video else {
            return
        }
        video = new
        list.set(isH265 ? .h265(parameterSets: new.parameterSets) : .h264(parameterSets: new.parameterSets))
    }

    // MARK: Sound

    private mutating func takeAudio(
        _ bytes: UnsafeRawBufferPointer, _ timestamp: UInt32, _ body: (StreamUnit) -> Void
    ) {
        guard bytes.count >= 2 else { return }
        var start = 1
        switch bytes[0] >> 4 {
        case 10:
            start = 2
            if bytes[1] == 0 {
                let config = Array(bytes[2...])
                guard config.count <= 64, AudioSpecificConfig(parsing: config) != nil else { return }
                list.set(.aac(config: config))
                return
            }
        case 7: list.set(.pcma(channels: Int(bytes[0] & 1) + 1))
        case 8: list.set(.pcmu(channels: Int(bytes[0] & 1) + 1))
        case 9: return leaveOutEnhancedSound(bytes)
        case let codec:
            list.leaveOut(Self.unsupportedSound(codec))
            return
        }
        guard let track = list.index(isVideo: false), bytes.count > start else { return }
        let time = ticks(timestamp)
        body(StreamUnit(track: track, bytes: Array(bytes[start...]), presentation: time, decoding: time))
    }

    /// Sound whose codec has this number.
    private static func unsupportedSound(_ codec: UInt8) -> UnsupportedPart {
        switch codec {
        case 2: .codec(.mp3)
        case 14: .codec(.mp3At8kHz)
        case 11: .codec(.speex)
        case 4, 5, 6: .codec(.nellymoser)
        default: .numberedCodec(.sound, codec)
        }
    }

    /// Sound of Enhanced RTMP 2, which names its codec in four letters, or is of tracks besides the first one.
    private mutating func leaveOutEnhancedSound(_ bytes: UnsafeRawBufferPointer) {
        let kind = bytes[0] & 0xF
        if kind == 5 { return list.leaveOut(.furtherTracks(.sound)) }
        guard kind <= 1, bytes.count >= 5 else { return }
        let name = String(decoding: bytes[1..<5], as: UTF8.self)
        list.leaveOut(.namedCodec(.sound, name.filter(\.isLetterOrDigit)))
    }

    // MARK: Metadata

    /// `onMetaData` names the codecs of the tracks that will come.
    private mutating func takeMetadata(_ bytes: UnsafeRawBufferPointer) {
        var reader = AMF0Reader(bytes)
        var values: [AMF0Value] = []
        while values.count < 4, let value = reader.next() { values.append(value) }
        guard values.contains(.string("onMetaData")) else { return }
        for case .object(let fields) in values {
            // Some encoders name no codec, or 0 for one that they do not know. That announces and excludes nothing.
            let names = Set(fields.filter { $0.value != .number(0) }.map(\.name))
            let (video, audio) = (names.contains("videocodecid"), names.contains("audiocodecid"))
            announced = video || audio ? (video: video, audio: audio) : nil
        }
    }
}

extension Character {
    fileprivate var isLetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}
