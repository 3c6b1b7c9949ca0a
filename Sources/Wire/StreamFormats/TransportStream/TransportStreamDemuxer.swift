import RTP

/// Takes an MPEG transport stream apart (ISO/IEC 13818-1): the first program's first video and first audio.
///
/// Each packet of the video's stream has one picture, as all live encoders write it. Packets that are missing, scrambled or
/// damaged are left out, and the picture that they belong to with them.
public struct TransportStreamDemuxer: StreamDemuxer {
    /// The length of a packet.
    public static let packetLength = 188
    private static let syncByte: UInt8 = 0x47
    /// So many bytes without one packet are another format.
    private static let maximumWithoutPackets = 64 * 1024

    private var list = StreamTrackList()
    private var rest: [UInt8] = []
    private var programs = SectionAssembler()
    private var map = SectionAssembler()
    private var mapIdentifier: UInt16?
    private var streams: [UInt16: PacketizedStream] = [:]
    private var described: [TransportTables.Stream] = []
    private var skipped = 0
    /// All streams have one clock.
    private var clock = TimestampUnwrapper(bits: 33)

    /// A stream that begins anywhere.
    public init() {}

    public var tracks: [StreamTrack] { list.tracks }
    public var leftOut: [UnsupportedPart] { list.leftOut }
    public var awaitsTracks: Bool { streams.isEmpty || streams.values.contains { $0.track == nil } }

    public mutating func append(
        _ bytes: UnsafeRawBufferPointer, _ body: (StreamUnit) -> Void
    ) throws(StreamFormatError) {
        rest.append(contentsOf: bytes)
        var waiting: [UInt8] = []
        swap(&waiting, &rest)
        let used = waiting.withUnsafeBytes { take($0, body) }
        waiting.removeFirst(used)
        rest = waiting
        guard skipped <= Self.maximumWithoutPackets else { throw .notOfFormat(.transportStream) }
    }

    public mutating func finish(_ body: (StreamUnit) -> Void) {
        for identifier in streams.keys.sorted() {
            guard var stream = streams[identifier] else { continue }
            var packets: [PacketizedStream.Packet] = []
            stream.finish { packets.append($0) }
            for packet in packets { pass(packet, of: &stream, body) }
            streams[identifier] = stream
        }
    }

    /// Takes whole packets. Returns how many bytes that were.
    private mutating func take(_ bytes: UnsafeRawBufferPointer, _ body: (StreamUnit) -> Void) -> Int {
        var offset = 0
        while bytes.count - offset >= Self.packetLength {
            // A packet is believed where the next one follows it, or where it is the last so far.
            let next = offset + Self.packetLength
            guard bytes[offset] == Self.syncByte, next >= bytes.count || bytes[next] == Self.syncByte else {
                offset += 1
                skipped += 1
                continue
            }
            takePacket(UnsafeRawBufferPointer(rebasing: bytes[offset..<next]), body)
            offset = next
        }
        return offset
    }

    private mutating func takePacket(_ packet: UnsafeRawBufferPointer, _ body: (StreamUnit) -> Void) {
        let identifier = UInt16(packet[1] & 0x1F) << 8 | UInt16(packet[2])
        let startsUnit = packet[1] & 0x40 != 0
        let (hasAdaptation, hasPayload) = (packet[3] & 0x20 != 0, packet[3] & 0x10 != 0)
        guard packet[1] & 0x80 == 0 else { return }
        guard packet[3] & 0xC0 == 0 else {
            if streams[identifier] != nil { list.leaveOut(.encryptedPackets) }
            return
        }
        var start = 4
        var isDiscontinuous = false
        if hasAdaptation {
            let length = Int(packet[4])
            start = 5 + length
            if length > 0 { isDiscontinuous = packet[5] & 0x80 != 0 }
        }
        guard hasPayload, start < packet.count else { return }
        let payload = UnsafeRawBufferPointer(rebasing: packet[start...])
        if identifier == 0 {
            guard let section = programs.append(payload, startsSection: startsUnit) else { return }
            skipped = 0
            if let found = TransportTables.programMap(section) { mapIdentifier = found }
        } else if identifier == mapIdentifier {
            if let section = map.append(payload, startsSection: startsUnit) { describe(section) }
        } else if var stream = streams.removeValue(forKey: identifier) {
            var packets: [PacketizedStream.Packet] = []
            stream.append(
                payload, startsPacket: startsUnit, continuity: packet[3] & 0xF, isDiscontinuous: isDiscontinuous
            ) { packets.append($0) }
            for packet in packets { pass(packet, of: &stream, body) }
            streams[identifier] = stream
        }
    }

