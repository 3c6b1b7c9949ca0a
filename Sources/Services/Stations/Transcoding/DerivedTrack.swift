import Cameras
import Codecs
import DatagramPort
import MediaRelay
import RTP
import SDP
import Transport

/// A track that the gateway makes from one of a camera's, for viewers that cannot play the camera's own. It has one
/// transcoder, which all of them share and which runs only while somebody uses it.
final class DerivedTrack: Sendable {
    /// The state of a derived track.
    struct Status: Sendable, Equatable {
        /// How many sessions use it.
        var users = 0
        /// Whether its transcoder runs.
        var isRunning = false
        /// Why it brings nothing.
        var failure: TranscodingFailure?
        /// What the current or the last transcoder has done.
        var counters = TranscodingCounters()
        /// What the earlier transcoders skipped and could not decode.
        var skippedEarlier: UInt64 = 0
        var failuresEarlier: UInt64 = 0
        /// The processor time of all transcoders so far.
        var processorTime = Duration.zero
        /// The share of a core that the current transcoder takes.
        var share: ProcessorShare?
        /// Why there is no room for another transcoder; nil where there is.
        var refusal: TranscodingRefusal? { if case .refused(let refusal) = failure { refusal } else { nil } }
    }

    private struct State {
        var status = Status()
        var source: TrackDescription
        var inlet: TrackInlet?
        var worker: TranscoderWorker?
        var wantsKeyFrame = false
        /// The place in the budget while the transcoder runs.
        var ticket: TranscodingBudget.Ticket?
        /// The size of the camera's pictures, once one has been decoded.
        var size: PictureSize?
        /// What the viewers of a sound lose.
        var loss = ExpectedLoss()
    }

    static let opusPayloadType: UInt8 = 111
    static let vp8PayloadType: UInt8 = 96
    /// After this many packets in a row that cannot be decoded, a transcoder ends.
    private static let mostFailures = 100

    /// The track as viewers get it.
    let id: TrackID
    /// The track that it is made from.
    let sourceID: TrackID
    /// What it is.
    let description: TrackDescription
    private let relay: MediaRelay
    private let state: Locked<State>
    /// What admits a picture's transcoder; nil for sound.
    private let budget: TranscodingBudget?
    /// Whether it runs whatever the budget says.
    private let isExempt: Bool

    init(
        id: TrackID, sourceID: TrackID, source: TrackDescription, description: TrackDescription, relay: MediaRelay,
        budget: TranscodingBudget? = nil, isExempt: Bool = false
    ) {
        self.budget = description.kind == .video ? budget : nil
        self.isExempt = isExempt
        self.id = id
        self.sourceID = sourceID
        self.description = description
        self.relay = relay
        state = Locked(State(source: source))
    }

    deinit {
        let (worker, ticket) = state.withLock { ($0.worker, $0.ticket) }
        worker?.stop()
        if let ticket { budget?.release(ticket) }
    }

    var status: Status { state.withLock { $0.status } }

    /// The cost; nil before the track's first use.
    var cost: TranscodingCost? {
        state.withLock { state in
            guard state.status.processorTime > .zero else { return nil }
            return TranscodingCost(
                source: state.source.codec.name, result: description.codec.name, users: state.status.users,
                processorTime: state.status.processorTime, share: state.status.share?.share,
                limitedWidth: state.ticket.flatMap { budget?.limit(of: $0) },
                skipped: state.status.skippedEarlier + state.status.counters.skipped,
                failures: state.status.failuresEarlier + state.status.counters.failures)
        }
    }

    /// The camera has announced its tracks again.
    func update(source: TrackDescription, inlet: TrackInlet) {
        let refusal = state.withLock { state -> TranscodingRefusal? in
            // Another codec needs another transcoder, and a transcoder that failed gets another chance.
            if state.source.codec != source.codec || state.status.failure != nil { stop(&state) }
            state.source = source
            state.inlet = inlet
            state.status.failure = nil
            reconcile(&state)
            return state.status.users > 0 ? state.status.refusal : nil
        }
        // Others may have taken the processor time. Nobody tries again for viewers that wait.
        if let refusal { relay.dismissViewers(of: id, because: .transcodingRefused(refusal)) }
    }

    /// The camera no longer sends the source. Sessions keep the track until it returns.
    func suspend() {
        state.withLock { state in
            state.inlet = nil
            reconcile(&state)
        }
    }

    /// Requests a picture from which decoding can start.
    func requestKeyFrame() {
        state.withLock { $0.wantsKeyFrame = true }
    }

    /// The transcoder cannot continue without a key frame of the camera's.
    private func requestSourceKeyFrame() { relay.requestKeyFrame(of: sourceID) }

    /// Returns and clears the request for a key frame.
    func takeKeyFrameRequest() -> Bool {
        state.withLock { state in
            defer { state.wantsKeyFrame = false }
            return state.wantsKeyFrame
        }
    }

