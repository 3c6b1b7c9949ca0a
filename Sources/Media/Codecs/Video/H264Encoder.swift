import COpenH264

/// Encodes pictures as H.264 (ITU-T H.264) in real time: Constrained Baseline, which every viewer plays, with one thread
/// and without skipped frames.
public struct H264Encoder: ~Copyable {
    /// How to encode.
    public struct Configuration: Sendable, Hashable {
        /// The pictures' width in pixels; even.
        public var width: Int
        /// The pictures' height in pixels; even.
        public var height: Int
        /// Pictures per second.
        public var framesPerSecond: Double
        /// The target bit rate, in bits per second.
        public var bitsPerSecond: Int

        /// Describes an encoder.
        public init(width: Int, height: Int, framesPerSecond: Double, bitsPerSecond: Int) {
            self.width = width
            self.height = height
            self.framesPerSecond = framesPerSecond
            self.bitsPerSecond = bitsPerSecond
        }
    }

    /// The requested configuration.
    public let configuration: Configuration
    private let encoder: UnsafeMutablePointer<ISVCEncoder?>
    private var milliseconds: Int64 = 0

    /// Makes an encoder. The first picture becomes a key frame, and later ones when asked for, or where the scene changes.
    public init(_ configuration: Configuration) throws(CodecError) {
        let sides = 16...3840
        guard sides.contains(configuration.width), sides.contains(configuration.height),
            configuration.width % 2 == 0, configuration.height % 2 == 0,
            (0.1...60).contains(configuration.framesPerSecond),
            (10_000...50_000_000).contains(configuration.bitsPerSecond)
        else {
            throw CodecError(codec: "H264", operation: "make an encoder", reason: "impossible: \(configuration)")
        }
        var created: UnsafeMutablePointer<ISVCEncoder?>?
        guard WelsCreateSVCEncoder(&created) == 0, let created, let functions = created.pointee?.pointee else {
            throw CodecError(codec: "H264", operation: "make an encoder", reason: "openh264 gave none")
        }
        var quiet = Int32(WELS_LOG_QUIET)
        _ = functions.SetOption?(created, ENCODER_OPTION_TRACE_LEVEL, &quiet)
        var parameters = SEncParamExt()
        _ = functions.GetDefaultParams?(created, &parameters)
        Self.fill(&parameters, configuration)
        guard functions.InitializeExt?(created, &parameters) == 0 else {
            WelsDestroySVCEncoder(created)
            throw CodecError(codec: "H264", operation: "make an encoder", reason: "openh264 refused \(configuration)")
        }
        encoder = created
        self.configuration = configuration
    }

    private static func fill(_ parameters: inout SEncParamExt, _ configuration: Configuration) {
        let rate = Float(max(1, configuration.framesPerSecond))
        // The encoder counts in whole seconds: at less than one picture per second each gets the bits of a second.
        parameters.iUsageType = CAMERA_VIDEO_REAL_TIME
        parameters.iPicWidth = Int32(configuration.width)
        parameters.iPicHeight = Int32(configuration.height)
        parameters.iTargetBitrate = Int32(configuration.bitsPerSecond)
        parameters.iMaxBitrate = 0
        parameters.fMaxFrameRate = rate
        parameters.iRCMode = RC_BITRATE_MODE
        parameters.bEnableFrameSkip = false
        parameters.uiIntraPeriod = 0
        parameters.iMultipleThreadIdc = 1
        parameters.eSpsPpsIdStrategy = CONSTANT_ID
        parameters.iEntropyCodingModeFlag = 0
        parameters.iComplexityMode = LOW_COMPLEXITY
        parameters.iSpatialLayerNum = 1
        parameters.iTemporalLayerNum = 1
        parameters.iMaxQp = 42
        parameters.iMinQp = 12
        parameters.sSpatialLayers.0.iVideoWidth = Int32(configuration.width)
        parameters.sSpatialLayers.0.iVideoHeight = Int32(configuration.height)
        parameters.sSpatialLayers.0.fFrameRate = rate
        parameters.sSpatialLayers.0.iSpatialBitrate = Int32(configuration.bitsPerSecond)
        parameters.sSpatialLayers.0.iMaxSpatialBitrate = 0
        parameters.sSpatialLayers.0.uiProfileIdc = PRO_BASELINE
        parameters.sSpatialLayers.0.sSliceArgument.uiSliceMode = SM_SINGLE_SLICE
    }