    private mutating func describe(_ section: [UInt8]) {
        guard let found = TransportTables.streams(section), found != described else { return }
        described = found
        var kept: [UInt16: PacketizedStream] = [:]
        var (hasVideo, hasAudio) = (false, false)
        for stream in found {
            guard let content = stream.content else {
                if let codec = stream.unsupportedCodec { list.leaveOut(.codec(codec)) }
                continue
            }
            let isVideo = content == .h264 || content == .h265
            guard isVideo ? !hasVideo : !hasAudio else {
                list.leaveOut(.another(.init(isVideo: isVideo)))
                continue
            }
            if isVideo { hasVideo = true } else { hasAudio = true }
            if let known = streams[stream.identifier], known.content == content {
                kept[stream.identifier] = known
                continue
            }
            var new = PacketizedStream(content)
            switch content {
            case .h264: new.track = list.set(.h264(parameterSets: []))
            case .h265: new.track = list.set(.h265(parameterSets: []))
            case .opus: new.track = list.set(.opus)
            case .aac: break
            }
            kept[stream.identifier] = new
        }
        streams = kept
    }

    private mutating func pass(
        _ packet: PacketizedStream.Packet, of stream: inout PacketizedStream, _ body: (StreamUnit) -> Void
    ) {
        guard !packet.bytes.isEmpty else { return }
        let decoding = clock.unwrap(packet.decoding)
        // A picture is shown after it is decoded, whichever of the two has wrapped.
        let presentation = decoding + (packet.presentation - packet.decoding) & (1 << 33 - 1)
        switch stream.content {
        case .h264, .h265:
            guard let track = stream.track else { return }
            body(
                StreamUnit(
                    track: track, bytes: Array(packet.bytes), presentation: presentation, decoding: decoding))
        case .opus:
            guard let track = stream.track else { return }
            OpusAccessUnits.forEach(packet.bytes, from: presentation) { bytes, time in
                body(StreamUnit(track: track, bytes: bytes, presentation: time, decoding: time))
            }
        case .aac:
            var frames: [([UInt8], Int64)] = []
            packet.bytes.withUnsafeBytes { bytes in
                stream.sound.append(bytes, at: presentation) { frames.append(($0, $1)) }
            }
            guard !frames.isEmpty, let config = stream.sound.config else { return }
            let track = list.set(.aac(config: config.bytes))
            stream.track = track
            for (bytes, time) in frames {
                body(StreamUnit(track: track, bytes: bytes, presentation: time, decoding: time))
            }
        }
    }
}

extension TransportTables.Stream {
    /// What it holds, where that is supported.
    fileprivate var content: PacketizedStream.Content? {
        switch type {
        case 0x1B: .h264
        case 0x24: .h265
        case 0x0F: .aac
        case 0x06 where registration == "Opus": .opus
        default: nil
        }
    }

    /// Its codec where it is media that is not supported; nil for other data.
    fileprivate var unsupportedCodec: UnsupportedPart.Codec? {
        switch type {
        case 0x01, 0x02: .mpeg2Video
        case 0x03, 0x04: .mpegAudio
        case 0x10: .mpeg4Visual
        case 0x11: .latm
        case 0x81: .ac3
        case 0x87: .eac3
        default: nil
        }
    }
}

/// The Opus packets in a packet of a transport stream, each behind a control header (the mapping of Opus to MPEG-TS
/// that FFmpeg and MediaMTX write).
enum OpusAccessUnits {
    static func forEach(_ bytes: ArraySlice<UInt8>, from time: Int64, _ body: ([UInt8], Int64) -> Void) {
        var offset = bytes.startIndex
        var time = time
        while offset + 3 <= bytes.endIndex {
            // Eleven bits of prefix, then two flags of trimming and one of an extension.
            guard bytes[offset] == 0x7F, bytes[offset + 1] & 0xE0 == 0xE0 else { return }
            let flags = bytes[offset + 1]
            offset += 2
            var size = 0
            while offset < bytes.endIndex {
                let part = Int(bytes[offset])
                offset += 1
                size += part
                if part != 255 { break }
            }
            if flags & 0x10 != 0 { offset += 2 }
            if flags & 0x08 != 0 { offset += 2 }
            if flags & 0x04 != 0 {
                guard offset < bytes.endIndex else { return }
                offset += 1 + Int(bytes[offset])
            }
            guard size > 0, offset + size <= bytes.endIndex else { return }
            let packet = Array(bytes[offset..<offset + size])
            body(packet, time)
            let samples = packet.withUnsafeBytes { Opus.TableOfContents(parsing: $0)?.sampleCount } ?? 960
            time &+= Int64(samples) * StreamUnit.clockRate / Int64(Opus.clockRate)
            offset += size
        }
    }
}
