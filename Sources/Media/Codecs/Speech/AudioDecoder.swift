/// Turns the RTP payloads of one track of sound into samples at 48 kHz on one channel, whatever the input.
///
/// A decoder belongs to one thread at a time.
public protocol AudioDecoder: AnyObject {
    /// Decodes the payload of one packet, in sending order, and hands the sound to `output` in zero, one or several
    /// pieces. Their memory is valid until `output` returns.
    ///
    /// An error concerns only this payload: the next one may decode.
    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError)

    /// Records that packets have been lost before the next one. A unit that they would have completed is dropped.
    func recordLoss()
}

extension AudioDecoder {
    /// The output rate, in hertz.
    public static var outputRate: Int { 48_000 }

    public func recordLoss() {}

    /// Decodes a payload into a new array of samples; see ``decode(_:_:)``.
    public func decode(_ payload: [UInt8]) throws(CodecError) -> [Int16] {
        var samples: [Int16] = []
        try payload.withUnsafeBufferPointer { payload throws(CodecError) in
            try decode(UnsafeRawBufferPointer(payload)) { samples.append(contentsOf: $0) }
        }
        return samples
    }
}
