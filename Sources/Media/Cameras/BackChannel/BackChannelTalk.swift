import Transport

/// One talk: the state that the speaker's owner and the talk's thread share.
final class BackChannelTalk: Sendable {
    private struct State {
        var queue: TalkQueue
        var gain: SpeechGain
        var delivery = SpeakerDelivery(state: .opening)
        var louder: [Int16] = []
    }

    /// Stops the thread and wakes it.
    let control: SourceControl
    private let state: Locked<State>
    private let gate: SpeakerGate
    private let number: UInt64
    private let tell: @Sendable (SpeakerState) -> Void

    init(
        control: SourceControl, limits: TalkQueue.Limits, decibels: Double, gate: SpeakerGate = SpeakerGate(),
        tell: @escaping @Sendable (SpeakerState) -> Void
    ) {
        self.control = control
        self.tell = tell
        self.gate = gate
        number = gate.admit()
        state = Locked(State(queue: TalkQueue(limits: limits), gain: SpeechGain(decibels: decibels)))
    }

    // MARK: The talker's side

    /// Queues the talker's sound.
    func play(_ samples: UnsafeBufferPointer<Int16>) {
        state.withLock { state in
            state.louder.removeAll(keepingCapacity: true)
            state.louder.append(contentsOf: samples)
            state.louder.withUnsafeMutableBufferPointer { state.gain.apply(to: $0) }
            state.louder.withUnsafeBufferPointer { state.queue.push($0) }
        }
    }

    /// What has been delivered so far.
    var delivery: SpeakerDelivery {
        state.withLock { state in
            var delivery = state.delivery
            let queue = state.queue
            delivery.millisecondsReceived = Double(queue.received) / TalkQueue.samplesPerMillisecond
            delivery.millisecondsQueued = queue.milliseconds
            delivery.millisecondsDropped = Double(queue.dropped) / TalkQueue.samplesPerMillisecond
            delivery.millisecondsOfSilence = Double(queue.filled) / TalkQueue.samplesPerMillisecond
            return delivery
        }
    }

    // MARK: The thread's side

    /// The path is open: drops earlier sound that is too old by now.
    func open(codec: String, after duration: Duration) {
        let isNew = state.withLock { state in
            state.queue.restart()
            state.delivery.codec = codec
            state.delivery.millisecondsToOpen = duration.inMilliseconds
            guard state.delivery.state == .opening else { return false }
            state.delivery.state = .open
            return true
        }
        if isNew { tell(.open) }
    }

    /// The camera does not accept the talk.
    func refuse(_ refusal: SpeakerRefusal) {
        state.withLock { $0.delivery.state = .refused(refusal) }
        tell(.refused(refusal))
    }

    /// The talk is over; a refusal can still be read.
    func close() {
        state.withLock { state in
            if case .refused = state.delivery.state { return }
            state.delivery.state = .closed
        }
    }

    /// Fills a frame with the talker's sound.
    func pull(into frame: UnsafeMutableBufferPointer<Int16>) {
        state.withLock { state in _ = state.queue.pull(into: frame) }
    }

    /// Whether the camera was switched off, and nothing more may be sent to it.
    var isSilenced: Bool { gate.isSilenced(number) }

    /// Runs `send` unless the camera was switched off. The caller that switches it off waits for `send` to return.
    func unlessSilenced<Failure: Error>(_ send: () throws(Failure) -> Void) throws(Failure) {
        try gate.pass(number, send)
    }

    /// The talker has ended: lets the remaining sound go out. Returns whether any is left.
    func drain() -> Bool {
        state.withLock { state in
            state.queue.finish()
            return state.queue.count > 0
        }
    }

    /// Records what the stream has sent.
    func note(_ stream: borrowing BackChannelStream) {
        let (frames, packets) = (stream.framesSent, stream.packetsSent)
        let (bytes, dropped) = (stream.bytesSent, stream.packetsDropped)
        state.withLock { state in
            state.delivery.millisecondsSent = Double(frames) * 20
            state.delivery.packetsSent = packets
            state.delivery.bytesSent = bytes
            state.delivery.packetsDropped = dropped
        }
    }
}