    /// A viewer reports which share of the sound's packets it has lost lately.
    func recordLoss(_ share: Double, at now: Instant) {
        state.withLock { $0.loss.record(share, at: now) }
    }

    /// How many percent of the packets the viewer with the worst path loses.
    func expectedLoss(at now: Instant) -> Int { state.withLock { $0.loss.percent(at: now) } }

    /// Somebody uses the track until the hold ends.
    /// - Throws: `transcodingRefused` if there is not enough processor time for another transcoder.
    func use(for owner: CameraHold.Owner) throws(StationError) -> CameraHold {
        let refusal = state.withLock { state -> TranscodingRefusal? in
            state.status.users += 1
            if state.status.users == 1 || state.status.refusal != nil { state.status.failure = nil }
            reconcile(&state)
            guard let refusal = state.status.refusal else { return nil }
            state.status.users -= 1
            return refusal
        }
        if let refusal { throw .transcodingRefused(refusal) }
        return CameraHold(for: owner) { [self] in
            state.withLock { state in
                state.status.users -= 1
                reconcile(&state)
            }
        }
    }

    /// Starts or stops the transcoder as its users need it. It calls the relay under the lock, so that the relay gets
    /// starts and stops in their order.
    private func reconcile(_ state: inout State) {
        let isWanted = state.status.users > 0 && state.status.failure == nil && state.inlet != nil
        if isWanted, state.worker == nil { start(&state) }
        if !isWanted { stop(&state) }
    }

    private func start(_ state: inout State) {
        if let budget {
            guard let ticket = budget.admit(source: state.size, isExempt: isExempt) else {
                state.status.failure = .refused(budget.refusal(camera: id.camera))
                return
            }
            state.ticket = ticket
        }
        let worker = TranscoderWorker(
            bound: description.kind == .audio ? .milliseconds(500) : .seconds(2), at: MonotonicClock.now)
        let (codec, kind) = (state.source.codec, description.kind)
        let isRunning = worker.start { [weak self] worker in
            if kind == .audio {
                Self.transcodeAudio(codec, for: worker) { self }
            } else {
                Self.transcodeVideo(codec, for: worker) { self }
            }
        }
        guard isRunning else {
            state.status.failure = .noThread
            releaseTicket(&state)
            return
        }
        state.worker = worker
        state.status.isRunning = true
        state.status.skippedEarlier += state.status.counters.skipped
        state.status.failuresEarlier += state.status.counters.failures
        state.status.counters = TranscodingCounters()
        state.status.share = ProcessorShare(since: MonotonicClock.now)
        // Sound that is older than its listeners helps nobody; a picture needs its key frame.
        relay.addTap(worker.tap, to: sourceID, from: kind == .audio ? .live : .newestKeyFrame)
    }

    private func stop(_ state: inout State) {
        releaseTicket(&state)
        guard let worker = state.worker.take() else { return }
        state.status.isRunning = false
        state.status.share = nil
        relay.removeTap(worker.tap, from: sourceID)
        worker.stop()
        // Nobody must be shown later what is old by then.
        state.inlet?.recordRestart()
    }

    private func releaseTicket(_ state: inout State) {
        if let ticket = state.ticket.take() { budget?.release(ticket) }
    }

    /// How wide the pictures may be if the camera sends them in this size. Nil if there is no room for them at any
    /// width: then the transcoder has been stopped, and its viewers learn why.
    func width(for source: PictureSize, of worker: TranscoderWorker) -> Int? {
        let (width, refusal) = state.withLock { state -> (Int?, TranscodingRefusal?) in
            guard state.worker === worker else { return (nil, nil) }
            state.size = source
            guard let budget, let ticket = state.ticket else { return (VideoTranscoding.maximumWidth, nil) }
            if let width = budget.width(of: ticket, source: source) { return (width, nil) }
            let refusal = budget.refusal(camera: id.camera)
            stop(&state)
            state.status.failure = .refused(refusal)
            return (nil, refusal)
        }
        if let refusal { relay.dismissViewers(of: id, because: .transcodingRefused(refusal)) }
        return width
    }

    /// The transcoder gives up; its viewers keep their other tracks.
    func fail(_ failure: TranscodingFailure, _ worker: TranscoderWorker) {
        state.withLock { state in
            guard state.worker === worker else { return }
            stop(&state)
            state.status.failure = failure
        }
    }

