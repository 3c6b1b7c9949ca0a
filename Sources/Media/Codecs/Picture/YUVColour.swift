/// A colour as an ``I420Frame`` holds it (BT.601, limited range).
public struct YUVColour: Hashable, Sendable {
    /// Brightness, 16 to 235.
    public var luma: UInt8
    /// Blue difference, 16 to 240.
    public var chromaBlue: UInt8
    /// Red difference, 16 to 240.
    public var chromaRed: UInt8

    /// Makes a colour from its samples.
    public init(luma: UInt8, chromaBlue: UInt8, chromaRed: UInt8) {
        self.luma = luma
        self.chromaBlue = chromaBlue
        self.chromaRed = chromaRed
    }

    /// Converts a colour of full-range red, green and blue (fixed point with 16 fractional bits).
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        let (red, green, blue) = (Int(red), Int(green), Int(blue))
        luma = UInt8(clamping: 16 + (16829 * red + 33039 * green + 6416 * blue + 32768) >> 16)
        chromaBlue = UInt8(clamping: 128 + (-9714 * red - 19070 * green + 28784 * blue + 32768) >> 16)
        chromaRed = UInt8(clamping: 128 + (28784 * red - 24103 * green - 4681 * blue + 32768) >> 16)
    }
}
