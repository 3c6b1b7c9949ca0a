import COpenH264

/// Decodes H.264 Baseline, Main and High (ITU-T H.264). It does not hold pictures back for B-frames.
public struct H264Decoder: ~Copyable {
    private let decoder: UnsafeMutablePointer<ISVCDecoder?>
    private let maximumPixels: Int

    /// Makes a decoder that does not return pictures of more than `maximumPixels`.
    public init(maximumPixels: Int = 4096 * 2304) throws(CodecError) {
        var created: UnsafeMutablePointer<ISVCDecoder?>?
        guard WelsCreateDecoder(&created) == 0, let created, let functions = created.pointee?.pointee,
            let initialize = functions.Initialize
        else {
            throw CodecError(codec: "H264", operation: "make a decoder", reason: "openh264 gave none")
        }
        var quiet = Int32(WELS_LOG_QUIET)
        _ = functions.SetOption?(created, DECODER_OPTION_TRACE_LEVEL, &quiet)
        var parameters = SDecodingParam()
        parameters.uiTargetDqLayer = .max
        parameters.eEcActiveIdc = ERROR_CON_DISABLE
        parameters.sVideoProperty.size = UInt32(MemoryLayout<SVideoProperty>.size)
        parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC
        guard initialize(created, &parameters) == 0 else {
            WelsDestroyDecoder(created)
            throw CodecError(codec: "H264", operation: "make a decoder", reason: "openh264 refused its settings")
        }
        decoder = created
        self.maximumPixels = maximumPixels
    }

    deinit {
        _ = decoder.pointee?.pointee.Uninitialize?(decoder)
        WelsDestroyDecoder(decoder)
    }

    /// Decodes one access unit in the byte stream format of Annex B (NAL units after start codes).
    ///
    /// - Returns: the picture; nil when the access unit gave none, for example only parameter sets.
    /// - Throws: when the access unit is damaged or decoding has not started with a key frame. The decoder can be used
    ///   again from the next key frame on.
    public mutating func decode(_ accessUnit: UnsafeRawBufferPointer) throws(CodecError) -> I420Frame? {
        guard accessUnit.count >= 4, let bytes = accessUnit.bindMemory(to: UInt8.self).baseAddress,
            let length = Int32(exactly: accessUnit.count), let decode = decoder.pointee?.pointee.DecodeFrameNoDelay
        else {
            throw CodecError(
                codec: "H264", operation: "decode",
                reason: "an access unit of \(accessUnit.count) bytes cannot hold a NAL unit and its start code")
        }
        var planes: [UnsafeMutablePointer<UInt8>?] = [nil, nil, nil]
        var info = SBufferInfo()
        let state = planes.withUnsafeMutableBufferPointer { decode(decoder, bytes, length, $0.baseAddress, &info) }
        guard state.rawValue == dsErrorFree.rawValue else {
            throw CodecError(
                codec: "H264", operation: "decode",
                reason: "openh264 reports state 0x\(String(state.rawValue, radix: 16))"
                    + (state.rawValue & dsNoParamSets.rawValue != 0 ? " (no parameter sets yet)" : "")
                    + (state.rawValue & dsRefLost.rawValue != 0 ? " (reference lost: a key frame is needed)" : ""))
        }
        if info.iBufferStatus != 1 {
            takeHeldBackPicture(&planes, &info)
        }
        guard info.iBufferStatus == 1 else { return nil }
        let picture = info.UsrData.sSystemBuffer
        let (width, height) = (Int(picture.iWidth), Int(picture.iHeight))
        guard let luma = planes[0], let chromaBlue = planes[1], let chromaRed = planes[2],
            (1...I420Frame.maximumSide).contains(width), (1...I420Frame.maximumSide).contains(height),
            width * height <= maximumPixels
        else {
            throw CodecError(
                codec: "H264", operation: "decode",
                reason: "a picture of \(width)×\(height) pixels is refused; at most \(maximumPixels) are given out")
        }
        return I420Frame(
            width: width, height: height, planes: (.init(luma), .init(chromaBlue), .init(chromaRed)),
            lumaStride: Int(picture.iStride.0), chromaStride: Int(picture.iStride.1))
    }

    /// Decodes one access unit; see ``decode(_:)-(UnsafeRawBufferPointer)``.
    public mutating func decode(_ accessUnit: [UInt8]) throws(CodecError) -> I420Frame? {
        try accessUnit.withUnsafeBufferPointer { bytes throws(CodecError) in
            try decode(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Fetches a picture that openh264 holds back in case a later one is shown before it, as with B-frames in the Main
    /// and High profiles. Live streams have no B-frames, and a wait would show each picture a frame late.
    private func takeHeldBackPicture(_ planes: inout [UnsafeMutablePointer<UInt8>?], _ info: inout SBufferInfo) {
        guard let functions = decoder.pointee?.pointee else { return }
        var held: Int32 = 0
        _ = functions.GetOption?(decoder, DECODER_OPTION_NUM_OF_FRAMES_REMAINING_IN_BUFFER, &held)
        guard held > 0 else { return }
        // The decoder returns such pictures only at the end of the stream, so it gets the signal for the end.
        var isEnd: Int32 = 1
        _ = functions.SetOption?(decoder, DECODER_OPTION_END_OF_STREAM, &isEnd)
        _ = planes.withUnsafeMutableBufferPointer { functions.FlushFrame?(decoder, $0.baseAddress, &info) }
        isEnd = 0
        _ = functions.SetOption?(decoder, DECODER_OPTION_END_OF_STREAM, &isEnd)
    }
}