    /// Sends a batch to the viewers. A batch of a transcoder that has been stopped meanwhile counts as work and is not
    /// sent, because its numbers have nothing to do with those of the next transcoder.
    func deliver(
        _ batch: PacketBatch?, capture: (timestamp: UInt32, instant: Instant)?, counters: TranscodingCounters,
        work: Duration, of worker: TranscoderWorker
    ) {
        let now = MonotonicClock.now
        let isCurrent = state.withLock { state in
            state.status.processorTime += work
            guard state.worker === worker else { return false }
            state.status.counters = counters
            let before = state.status.share?.share
            state.status.share?.record(work, at: now)
            if let share = state.status.share?.share, share != before, let ticket = state.ticket {
                budget?.record(share: share, of: ticket)
            }
            // Under the lock, so that it does not come after the restart of the next.
            if let batch { state.inlet?.deliver(batch) }
            return true
        }
        if isCurrent, let capture { relay.recordCapture(id, rtpTimestamp: capture.timestamp, at: capture.instant) }
    }
}

extension DerivedTrack {
    /// How often the viewers' reports learn which moment the timestamps stand for.
    private static let captureInterval = Duration.milliseconds(500)

    /// The audio transcoder's thread. It looks the track up each time, so that the thread does not keep it alive.
    private static func transcodeAudio(
        _ codec: MediaCodec, for worker: TranscoderWorker, _ track: () -> DerivedTrack?
    ) {
        var random = RandomSource.system
        var processor = ThreadProcessorTime()
        do throws(CodecError) {
            var transcoding = try AudioTranscoding(
                codec: codec, firstTimestamp: UInt32(truncatingIfNeeded: random.next()),
                firstSequenceNumber: UInt16(truncatingIfNeeded: random.next()))
            var nextCapture = Instant.zero
            var work: [TapQueue.Entry] = []
            while worker.take(into: &work) {
                for entry in work {
                    switch entry.event {
                    case .restarted: try transcoding.restart(codec: codec)
                    // The line leaves a gap where numbers are missing. The camera reports the end of its tracks to the
                    // owner, which decides.
                    case .begins, .gap, .ended: break
                    case .batch(let tapped):
                        if let loss = track()?.expectedLoss(at: tapped.batch.arrival) {
                            try transcoding.expectLoss(percent: loss)
                        }
                        let output = try transcoding.transcode(tapped)
                        let isDue = output.batch != nil && tapped.batch.arrival >= nextCapture
                        if isDue { nextCapture = tapped.batch.arrival + captureInterval }
                        track()?.deliver(
                            output.batch, capture: isDue ? output.capture : nil, counters: transcoding.counters,
                            work: processor.lap(), of: worker)
                        if transcoding.failuresInARow >= mostFailures {
                            track()?.fail(.undecodableSound(transcoding.lastFailure), worker)
                            return
                        }
                    }
                }
                // A reference left here would keep a batch from being used again.
                work.removeAll(keepingCapacity: true)
            }
        } catch {
            track()?.fail(.unencodableSound(error), worker)
        }
    }
}

extension DerivedTrack {
    /// Pictures that came this long before the newest one are decoded but not shown. So the transcoder catches up with
    /// the ring's content as fast as it can, and an encoder that falls behind catches up too. A camera with B-frames
    /// sends several pictures at once.
    private static let pictureBacklog = Duration.milliseconds(300)

    /// The video transcoder's thread.
    private static func transcodeVideo(
        _ codec: MediaCodec, for worker: TranscoderWorker, _ track: () -> DerivedTrack?
    ) {
        var random = RandomSource.system
        var processor = ThreadProcessorTime()
        do throws(CodecError) {
            var transcoding = try VideoTranscoding(
                codec: codec, firstPictureID: UInt16(truncatingIfNeeded: random.next()),
                firstSequenceNumber: UInt16(truncatingIfNeeded: random.next()))
            var nextCapture = Instant.zero
            var work: [TapQueue.Entry] = []
            while worker.take(into: &work) {
                let newest = work.lazy.compactMap(\.event.arrival).max() ?? .zero
                for entry in work {
                    switch entry.event {
                    case .restarted, .gap: try transcoding.restart()
                    case .begins, .ended: break
                    case .batch(let tapped):
                        if track()?.takeKeyFrameRequest() == true { transcoding.requestKeyFrame() }
                        let output = try transcoding.transcode(
                            tapped, isBehind: newest - tapped.batch.arrival > pictureBacklog
                        ) { track()?.width(for: $0, of: worker) }
                        if transcoding.hasNoRoom { return }
                        let isDue = output.batch != nil && tapped.batch.arrival >= nextCapture
                        if isDue { nextCapture = tapped.batch.arrival + captureInterval }
                        track()?.deliver(
                            output.batch, capture: isDue ? output.capture : nil, counters: transcoding.counters,
                            work: processor.lap(), of: worker)
                        if transcoding.takeSourceRequest(at: tapped.batch.arrival) { track()?.requestSourceKeyFrame() }
                        if transcoding.failuresInARow >= mostFailures {
                            track()?.fail(.undecodablePictures(transcoding.lastFailure), worker)
                            return
                        }
                    }
                }
                work.removeAll(keepingCapacity: true)
            }
        } catch {
            track()?.fail(.unencodablePictures(error), worker)
        }
    }
}
