import CJPEG

/// JFIF files (ITU-T T.81 and T.871), the format in which snapshots are sent.
///
/// libjpeg-turbo makes them: it is one vectorised library of half a megabyte. libavcodec's encoder would load sixty
/// libraries into the process of every home whose web page shows tiles.
public enum JPEGEncoder {
    /// Encodes a picture with chroma of half the resolution.
    ///
    /// - Parameter quality: libjpeg's scale, 1 (worst) to 100; other values are treated as the nearest of these.
    public static func encode(_ frame: I420Frame, quality: Int = 80) throws(CodecError) -> [UInt8] {
        // JFIF uses the full range; pictures here use video's range.
        let luma = frame.luma.map { SampleRange.fullLuma[Int($0)] }
        let chromaBlue = frame.chromaBlue.map { SampleRange.fullChroma[Int($0)] }
        let chromaRed = frame.chromaRed.map { SampleRange.fullChroma[Int($0)] }
        var file: UnsafeMutablePointer<UInt8>?
        var size = 0
        let problem = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message -> String? in
            let isMade = gatehouse_jpeg_encode(
                luma, chromaBlue, chromaRed, Int32(frame.width), Int32(frame.height), Int32(min(max(quality, 1), 100)),
                &file, &size, message.baseAddress, message.count)
            return isMade == 1 ? nil : message.baseAddress.map { String(cString: $0) } ?? ""
        }
        guard problem == nil, let file else {
            throw CodecError(codec: "JPEG", operation: "encode", reason: problem ?? "libjpeg gave no file")
        }
        defer { gatehouse_jpeg_free(file) }
        return Array(UnsafeBufferPointer(start: file, count: size))
    }
}

/// Sample values in the full range, 0 to 255, and in video's limited one: 16 to 235, and 16 to 240 for chroma.
enum SampleRange {
    /// From video's range to the full one.
    static let fullLuma: [UInt8] = (0..<256).map { UInt8(clamping: (($0 - 16) * 255 + 109) / 219) }
    static let fullChroma: [UInt8] = (0..<256).map { UInt8(clamping: 128 + rounded(($0 - 128) * 255, by: 224)) }
    /// From the full range to video's.
    static let limitedLuma: [UInt8] = (0..<256).map { UInt8(16 + ($0 * 219 + 127) / 255) }
    static let limitedChroma: [UInt8] = (0..<256).map { UInt8(clamping: 128 + rounded(($0 - 128) * 224, by: 255)) }

    private static func rounded(_ value: Int, by divisor: Int) -> Int {
        value < 0 ? -((-value + divisor / 2) / divisor) : (value + divisor / 2) / divisor
    }
}
