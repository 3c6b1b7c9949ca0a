import CJPEG

/// Decodes JFIF files (ITU-T T.81 and T.871), baseline and progressive, in colour or in shades of grey.
public enum JPEGDecoder {
    /// The most pixels that a picture may have unless the caller says otherwise: those of a large camera.
    public static let usualMaximumPixels = 4096 * 2304

    /// A decoded picture.
    public struct Picture: Sendable {
        /// The picture, in video's range of values.
        public var frame: I420Frame
        /// Parts were missing or damaged, and were filled in.
        public var isDamaged: Bool
    }

    /// Decodes a file.
    ///
    /// - Throws: when nothing can be decoded, the picture has more than `maximumPixels`, or its colours are not those of
    ///   a camera.
    public static func decode(
        _ file: UnsafeRawBufferPointer, maximumPixels: Int = usualMaximumPixels
    ) throws(CodecError) -> Picture {
        var picture = gatehouse_jpeg_picture()
        let problem = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message -> String? in
            let bytes = file.bindMemory(to: UInt8.self)
            let isMade = gatehouse_jpeg_decode(
                bytes.baseAddress, bytes.count, Int32(I420Frame.maximumSide), Int32(clamping: maximumPixels),
                SampleRange.limitedLuma, SampleRange.limitedChroma, &picture, message.baseAddress, message.count)
            return isMade == 1 ? nil : message.baseAddress.map { String(cString: $0) } ?? ""
        }
        guard problem == nil, let luma = picture.luma, let chromaBlue = picture.chroma_blue,
            let chromaRed = picture.chroma_red
        else { throw CodecError(codec: "JPEG", operation: "decode", reason: problem ?? "libjpeg gave no picture") }
        defer { gatehouse_jpeg_free(luma) }
        let width = Int(picture.width)
        return Picture(
            frame: I420Frame(
                width: width, height: Int(picture.height), planes: (.init(luma), .init(chromaBlue), .init(chromaRed)),
                lumaStride: width, chromaStride: (width + 1) / 2), isDamaged: picture.is_damaged != 0)
    }

    /// Decodes a file; see ``decode(_:maximumPixels:)-(UnsafeRawBufferPointer,_)``.
    public static func decode(
        _ file: [UInt8], maximumPixels: Int = usualMaximumPixels
    ) throws(CodecError) -> Picture {
        try file.withUnsafeBufferPointer { bytes throws(CodecError) in
            try decode(UnsafeRawBufferPointer(bytes), maximumPixels: maximumPixels)
        }
    }
}
