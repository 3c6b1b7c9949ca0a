import CAVCodec

/// Decodes sound by libavcodec and converts it to one channel at 48 kHz.
final class LibavSpeechDecoder {
    private var decoder: LibavDecoder
    private var resampler: SpeechResampler

    init(_ options: LibavDecoder.Options) throws(CodecError) {
        decoder = try LibavDecoder(options)
        resampler = try SpeechResampler(from: options.sampleRate, codec: options.codec)
    }

    /// Decodes one coded frame.
    func decode(
        _ bytes: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        var failure: CodecError?
        try decoder.decode(bytes) { frame in
            do throws(CodecError) {
                try mix(frame, output)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func mix(
        _ frame: borrowing gatehouse_av_frame, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        let planes = frame.planes
        let planeList = [
            planes.0, planes.1, planes.2, planes.3, planes.4, planes.5, planes.6, planes.7,
        ].compactMap { $0 }
        let total = Int(frame.channels)
        let isPlanar = frame.is_planar != 0
        // As many planes as the frame has room for. A camera's sound does not need more channels.
        let channels = isPlanar ? min(total, planeList.count) : total
        guard channels > 0, let first = planeList.first, frame.samples > 0 else { return }
        func raw(_ sample: Int, _ channel: Int) -> (UnsafePointer<UInt8>, Int) {
            isPlanar ? (planeList[channel], sample) : (first, sample * total + channel)
        }
        let mix: (Int) -> Int16
        switch frame.sample_format {
        case GATEHOUSE_AV_SAMPLES_FLOAT:
            mix = { sample in
                var sum: Float = 0
                for channel in 0..<channels {
                    let (plane, index) = raw(sample, channel)
                    sum += UnsafeRawPointer(plane).load(fromByteOffset: index * 4, as: Float.self)
                }
                let value = sum / Float(channels) * 32768
                // A hostile stream can produce values that are not numbers. They become silence.
                return value.isFinite ? Int16(min(max(value.rounded(), -32768), 32767)) : 0
            }
        case GATEHOUSE_AV_SAMPLES_INT16:
            mix = { sample in
                var sum = 0
                for channel in 0..<channels {
                    let (plane, index) = raw(sample, channel)
                    sum += Int(UnsafeRawPointer(plane).load(fromByteOffset: index * 2, as: Int16.self))
                }
                return Int16(truncatingIfNeeded: sum / channels)
            }
        default:
            return
        }
        try resampler.convert(Int(frame.samples), at: Int(frame.sample_rate), mix, output)
    }
}
