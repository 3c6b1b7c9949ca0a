import Codecs

/// Decodes G.711 at 8 kHz to samples at 48 kHz.
struct TelephoneDecoder {
    static let samplesPerByte = 6

    private var concealment = WaveformConcealment(samplesPerSecond: 8000)
    private var narrow = [Int16](repeating: 0, count: OpusDecoder.maximumSamplesPerPacket / samplesPerByte)
    /// The sample before the next one.
    private var previous: Int16?

    /// Decodes as much of a packet as finds room, and answers how many samples that makes.
    mutating func decode(
        _ payload: UnsafeRawBufferPointer, _ law: G711, into samples: UnsafeMutableBufferPointer<Int16>
    ) -> Int {
        let count = narrow.withUnsafeMutableBufferPointer { narrow in
            let count = law.decode(payload, into: narrow)
            concealment.receive(UnsafeMutableBufferPointer(rebasing: narrow[..<count]))
            return count
        }
        return widen(count, into: samples)
    }

    /// Makes a substitute for a lost packet.
    mutating func conceal(bytes: Int, into samples: UnsafeMutableBufferPointer<Int16>) -> Int {
        let count = narrow.withUnsafeMutableBufferPointer { narrow in
            let lost = UnsafeMutableBufferPointer(rebasing: narrow[..<min(bytes, narrow.count)])
            concealment.conceal(lost)
            return lost.count
        }
        return widen(count, into: samples)
    }

    /// Converts 8 kHz to 48 kHz by straight lines between the samples: telephone sound has nothing above 4 kHz to lose.
    private mutating func widen(_ count: Int, into samples: UnsafeMutableBufferPointer<Int16>) -> Int {
        let count = min(count, samples.count / Self.samplesPerByte)
        for index in 0..<count {
            let value = Int32(narrow[index])
            let from = Int32(previous ?? narrow[index])
            for step in 0..<Self.samplesPerByte {
                samples[index * Self.samplesPerByte + step] = Int16(
                    clamping: from + (value - from) * Int32(step + 1) / Int32(Self.samplesPerByte))
            }
            previous = narrow[index]
        }
        return count * Self.samplesPerByte
    }
}
