import CPNG

/// Portable Network Graphics, the format in which snapshots are written.
public enum PNG {
    /// Encodes `image` with eight bits per channel and without transparency.
    public static func encode(_ image: RGBImage) throws(CodecError) -> [UInt8] {
        var header = png_image()
        header.version = png_uint_32(PNG_IMAGE_VERSION)
        header.width = png_uint_32(image.width)
        header.height = png_uint_32(image.height)
        header.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
        defer { png_image_free(&header) }
        // Even incompressible rows do not become longer than this, so one call is enough.
        var size = png_alloc_size_t(image.pixels.count + image.pixels.count / 8 + image.height * 16 + 4096)
        var isWritten = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            isWritten =
                png_image_write_to_memory(
                    &header, buffer.baseAddress, &size, 0, image.pixels, png_int_32(image.width * 3), nil) != 0
            count = isWritten ? min(size, buffer.count) : 0
        }
        guard isWritten else {
            throw CodecError(codec: "PNG", operation: "encode", reason: Self.message(of: header))
        }
        return bytes
    }

    /// Decodes any file that libpng reads, to eight bits per channel. Transparency becomes black.
    public static func decode(_ bytes: [UInt8]) throws(CodecError) -> RGBImage {
        var header = png_image()
        header.version = png_uint_32(PNG_IMAGE_VERSION)
        defer { png_image_free(&header) }
        guard png_image_begin_read_from_memory(&header, bytes, bytes.count) != 0 else {
            throw CodecError(codec: "PNG", operation: "decode", reason: Self.message(of: header))
        }
        let (width, height) = (Int(header.width), Int(header.height))
        guard width <= I420Frame.maximumSide, height <= I420Frame.maximumSide else {
            throw CodecError(
                codec: "PNG", operation: "decode",
                reason: "\(width)×\(height) is more than \(I420Frame.maximumSide) pixels on a side")
        }
        header.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
        var black = png_color(red: 0, green: 0, blue: 0)
        var pixels = [UInt8](repeating: 0, count: width * height * 3)
        guard png_image_finish_read(&header, &black, &pixels, png_int_32(width * 3), nil) != 0,
            let image = RGBImage(width: width, height: height, pixels: pixels)
        else {
            throw CodecError(codec: "PNG", operation: "decode", reason: Self.message(of: header))
        }
        return image
    }

    private static func message(of header: png_image) -> String {
        withUnsafeBytes(of: header.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
