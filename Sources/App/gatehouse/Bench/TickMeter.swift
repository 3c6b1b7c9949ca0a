import Codecs
import DatagramPort
import LiveViewClient
import SDP
import Transport

/// Finds where sound begins after silence, and when that sound arrived.
struct TickMeter: ~Copyable {
    /// One tick as it was received.
    struct Tick: Encodable {
        /// The earliest time at which it could be played, in milliseconds of `CLOCK_MONOTONIC`, as the camera of a
        /// measurement counts them.
        var heard: Double
        /// The time at which it was made according to the sender reports, in the same milliseconds; nil before the
        /// first report.
        var made: Double?
        /// Its position on the timeline of the RTP timestamps, in milliseconds since the first packet.
        var place: Double
        /// The codec that carried it.
        var codec: String
    }

    /// A louder sample is not silence: about -30 dB of full scale.
    private static let loud = 1000

    private let codecs: [UInt8: MediaCodec]
    private var opus: OpusDecoder?
    private var lastSequenceNumber: UInt16?
    private var lastTimestamp: UInt32 = 0
    private var ticks: Int64 = 0
    private var quietSamples = 0

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

    /// Accepts the next packet. Returns the tick that begins in it.
    mutating func take(_ packet: ReceivedSound) -> Tick? {
        guard let codec = codecs[packet.payloadType] else { return nil }
        if let last = lastSequenceNumber {
            guard Int16(bitPattern: packet.sequenceNumber &- last) > 0 else { return nil }
            ticks += Int64(Int32(bitPattern: packet.timestamp &- lastTimestamp))
        }
        (lastSequenceNumber, lastTimestamp) = (packet.sequenceNumber, packet.timestamp)
        let samples: [Int16]
        if codec.isNamed("opus") {
            // A packet that does not decode is treated as silence.
            samples = (try? opus?.decode(packet.payload)) ?? []
        } else {
            let law: G711 = codec.isNamed("PCMA") ? .aLaw : .muLaw
            samples = packet.payload.map { law.decode($0) }
        }
        let rate = max(1, codec.clockRate)
        guard let onset = samples.firstIndex(where: { abs(Int($0)) >= Self.loud }) else {
            quietSamples += samples.count
            return nil
        }
        defer { quietSamples = 0 }
        guard quietSamples >= rate / 3 else { return nil }
        let inside = Double(onset) * 1000 / Double(rate)
        let heard = Double(packet.arrival.nanoseconds) / 1e6 - MonotonicClock.suspension.inMilliseconds + inside
        return Tick(
            heard: heard, made: packet.age.map { heard - $0.inMilliseconds },
            place: Double(ticks) * 1000 / Double(rate) + inside, codec: codec.name)
    }
}
