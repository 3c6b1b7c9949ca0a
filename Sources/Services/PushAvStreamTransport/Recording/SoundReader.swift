import Codecs
import FragmentedMP4
import MediaRelay
import RTP
import SDP
import Stations
import Transport

/// Takes the pieces of sound out of a track's packets. AAC and Opus come out as the camera made them. Other sound comes
/// out as Opus.
struct SoundReader: ~Copyable {
    /// The clock of what comes out.
    let clockRate: Int
    private let codec: MediaCodec
    private var description: MP4Track?
    private var generic: MPEG4GenericDepacketizer?
    private var latm: MPEG4LATMDepacketizer?
    private var transcoding: AudioTranscoding?
    private var nextSequence: Int64?
    /// How long an access unit of AAC lasts.
    private var unitDuration: Int64 = 0
    /// Packets that could not be read.
    private(set) var unreadable: UInt64 = 0

    /// Whether sound in this codec is recorded as it is.
    static func passes(_ codec: MediaCodec) -> Bool {
        ["opus", "mpeg4-generic", "mp4a-latm"].contains(codec.name.lowercased())
    }

    /// - Throws: `CodecError` for sound that cannot be decoded.
    init(_ codec: MediaCodec) throws(CodecError) {
        var transcoding: AudioTranscoding?
        if !Self.passes(codec) {
            transcoding = try AudioTranscoding(codec: codec, firstTimestamp: 0, firstSequenceNumber: 0)
        }
        self.init(codec, transcoding: transcoding)
    }

    // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
    private init(_ codec: MediaCodec, transcoding: consuming AudioTranscoding?) {
        self.codec = codec
        self.transcoding = transcoding
        let rate = max(codec.clockRate, 1)
        switch codec.name.lowercased() {
        case "opus":
            clockRate = Opus.clockRate
            description = MP4Track(codec: .opus(channels: 2, preSkip: 0), timescale: Opus.clockRate)
        case "mpeg4-generic":
            clockRate = rate
            let bytes =
                AudioSpecificConfig.bytes(in: codec.formatParameters)
                ?? AudioSpecificConfig(sampleRate: rate, channels: codec.channels).bytes
            generic = MPEG4GenericDepacketizer(MPEG4Generic.Parameters(codec.formatParameters))
            (description, unitDuration) = Self.describe(bytes, codec)
        case "mp4a-latm":
            clockRate = rate
            latm = MPEG4LATMDepacketizer(
                streamMuxConfig: decodeHexadecimal(codec.formatParameters["config"] ?? "") ?? [],
                isConfigurationInBand: codec.formatParameters["cpresent"].flatMap { Int($0) } != 0)
        default:
            clockRate = Opus.clockRate
            description = MP4Track(codec: .opus(channels: 1, preSkip: 0), timescale: Opus.clockRate)
        }
    }

    /// The source has started again.
    mutating func restart() throws(CodecError) {
        nextSequence = nil
        generic?.recordLoss()
        latm?.recordLoss()
        if transcoding != nil { try transcoding?.restart(codec: codec) }
    }

    /// Hands the pieces of a batch to `output`.
    /// - Throws: `CodecError` where the encoder fails.
    mutating func read(_ tapped: TappedBatch, _ output: (RecordedSound) -> Void) throws(CodecError) {
        if transcoding != nil { return try transcode(tapped, output) }
        let packets = tapped.batch.packets
        guard packets.indices.contains(tapped.firstPacket) else { return }
        for index in tapped.firstPacket..<packets.count {
            let sequence = tapped.sequence(of: index)
            if let nextSequence, sequence != nextSequence {
                generic?.recordLoss()
                latm?.recordLoss()
            }
            nextSequence = sequence + 1
            let payload = tapped.batch.payload(of: packets[index])
            guard !payload.isEmpty else { continue }
            let ticks = Int64(
                Int32(bitPattern: packets[index].timestamp &- packets[tapped.firstPacket].timestamp))
            let place = Place(
                timestamp: packets[index].timestamp &+ tapped.timestampOffset,
                capture: tapped.capture + .nanoseconds(ticks * 1_000_000_000 / Int64(clockRate)),
                arrival: tapped.batch.arrival)
            if !read(payload, place, output) { unreadable += 1 }
        }
    }

    /// Where a packet is in time.
    private struct Place {
        var timestamp: UInt32
        var capture: Instant
        var arrival: Instant
    }

    private mutating func read(
        _ payload: UnsafeRawBufferPointer, _ place: Place, _ output: (RecordedSound) -> Void
    ) -> Bool {
        if generic != nil {
            guard let description else { return false }
            var units: [[UInt8]] = []
            let isWhole = generic?.depacketize(payload) { units.append(Array($0)) } ?? false
            for (number, unit) in units.enumerated() { output(piece(unit, place, number, description)) }
            return isWhole
        }
        if latm != nil {
            var units: [([UInt8], [UInt8])] = []
            let isWhole = latm?.depacketize(payload) { units.append((Array($0), $1)) } ?? false
            for (number, (unit, configuration)) in units.enumerated() {
                (description, unitDuration) = Self.describe(configuration, codec)
                guard let description else { return false }
                output(piece(unit, place, number, description))
            }
            return isWhole
        }
        guard let description, let contents = Opus.TableOfContents(parsing: payload) else { return false }
        output(
            RecordedSound(
                data: Array(payload), timestamp: place.timestamp, duration: Int64(contents.sampleCount),
                description: description, capture: place.capture, arrival: place.arrival))
        return true
    }

    private func piece(_ data: [UInt8], _ place: Place, _ number: Int, _ description: MP4Track) -> RecordedSound {
        let later = unitDuration * Int64(number)
        // A packet may hold tens of thousands of units that last a second each: their nanoseconds in ticks would overflow.
        let (seconds, rest) = later.quotientAndRemainder(dividingBy: Int64(clockRate))
        return RecordedSound(
            data: data, timestamp: place.timestamp &+ UInt32(truncatingIfNeeded: later), duration: unitDuration,
            description: description,
            capture: place.capture + .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / Int64(clockRate)),
            arrival: place.arrival)
    }

    private static func describe(_ configuration: [UInt8], _ codec: MediaCodec) -> (MP4Track?, Int64) {
        guard let known = AudioSpecificConfig(parsing: configuration),
            let track = try? MP4Track(
                audioCodec: codec.name, clockRate: codec.clockRate, channels: codec.channels,
                audioSpecificConfig: configuration)
        else { return (nil, 0) }
        return (track, Int64(known.frameLength) * Int64(codec.clockRate) / Int64(max(known.sampleRate, 1)))
    }

    private mutating func transcode(_ tapped: TappedBatch, _ output: (RecordedSound) -> Void) throws(CodecError) {
        guard let made = try transcoding?.transcode(tapped), let batch = made.batch, let capture = made.capture,
            let description
        else { return }
        for packet in batch.packets {
            let payload = batch.payload(of: packet)
            guard let contents = Opus.TableOfContents(parsing: payload) else { continue }
            let ticks = Int64(Int32(bitPattern: packet.timestamp &- capture.timestamp))
            output(
                RecordedSound(
                    data: Array(payload), timestamp: packet.timestamp, duration: Int64(contents.sampleCount),
                    description: description, capture: capture.instant + .nanoseconds(ticks * 1_000_000_000 / 48_000),
                    arrival: tapped.batch.arrival))
        }
    }
}
