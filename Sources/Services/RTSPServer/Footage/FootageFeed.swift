import DatagramPort
import FragmentedMP4
import MediaRelay
import PushAvStreamTransport
import RTP
import Transport

/// Packets of a recording, and when they are to be sent.
struct FootagePackets: Sendable {
    /// The number of the track in the description.
    var track: Int
    /// The packets. Their timestamps are relative to the beginning of the playback.
    var batch: PacketBatch
    var firstSequence: Int64
    /// How long after the beginning of the playback to send them, and to show them.
    var due: Duration
    var shown: Duration
    /// When the sample was captured, in microseconds since 1970, UTC.
    var captured: Int64
    /// What the replay extension says about it.
    var flags: ReplayHeaderExtension.Flags
}

/// Reads recorded footage for one playback, on threads of its own: the server's thread never waits for the disk.
final class FootageFeed: Sendable {
    /// What one reading brought.
    struct Block: Sendable {
        var packets: [FootagePackets] = []
        /// Why there is nothing more; nil when there is.
        var end: End?
    }

    /// Why nothing more comes.
    enum End: Sendable {
        /// Everything that was asked for has been read.
        case complete
        case failed(PlaybackError)
    }

    /// How much of the footage is read at once, at most.
    private static let blockBytes = 1 << 20
    private static let blockDuration: Int64 = 500_000

    private struct State: ~Copyable {
        var reader: FootageReader
        var video: FootagePacketizer?
        var sound: FootagePacketizer?
        var selection: PictureSelection
        /// The newest picture of a playback that leaves out others: only what follows shows whether it is the last one
        /// of a section.
        var held: FootagePackets?
        var isOver = false
    }

    private let presentation: FootagePresentation
    private let manner: ReplayManner
    private let scale: Double
    private let from: Int64
    private let state: Locked<State>

    /// - Parameters:
    ///   - from: in microseconds since 1970, UTC; so is `until`.
    ///   - scale: how much faster than it was recorded. Sound is left out where it is not 1.
    ///   - manner: which pictures are sent, and whether they wait for their time.
    init(
        _ presentation: FootagePresentation, from: Int64, until: Int64, scale: Double, manner: ReplayManner = .init(),
        random: inout RandomSource
    ) {
        self.presentation = presentation
        self.manner = manner
        self.scale = scale
        self.from = from
        func packetizer(_ isVideo: Bool) -> FootagePacketizer? {
            guard isVideo || scale == 1 && manner.hasSound,
                let track = presentation.tracks.first(where: { $0.isVideo == isVideo }),
                let codec = FootageCodec(track)
            else { return nil }
            return FootagePacketizer(
                codec, clockRate: codec.clockRate(track), firstPictureID: UInt16(truncatingIfNeeded: random.next()))
        }
        state = Locked(
            State(
                reader: FootageReader(of: presentation.device, from: from, until: until, in: presentation.store),
                video: packetizer(true), sound: packetizer(false), selection: PictureSelection(manner.frames)))
    }

    /// Reads what comes next. Only one reading may be under way. `then` is called on any thread.
    func read(_ then: @escaping @Sendable (Block) -> Void) {
        let work: @Sendable () -> Void = { [self] in then(state.withLock { block(&$0) }) }
        // Without a thread the playback ends, instead of the server's thread waiting for the disk.
        if !startDetachedThread(name: "footage", work) {
            then(Block(end: .failed(.store(.storage(path: presentation.device, .noThread)))))
        }
    }

    private func block(_ state: inout State) -> Block {
        var block = Block()
        guard !state.isOver else {
            block.end = .complete
            return block
        }
        var bytes = 0
        var first: Int64?
        do throws(PlaybackError) {
            while bytes < Self.blockBytes {
                guard let sample = try state.reader.next() else {
                    state.isOver = true
                    block.end = .complete
                    release(&state.held, into: &block)
                    return block
                }
                bytes += sample.data.count
                try add(sample, &state, &block)
                let start = max(from, first ?? sample.decodeTime)
                first = start
                if manner.isPaced, sample.decodeTime - start >= Self.blockDuration { return block }
            }
        } catch {
            state.isOver = true
            block.end = .failed(error)
        }
        return block
    }

    private func add(
        _ sample: FootageReader.Sample, _ state: inout State, _ block: inout Block
    ) throws(PlaybackError) {
        guard let index = presentation.tracks.firstIndex(where: { $0.isVideo == sample.isVideo }) else { return }
        guard FootageCodec.mayFollow(sample.track, after: presentation.tracks[index]) else {
            throw .formatChanges(
                at: sample.decodeTime, from: presentation.tracks[index].format, to: sample.track.format)
        }
        let begins = presentation.timeline.position(of: from)
        func after(_ time: Int64) -> Double { Double(presentation.timeline.position(of: time) - begins) / scale }
        // Pictures before the time that was asked for are only decoded, and go out at once.
        let (due, shown) = (max(0, after(sample.decodeTime)), after(sample.showTime))
        func packets(_ packetizer: inout FootagePacketizer?) -> (batch: PacketBatch, firstSequence: Int64)? {
            let rate = Double(packetizer?.clockRate ?? 0)
            let timestamp = UInt32(truncatingIfNeeded: Int64((shown * rate / 1e6).rounded()))
            return packetizer?.packets(sample, timestamp: timestamp)
        }
        func made(_ packetizer: inout FootagePacketizer?) -> FootagePackets? {
            packets(&packetizer).map { batch, firstSequence in
                FootagePackets(
                    track: index, batch: batch, firstSequence: firstSequence,
                    due: manner.isPaced ? .microseconds(Int64(due)) : .zero,
                    shown: .microseconds(Int64(shown.rounded())), captured: sample.showTime,
                    flags: ReplayHeaderExtension.Flags(sample))
            }
        }
        guard sample.isVideo, manner.frames != .all else {
            if let whole = sample.isVideo ? made(&state.video) : made(&state.sound) { block.packets.append(whole) }
            return
        }
        if let codec = state.video?.codec, state.selection.admits(sample, codec), let picture = made(&state.video) {
            release(&state.held, into: &block)
            state.held = picture
        } else {
            // What was left out may have been the end of a section.
            state.held?.flags.formUnion(ReplayHeaderExtension.Flags(following: sample.following))
        }
        if case .sample = sample.following { return }
        release(&state.held, into: &block)
    }

    private func release(_ held: inout FootagePackets?, into block: inout Block) {
        if let held { block.packets.append(held) }
        held = nil
    }
}

extension ReplayHeaderExtension.Flags {
    fileprivate init(_ sample: FootageReader.Sample) {
        self = sample.isSync ? .cleanPoint : []
        if sample.beginsSection { insert(.discontinuity) }
        formUnion(Self(following: sample.following))
    }

    fileprivate init(following: FootageReader.Following) {
        switch following {
        case .sample: self = []
        case .gap: self = .endOfSection
        case .end: self = [.endOfSection, .terminal]
        }
    }
}
