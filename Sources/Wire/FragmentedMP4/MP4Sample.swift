import RTP

/// One frame of pictures or sound in a file.
public struct MP4Sample: Equatable, Sendable {
    /// The encoded frame. H.264 and H.265: NAL units, each after its length in four bytes (see
    /// ``lengthPrefixed(annexB:codec:)``).
    public var data: [UInt8]
    /// When the frame is decoded, in units of the track's timescale since the start of the recording. It rises from
    /// sample to sample.
    public var decodeTime: Int64
    /// How much later the frame is shown, for streams with reordered frames.
    public var compositionOffset: Int32
    /// Whether decoding can start here. This holds for every frame of sound.
    public var isKeyFrame: Bool

    /// Describes a frame.
    public init(data: [UInt8], decodeTime: Int64, compositionOffset: Int32 = 0, isKeyFrame: Bool) {
        self.data = data
        self.decodeTime = decodeTime
        self.compositionOffset = compositionOffset
        self.isKeyFrame = isKeyFrame
    }

    /// The codecs whose frames are made of NAL units.
    public enum NALUnitCodec: Sendable {
        case h264, h265

        func isDelimiter(_ first: UInt8) -> Bool {
            switch self {
            case .h264: first & 0x1F == H264.UnitType.accessUnitDelimiter
            case .h265: H265.type(first) == H265.UnitType.accessUnitDelimiter
            }
        }

        func isParameterSet(_ first: UInt8) -> Bool {
            switch self {
            case .h264:
                first & 0x1F == H264.UnitType.sequenceParameterSet || first & 0x1F == H264.UnitType.pictureParameterSet
            case .h265:
                (H265.UnitType.videoParameterSet...H265.UnitType.pictureParameterSet).contains(H265.type(first))
            }
        }
    }

    /// Turns NAL units with start codes of three or four bytes into NAL units with lengths of four bytes. Access unit
    /// delimiters are left out, which ISO/IEC 14496-15 recommends.
    /// - Parameter keepsParameterSets: false where the track's description holds all of them: sample entries `avc1` and
    ///   `hvc1` allow none in samples.
    public static func lengthPrefixed(
        annexB frame: [UInt8], codec: NALUnitCodec = .h264, keepsParameterSets: Bool = true
    ) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(frame.count + 16)
        var unitStart: Int?
        var index = 0
        func close(at end: Int) {
            guard let start = unitStart else { return }
            var end = end
            while end > start, frame[end - 1] == 0 { end -= 1 }
            guard end > start, !codec.isDelimiter(frame[start]) else { return }
            if !keepsParameterSets, codec.isParameterSet(frame[start]) { return }
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: end - start).bigEndian) { result.append(contentsOf: $0) }
            result.append(contentsOf: frame[start..<end])
        }
        while index + 2 < frame.count {
            switch frame[index + 2] {
            case 0: index += 1
            case 1 where frame[index] == 0 && frame[index + 1] == 0:
                close(at: index)
                index += 3
                unitStart = index
            default: index += 3
            }
        }
        close(at: frame.count)
        return result
    }
}