    deinit {
        _ = encoder.pointee?.pointee.Uninitialize?(encoder)
        WelsDestroySVCEncoder(encoder)
    }

    /// Encodes the next picture.
    ///
    /// - Parameter isKeyFrame: whether decoding must be able to start here.
    /// - Returns: the access unit with start codes (annex B), which in a key frame begins with the parameter sets.
    public mutating func encode(
        _ frame: borrowing I420Frame, asKeyFrame isKeyFrame: Bool = false
    ) throws(CodecError) -> [UInt8] {
        guard frame.width == configuration.width, frame.height == configuration.height else {
            throw CodecError(
                codec: "H264", operation: "encode",
                reason: "the picture is \(frame.width)×\(frame.height), "
                    + "the encoder was made for \(configuration.width)×\(configuration.height)")
        }
        guard let functions = encoder.pointee?.pointee else {
            throw CodecError(codec: "H264", operation: "encode", reason: "openh264 has no functions")
        }
        // The C interface leaves out the layer, which counts only in simulcast.
        if isKeyFrame { _ = functions.ForceIntraFrame?(encoder, true) }
        milliseconds += Int64(1000 / configuration.framesPerSecond)
        let (width, height, chromaStride) = (Int32(frame.width), Int32(frame.height), Int32(frame.chromaWidth))
        let (made, time) = (encoder, milliseconds)
        var unit: [UInt8] = []
        let status = frame.luma.withUnsafeBufferPointer { luma in
            frame.chromaBlue.withUnsafeBufferPointer { chromaBlue in
                frame.chromaRed.withUnsafeBufferPointer { chromaRed -> Int32 in
                    var picture = SSourcePicture()
                    picture.iColorFormat = Int32(videoFormatI420.rawValue)
                    (picture.iPicWidth, picture.iPicHeight, picture.uiTimeStamp) = (width, height, time)
                    // The encoder only reads the planes; openh264 has no type for a read-only picture.
                    picture.pData.0 = UnsafeMutablePointer(mutating: luma.baseAddress)
                    picture.pData.1 = UnsafeMutablePointer(mutating: chromaBlue.baseAddress)
                    picture.pData.2 = UnsafeMutablePointer(mutating: chromaRed.baseAddress)
                    (picture.iStride.0, picture.iStride.1, picture.iStride.2) = (width, chromaStride, chromaStride)
                    var info = SFrameBSInfo()
                    let status = functions.EncodeFrame?(made, &picture, &info) ?? -1
                    if status == 0 { Self.append(info, to: &unit) }
                    return status
                }
            }
        }
        guard status == 0, !unit.isEmpty else {
            throw CodecError(codec: "H264", operation: "encode", reason: "openh264 reports \(status)")
        }
        return unit
    }

    /// Collects the units of a coded picture: the parameter sets are a layer of their own.
    private static func append(_ info: SFrameBSInfo, to unit: inout [UInt8]) {
        withUnsafeBytes(of: info.sLayerInfo) { bytes in
            let layers = bytes.bindMemory(to: SLayerBSInfo.self)
            for layer in layers.prefix(Int(info.iLayerNum)) {
                guard let start = layer.pBsBuf, let lengths = layer.pNalLengthInByte else { continue }
                let size = (0..<Int(layer.iNalCount)).reduce(0) { $0 + Int(lengths[$1]) }
                unit.append(contentsOf: UnsafeBufferPointer(start: start, count: size))
            }
        }
    }
}
