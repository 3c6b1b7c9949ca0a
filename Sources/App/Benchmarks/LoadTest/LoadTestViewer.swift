import DTLS
import DatagramPort
import LiveViewClient
import Transport

/// One viewer of a load test.
final class LoadTestViewer: Sendable {
    /// A step of its start.
    enum Step: Hashable, Sendable {
        case answer
        case connected
        case firstPacket
        case firstKeyFrame
    }

    private struct State: Sendable {
        var posted: Instant?
        var steps: [Step: Double] = [:]
        var failure: String?
        var isStopped = false
        var view: RunningView?
        var resource: WHEPResource?
        var final: ViewingStatistics?
        var picturesBefore = 0
    }

    private let url: String
    private let state = Awaitable(State())

    /// A viewer of a WHEP endpoint.
    init(url: String) {
        self.url = url
    }

    /// Milliseconds since the POST, by step.
    var steps: [Step: Double] { state.withLock { $0.steps } }
    /// Why it could not start or ended by itself.
    var failure: String? { state.withLock { $0.failure } }

    /// Milliseconds from the POST to `instant`.
    func sincePost(_ instant: Instant?) -> Double? {
        state.withLock { state in
            guard let instant, let posted = state.posted else { return nil }
            return (instant - posted).inMilliseconds
        }
    }

    /// How many pictures had come when the measured time began.
    var picturesBefore: Int { state.withLock { $0.picturesBefore } }

    /// Marks the beginning of the measured time.
    func recordMeasuredFromHere() async {
        let count = await statistics().pictureCount
        state.withLock { $0.picturesBefore = count }
    }

    /// Offers, posts and starts to receive. Returns when the answer has arrived or the start has failed.
    func start(_ test: LoadTest, loop: ViewerLoop, identity: DTLSIdentity) async {
        do {
            var wishes = OfferedView.Wishes()
            let hosts = ["//127.", "//localhost", "//[::1]"]
            wishes.isLocal = !test.offersAllAddresses && hosts.contains { url.contains($0) }
            let offered = try OfferedView(wishes: wishes, identity: identity)
            state.withLock { $0.posted = MonotonicClock.now }
            let resource = try await WHEPResource(url: url, token: test.token, offerSdp: offered.offerSdp)
            record(.answer, at: MonotonicClock.now)
            let view = try loop.start(offered, answerSdp: resource.answerSdp, assemblesFrames: false) {
                [weak self] event in self?.take(event)
            }
            state.withLock {
                $0.view = view
                $0.resource = resource
            }
        } catch {
            fail("\(error)")
        }
    }

    /// What it has received so far, or until it was stopped.
    func statistics() async -> ViewingStatistics {
        let (view, final) = state.withLock { ($0.view, $0.final) }
        if let final { return final }
        return await view?.statistics() ?? ViewingStatistics()
    }

    /// Waits for the first whole key frame, the end of the view, or the timeout.
    func awaitKeyFrame(_ patience: Duration) async {
        await state.wait(atMost: patience) { $0.steps[.firstKeyFrame] != nil || $0.failure != nil }
    }

    /// Waits for the first whole key frame. Without one at the timeout the view has failed; the reason says what was missing.
    func requireKeyFrame(_ patience: Duration) async {
        await awaitKeyFrame(patience)
        let steps = steps
        guard steps[.firstKeyFrame] == nil else { return }
        let found =
            steps[.firstPacket] != nil
            ? "packets came" : steps[.connected] != nil ? "no packet came" : "no transport came up"
        fail("no whole key frame came within \(Int(patience.inSeconds)) s: \(found)")
    }

    /// Ends the view.
    func stop() async {
        let statistics = await statistics()
        let (view, resource) = state.withLock { state -> (RunningView?, WHEPResource?) in
            state.isStopped = true
            state.final = statistics
            return (state.view, state.resource)
        }
        view?.stop()
        await resource?.delete()
    }

    private func take(_ event: ViewingEvent) {
        switch event {
        case .connected(let instant): record(.connected, at: instant)
        case .firstPacket(let instant): record(.firstPacket, at: instant)
        case .firstKeyFrame(let instant): record(.firstKeyFrame, at: instant)
        case .ended(let reason): fail(reason)
        case .pathFound, .frame, .audio: break
        }
    }

    private func record(_ step: Step, at instant: Instant) {
        state.withLock { state in
            guard let posted = state.posted, state.steps[step] == nil else { return }
            state.steps[step] = (instant - posted).inMilliseconds
        }
    }

    private func fail(_ reason: String) {
        state.withLock { state in
            if !state.isStopped, state.failure == nil { state.failure = reason }
        }
    }
}
