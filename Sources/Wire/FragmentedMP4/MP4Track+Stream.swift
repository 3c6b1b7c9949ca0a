import RTP

/// Tracks as a stream describes itself: by the codec's name in its session description, and by what it sends first.
extension MP4Track {
    /// Describes pictures.
    /// - Parameters:
    ///   - name: the encoding name of the RTP payload format, for example `H264`, in any case.
    ///   - clockRate: the RTP clock rate.
    ///   - keyFrame: a key frame as ``FrameAssembler`` makes it, with the parameter sets of H.264 and H.265.
    /// - Throws: ``MP4Error/unsupportedCodec(_:_:)`` for a codec that files of this kind do not support, and for a
    ///   frame from which the stream cannot be described.
    public init(videoCodec name: String, clockRate: Int, keyFrame: UnsafeRawBufferPointer) throws(MP4Error) {
        let codec: Codec? =
            switch name.lowercased() {
            case "vp8":
                VP8.FrameHeader(parsing: keyFrame).flatMap { header in
                    header.isKeyFrame ? .vp8(width: header.width, height: header.height) : nil
                }
            case "vp9": VP9.FrameHeader(parsing: keyFrame).map { .vp9($0) }
            case "av1":
                AV1.SequenceHeader.find(inTemporalUnit: keyFrame).map { .av1($0.header, unit: Array($0.unit)) }
            case "h264": Self.h264(keyFrame)
            case "h265": Self.h265(keyFrame)
            default: throw .unsupportedCodec(name, .notForPictures)
            }
        guard let codec else {
            throw .unsupportedCodec(name, .noPictureSize)
        }
        self.init(codec: codec, timescale: clockRate)
    }

    /// Describes sound.
    ///
    /// G.722 has no sample entry in MP4, and players do not know the one that is registered for G.726: these must be
    /// decoded first.
    /// - Parameters:
    ///   - name: the encoding name of the RTP payload format, for example `PCMU`, in any case.
    ///   - clockRate: the RTP clock rate.
    ///   - channels: the number of channels in the session description.
    ///   - audioSpecificConfig: AAC's configuration, from `config` in the session description.
    /// - Throws: ``MP4Error/unsupportedCodec(_:_:)``.
    public init(
        audioCodec name: String, clockRate: Int, channels: Int, audioSpecificConfig: [UInt8]? = nil
    ) throws(MP4Error) {
        switch name.lowercased() {
        // A recording that joins a running stream has no samples to skip.
        case "opus": self.init(codec: .opus(channels: channels, preSkip: 0), timescale: clockRate)
        case "pcmu": self.init(codec: .muLaw(channels: channels), timescale: clockRate)
        case "pcma": self.init(codec: .aLaw(channels: channels), timescale: clockRate)
        case "mpeg4-generic", "mp4a-latm":
            guard let bytes = audioSpecificConfig, let configuration = AudioSpecificConfig(parsing: bytes) else {
                throw .unsupportedCodec(name, .noAudioSpecificConfig)
            }
            self.init(
                codec: .aac(
                    channels: configuration.channels, sampleRate: configuration.sampleRate,
                    audioSpecificConfig: bytes),
                timescale: clockRate)
        default:
            throw .unsupportedCodec(name, .notForSound)
        }
    }

    private static func h264(_ keyFrame: UnsafeRawBufferPointer) -> Codec? {
        let units = AnnexBUnits(keyFrame)
        let sequence = units.filter { $0.first.map { $0 & 0x1F } == 7 }
        guard let size = sequence.first.flatMap({ H264.SequenceParameterSet(parsing: $0) }) else { return nil }
        return .h264(
            width: size.width, height: size.height, sequenceParameterSets: distinct(sequence),
            pictureParameterSets: distinct(units.filter { $0.first.map { $0 & 0x1F } == 8 }))
    }

    private static func h265(_ keyFrame: UnsafeRawBufferPointer) -> Codec? {
        func sets(_ type: UInt8) -> [[UInt8]] {
            distinct(AnnexBUnits(keyFrame).filter { $0.first.map(H265.type) == type })
        }
        let sequence = sets(H265.UnitType.sequenceParameterSet)
        guard let size = sequence.first?.withUnsafeBytes({ H265.SequenceParameterSet(parsing: $0) }) else { return nil }
        return .h265(
            width: size.width, height: size.height, videoParameterSets: sets(H265.UnitType.videoParameterSet),
            sequenceParameterSets: sequence, pictureParameterSets: sets(H265.UnitType.pictureParameterSet))
    }

    /// A key frame may repeat its sets.
    private static func distinct(_ units: [UnsafeRawBufferPointer]) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for unit in units.map(Array.init) where !result.contains(unit) { result.append(unit) }
        return result
    }
}

extension MP4Sample {
    /// A picture as ``FrameAssembler`` makes it, in the form for `track`.
    /// - Parameter keepsParameterSets: false where the track's description holds all of them.
    public init(
        picture data: [UInt8], isKeyFrame: Bool, track: MP4Track, decodeTime: Int64, keepsParameterSets: Bool = true
    ) {
        let bytes =
            switch track.codec {
            case .h264: Self.lengthPrefixed(annexB: data, keepsParameterSets: keepsParameterSets)
            case .h265: Self.lengthPrefixed(annexB: data, codec: .h265, keepsParameterSets: keepsParameterSets)
            default: data
            }
        self.init(data: bytes, decodeTime: decodeTime, isKeyFrame: isKeyFrame)
    }
}
