import Codecs
import LiveViewClient
import SDP

/// Decodes sound and measures its level and its strongest tone.
struct SoundMeter: ~Copyable {
    /// The length of the section in which a tone is looked for, in samples: a tenth of a second at 48 kHz.
    private static let windowSamples = 4_800

    private let codecs: [UInt8: MediaCodec]
    private var opus: OpusDecoder?
    private var samples = 0
    private var sampleRate = 48_000
    private var sumOfSquares = 0.0
    private var window: [Int16] = []
    private var loudest: (energy: Double, samples: [Int16]) = (0, [])
    private var lastSequenceNumber: UInt16?

    init(codecs: [UInt8: MediaCodec]) throws(CodecError) {
        var opus: OpusDecoder?
        if codecs.values.contains(where: { $0.isNamed("opus") }) { opus = try OpusDecoder(channels: 1) }
        self.init(codecs: codecs, opus: opus)
    }

    // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
    private init(codecs: [UInt8: MediaCodec], opus: consuming OpusDecoder?) {
        self.codecs = codecs
        self.opus = opus
    }

    mutating func take(_ packet: ReceivedSound) {
        guard let codec = codecs[packet.payloadType] else { return }
        if let last = lastSequenceNumber, Int16(bitPattern: packet.sequenceNumber &- last) <= 0 { return }
        lastSequenceNumber = packet.sequenceNumber
        let decoded: [Int16]
        if codec.isNamed("opus") {
            // A packet that does not decode is treated as silence.
            decoded = (try? opus?.decode(packet.payload)) ?? []
        } else {
            let law: G711 = codec.isNamed("PCMA") ? .aLaw : .muLaw
            decoded = packet.payload.map { law.decode($0) }
            sampleRate = 8_000
        }
        samples += decoded.count
        for sample in decoded {
            let value = Double(sample) / 32_768
            sumOfSquares += value * value
        }
        window.append(contentsOf: decoded)
        guard window.count >= Self.windowSamples else { return }
        let energy = window.reduce(0.0) { $0 + Double($1) * Double($1) }
        if energy > loudest.energy { loudest = (energy, window) }
        window.removeAll(keepingCapacity: true)
    }

    /// The measurements.
    func report(codec: String, packets: UInt64, lost: UInt64) -> LiveReport.Audio {
        LiveReport.Audio(
            codec: codec, packets: packets, packetsLost: lost, seconds: Double(samples) / Double(sampleRate),
            level: samples > 0 ? (sumOfSquares / Double(samples)).squareRoot() : 0,
            tone: loudest.samples.withUnsafeBufferPointer {
                ToneDetector.dominantTone(in: $0, sampleRate: sampleRate)?.frequency
            })
    }
}
