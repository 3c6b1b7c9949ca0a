/// Turns the RTP payloads of one track of sound into samples at 48 kHz on one channel, whatever comes in.
///
/// A decoder belongs to one thread at a time.
public protocol AudioDecoder: AnyObject {
    /// Takes in the payload of one packet, in the order of sending, and hands what it holds to `output`, in none, one or
    /// several pieces whose memory lives until `output` returns.
    ///
    /// An error concerns this payload: the next may be decoded again.
    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError)

    /// Packets have been lost before the next one. What they would have completed is forgotten.
    func noteLoss()
}

extension AudioDecoder {
    /// The rate of what comes out, in hertz.
    public static var outputRate: Int { 48_000 }

    public func noteLoss() {}

    /// Decodes a payload into samples of their own; see ``decode(_:_:)``.
    public func decode(_ payload: [UInt8]) throws(CodecError) -> [Int16] {
        var samples: [Int16] = []
        try payload.withUnsafeBufferPointer { payload throws(CodecError) in
            try decode(UnsafeRawBufferPointer(payload)) { samples.append(contentsOf: $0) }
        }
        return samples
    }
}
