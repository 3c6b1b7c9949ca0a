import Codecs
import MediaRelay
import RTP
import SDP
import Transport

/// Transcodes a camera's sound to Opus, packet by packet. It has no thread and no clock: its owner passes in what the
/// tap brought.
package struct AudioTranscoding: ~Copyable {
    /// What one batch of the source became.
    package struct Output {
        /// The packets; nil when the samples do not fill one yet.
        package var batch: PacketBatch?
        /// The moment that a timestamp of the packets stands for.
        package var capture: (timestamp: UInt32, instant: Instant)?
    }

    private var decoder: any AudioDecoder
    private var encoder: OpusEncoder
    private var line: SampleLine
    private var pool = PacketBatchPool()
    private let clockRate: Int
    private let firstTimestamp: UInt32
    private var sequenceNumber: UInt16
    private var nextSequence: Int64?
    /// Decoded samples that do not fill a packet yet; they end where the line ends.
    private var waiting: [Int16] = []
    private var decoded: [Int16] = []
    private var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketSize)
    /// The position on the line of the next packet.
    private var nextPacket: Int64 = 0
    private var startsTalkSpurt = true
    /// Packets of the source in a row that could not be decoded.
    package private(set) var failuresInARow = 0
    /// The last failure.
    package private(set) var lastFailure: CodecError?
    private(set) var counters = TranscodingCounters()
    private var expectedLoss = 0

    /// - Parameter firstTimestamp: where the timestamps begin; RFC 3550 wants it random, like the sequence number.
    package init(codec: MediaCodec, firstTimestamp: UInt32, firstSequenceNumber: UInt16) throws(CodecError) {
        let decoder = try SpeechDecoders.make(for: codec)
        var configuration = OpusEncoder.Configuration()
        // Viewers that do not use it leave it out.
        configuration.carriesRedundancy = true
        let encoder = try OpusEncoder(configuration)
        self.init(
            codec: codec, decoder: decoder, encoder: encoder, firstTimestamp: firstTimestamp,
            firstSequenceNumber: firstSequenceNumber)
    }

    // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
    private init(
        codec: MediaCodec, decoder: any AudioDecoder, encoder: consuming OpusEncoder, firstTimestamp: UInt32,
        firstSequenceNumber: UInt16
    ) {
        self.decoder = decoder
        self.encoder = encoder
        line = SampleLine(clockRate: codec.clockRate)
        clockRate = max(codec.clockRate, 1)
        self.firstTimestamp = firstTimestamp
        sequenceNumber = firstSequenceNumber
    }

    /// How far the sound is behind the source's timestamps, in samples of 48 kHz.
    var difference: Double { line.difference }
    /// The position on the line after the newest sample.
    var position: Int64 { line.end }

    /// The source has restarted: the decoder starts again, and the numbers continue.
    package mutating func restart(codec: MediaCodec) throws(CodecError) {
        decoder = try SpeechDecoders.make(for: codec)
        nextSequence = nil
        failuresInARow = 0
    }

    /// Sets how many of a hundred packets are lost on the way to the listeners: the packets then carry redundancy.
    package mutating func expectLoss(percent: Int) throws(CodecError) {
        guard percent != expectedLoss else { return }
        try encoder.setExpectedLoss(percent: percent)
        expectedLoss = percent
    }

    /// Transcodes what the tap brought.
    package mutating func transcode(_ tapped: TappedBatch) throws(CodecError) -> Output {
        var output = Output()
        let packets = tapped.batch.packets
        for index in tapped.firstPacket..<packets.count {
            let sequence = tapped.sequence(of: index)
            let hasLoss = nextSequence.map { sequence > $0 } ?? false
            nextSequence = sequence + 1
            let timestamp = packets[index].timestamp &+ tapped.timestampOffset
            let ticks = Int64(
                Int32(bitPattern: packets[index].timestamp &- packets[tapped.firstPacket].timestamp))
            guard
                let position = try decode(
                    tapped.batch.payload(of: packets[index]), timestamp: timestamp, hasLoss: hasLoss,
                    at: tapped.batch.arrival)
            else { continue }
            if output.capture == nil {
                output.capture = (
                    firstTimestamp &+ UInt32(truncatingIfNeeded: position),
                    tapped.capture + .nanoseconds(ticks * 1_000_000_000 / Int64(clockRate))
                )
            }
            try encodeWhatIsFull()
        }
        output.batch = pool.finish(arrival: tapped.batch.arrival)
        return output
    }

    /// Decodes a packet and puts its sound on the line. Returns where it begins there; nil if the packet brought none.
    /// - Throws: the encoder's errors; a packet that cannot be decoded is only counted.
    private mutating func decode(
        _ payload: UnsafeRawBufferPointer, timestamp: UInt32, hasLoss: Bool, at arrival: Instant
    ) throws(CodecError) -> Int64? {
        decoded.removeAll(keepingCapacity: true)
        if hasLoss { decoder.recordLoss() }
        do throws(CodecError) {
            // The decoder returns its samples in pieces, in an array that this value does not hold meanwhile.
            var samples: [Int16] = []
            swap(&samples, &decoded)
            defer { swap(&samples, &decoded) }
            try decoder.decode(payload) { samples.append(contentsOf: $0) }
            failuresInARow = 0
        } catch {
            failuresInARow += 1
            counters.failures += 1
            lastFailure = error
            return nil
        }
        guard !decoded.isEmpty else { return nil }
        let placement = line.place(timestamp: timestamp, count: decoded.count, hasLoss: hasLoss, at: arrival)
        waiting.append(contentsOf: repeatElement(0, count: placement.padding))
        if placement.skip > 0 {
            // The current packet is full now; it is sent before the step.
            try encodeWhatIsFull()
            nextPacket += Int64(placement.skip)
            startsTalkSpurt = true
            counters.steps += 1
        }
        waiting.append(contentsOf: repeatElement(0, count: placement.silence))
        decoded.withUnsafeBufferPointer { $0.append(stretchedBy: placement.stretch, to: &waiting) }
        counters.stretched += UInt64(abs(placement.stretch))
        return placement.position
    }

    private mutating func encodeWhatIsFull() throws(CodecError) {
        var start = 0
        while waiting.count - start >= SampleLine.packet {
            let length = try waiting.withUnsafeBufferPointer { samples throws(CodecError) in
                try packet.withUnsafeMutableBufferPointer { packet throws(CodecError) in
                    try encoder.encode(
                        UnsafeBufferPointer(rebasing: samples[start..<start + SampleLine.packet]),
                        into: UnsafeMutableRawBufferPointer(packet))
                }
            }
            start += SampleLine.packet
            // RFC 7587, section 4.2: the marker is on the first packet after a silence.
            let flags: PacketBatch.Flags =
                startsTalkSpurt ? [.startsFrame, .keyFrame, .marker] : [.startsFrame, .keyFrame]
            startsTalkSpurt = false
            packet.withUnsafeBytes { bytes in
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: firstTimestamp &+ UInt32(truncatingIfNeeded: nextPacket),
                        sequenceNumber: sequenceNumber, payloadType: DerivedTrack.opusPayloadType, flags: flags),
                    payload: UnsafeRawBufferPointer(rebasing: bytes[..<length]))
            }
            sequenceNumber &+= 1
            nextPacket += Int64(SampleLine.packet)
            counters.packets += 1
        }
        waiting.removeFirst(start)
    }
}

/// What a transcoder has done.
struct TranscodingCounters: Sendable, Equatable {
    /// Packets or pictures that came out.
    var packets: UInt64 = 0
    /// Packets or pictures of the source that could not be decoded.
    var failures: UInt64 = 0
    /// Samples by which the sound was stretched or shortened.
    var stretched: UInt64 = 0
    /// Steps of whole packets over long gaps.
    var steps: UInt64 = 0
    /// Pictures that were decoded but not encoded, because the encoder was behind.
    var skipped: UInt64 = 0
}
