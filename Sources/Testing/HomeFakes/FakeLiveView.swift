import HomeTypes
import SDP
import Signalling
import Stations

/// The signalling services for tests, in one: they keep sessions in a list and do what the test says.
package actor FakeLiveView: LiveViewServing, TalkServing, ClipServing, PublishingServing, SnapshotServing {
    package var list: [LiveViewSnapshot] = []
    package var startError: SignallingError?
    /// The devices that have a station; nil for all.
    private var devices: Set<String>?
    package private(set) var requests: [StartLiveViewRequest] = []
    /// How often somebody read the counters of all sessions.
    package private(set) var listings = 0
    package nonisolated let changedSessions = ChangedSessions()
    private var nextNumber = 1
    private var ended: [LiveViewSnapshot] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isGated = false

    package init(devices: Set<String>? = nil) { self.devices = devices }

    package nonisolated var services: SignallingServices {
        SignallingServices(views: self, talks: self, clips: self, publishing: self, snapshots: self)
    }

    package func setStartError(_ error: SignallingError?) { startError = error }

    /// Changes a session, and reports it.
    package func change(_ id: String, _ body: @Sendable (inout LiveViewSnapshot) -> Void) {
        guard let index = list.firstIndex(where: { $0.mediaSessionId == id }) else { return }
        body(&list[index])
        changedSessions.add(id)
    }

    /// Ends a session by itself.
    package func drop(_ id: String) {
        ended += list.filter { $0.mediaSessionId == id }
        list.removeAll { $0.mediaSessionId == id }
        changedSessions.add(id)
    }

    /// Lets time pass for the leases. Those that are over end.
    package func pass(seconds: Double) {
        for index in list.indices { list[index].expiresInSeconds -= seconds }
        for session in list where session.expiresInSeconds <= 0 { drop(session.mediaSessionId) }
    }

    /// Lets starts and pictures wait until ``openGate()``.
    package func closeGate() { isGated = true }

    package func openGate() {
        isGated = false
        letWaitingPass()
    }

    /// Lets pass what waits now. What comes later waits.
    package func letWaitingPass() {
        for one in waiting { one.resume() }
        waiting = []
    }

    /// Whether a start or a picture waits.
    package var isWaiting: Bool { !waiting.isEmpty }

    package func startLiveView(_ request: StartLiveViewRequest) async throws(SignallingError) -> StartLiveViewResponse {
        if let devices, !devices.contains(request.deviceID) { throw .unknownDevice(request.deviceID) }
        requests.append(request)
        if isGated { await withCheckedContinuation { waiting.append($0) } }
        if let error = startError { throw error }
        if request.offerSdp.isEmpty { throw .refusedOffer(OfferRefusal(.sendsNothing, line: nil)) }
        let id = "session-\(nextNumber)"
        nextNumber += 1
        list.append(
            LiveViewSnapshot(
                mediaSessionId: id, deviceID: request.deviceID, principal: request.principal, state: .connecting,
                expiresInSeconds: 300, isTalking: false, codecs: ["VP8", "opus"],
                steps: [.init(name: "offer", milliseconds: 0.5)], statistics: .init(), notes: []))
        changedSessions.add(id)
        return StartLiveViewResponse(
            mediaSessionId: id, answerSdp: "v=0\r\n", liveSessionDurationSeconds: 300, iceGeneration: "g1", notes: [])
    }

    private func index(_ session: SessionReference) throws(SignallingError) -> Int {
        guard let index = list.firstIndex(where: { isNamed($0, session) }) else { throw .unknownSession }
        return index
    }

    private func isNamed(_ snapshot: LiveViewSnapshot, _ session: SessionReference) -> Bool {
        snapshot.mediaSessionId == session.mediaSessionId && snapshot.principal == session.principal
            && (session.deviceID ?? snapshot.deviceID) == snapshot.deviceID
    }

    package func extendLiveView(
        _ session: SessionReference, extendedDurationSeconds: UInt16?
    ) async throws(SignallingError) -> UInt16 {
        let index = try self.index(session)
        let granted = extendedDurationSeconds ?? 300
        list[index].expiresInSeconds = Double(granted)
        changedSessions.add(session.mediaSessionId)
        return granted
    }

    package func stopLiveView(_ session: SessionReference) async throws(SignallingError) {
        if ended.contains(where: { isNamed($0, session) }) { return }
        ended.append(list.remove(at: try index(session)))
        changedSessions.add(session.mediaSessionId)
    }

    package func requireSession(_ session: SessionReference) async throws(SignallingError) {
        _ = try index(session)
    }

    /// Answers at once: a test connects the session first.
    package func waitUntilConnected(_ session: SessionReference, atMost patience: Duration) async -> Bool {
        list.first { isNamed($0, session) }?.state == .connected
    }

    package func startTalkback(_ session: SessionReference, offerSdp: String?) async throws(SignallingError) {
        let index = try self.index(session)
        list[index].isTalking = true
        changedSessions.add(session.mediaSessionId)
    }

    package func stopTalkback(_ session: SessionReference) async throws(SignallingError) {
        if ended.contains(where: { isNamed($0, session) }) { return }
        list[try index(session)].isTalking = false
        changedSessions.add(session.mediaSessionId)
    }

    package func changeLiveViewQuality(
        _ session: SessionReference, qualityHint: QualityHint
    ) async throws(SignallingError) -> QualityHint {
        _ = try index(session)
        return .sd
    }

    package func trickle(
        _ fragment: String, _ session: SessionReference, reachedAddresses: [String]
    ) async throws(SignallingError) -> TrickleResult {
        _ = try index(session)
        return try trickled(fragment)
    }

    private func trickled(_ fragment: String) throws(SignallingError) -> TrickleResult {
        if fragment.contains("garbage") { throw .unusableCredentials(.password(.length(0)), line: 1) }
        return fragment.contains("restart") ? .restarted(fragment: "a=ice-ufrag:new\r\n", iceGeneration: "g2") : .added
    }

    package func playClip(
        _ clip: TalkClip, deviceID: String, principal: String
    ) async throws(SignallingError) -> TalkClipSnapshot {
        throw .noSpeaker(device: deviceID)
    }

    package func stopClip(_ id: String, deviceID: String, principal: String) async throws(SignallingError) {}

    /// How many callers wait for the end of a clip.
    package private(set) var clipWaits = 0
    private var clipEnds = true

    /// Lets callers that wait for a clip wait until they give up.
    package func playWithoutEnd() { clipEnds = false }

    package func waitForClip(of deviceID: String, atMost patience: Duration) async {
        guard !clipEnds else { return }
        clipWaits += 1
        // Longer than any test.
        try? await Task.sleep(for: .seconds(86_400))
        clipWaits -= 1
    }

    package func speaker(of deviceID: String) async throws(SignallingError) -> SpeakerSnapshot { SpeakerSnapshot() }

    /// The device that is published to, and its publisher.
    package private(set) var publisher: (session: String, principal: String)?
    package static let publishedDevice = "phone"

    package func requirePublishing(deviceID: String) async throws(SignallingError) {
        guard deviceID == Self.publishedDevice else { throw .takesNoPublisher(device: deviceID) }
    }

    package func startPublishing(
        _ request: StartLiveViewRequest
    ) async throws(SignallingError) -> StartLiveViewResponse {
        if isGated { await withCheckedContinuation { waiting.append($0) } }
        if let error = startError { throw error }
        requests.append(request)
        publisher = ("publisher-\(nextNumber)", request.principal)
        nextNumber += 1
        return StartLiveViewResponse(
            mediaSessionId: publisher?.session ?? "", answerSdp: "v=0\r\n", liveSessionDurationSeconds: 0,
            iceGeneration: "g1", notes: [])
    }

    package func requirePublisher(_ session: SessionReference) async throws(SignallingError) {
        guard let publisher = self.publisher, publisher == (session.mediaSessionId, session.principal),
            session.deviceID == Self.publishedDevice
        else { throw .unknownSession }
    }

    package func tricklePublisher(
        _ fragment: String, _ session: SessionReference, reachedAddresses: [String]
    ) async throws(SignallingError) -> TrickleResult {
        try await requirePublisher(session)
        return try trickled(fragment)
    }

    package func stopPublishing(_ session: SessionReference) async throws(SignallingError) {
        try await requirePublisher(session)
        publisher = nil
    }

    package func startPublishing(
        _ stream: PublishedStream, requestKeyFrame: @escaping @Sendable (Int) -> Void,
        ended: @escaping @Sendable (PublisherEnd) -> Void
    ) async throws(SignallingError) -> StartedPublication {
        // It has no source that could take the packets.
        throw startError ?? .takesNoPublisher(device: stream.deviceID)
    }

    package func endPublishing(_ sessionID: String, because end: PublisherEnd) async {
        if publisher?.session == sessionID { publisher = nil }
    }

    package func endPublishers(
        of principal: String, unless mayPublish: @escaping @Sendable (_ deviceID: String) -> Bool
    ) async {
        if publisher?.principal == principal, !mayPublish(Self.publishedDevice) { publisher = nil }
    }

    package var snapshotError: SignallingError?
    package private(set) var snapshotWidths: [Int?] = []

    package func setSnapshotError(_ error: SignallingError?) { snapshotError = error }

    package func snapshot(
        of deviceID: String, maximumWidth: Int?
    ) async throws(SignallingError) -> CameraSnapshot {
        if isGated { await withCheckedContinuation { waiting.append($0) } }
        if let error = snapshotError { throw error }
        snapshotWidths.append(maximumWidth)
        // The markers of an image without content.
        return CameraSnapshot(
            jpeg: [0xFF, 0xD8, 0xFF, 0xD9], age: .milliseconds(1_500), width: maximumWidth ?? 640, height: 360)
    }

    package func sessions() async -> [LiveViewSnapshot] {
        listings += 1
        return list
    }

    package func session(_ mediaSessionId: String) async -> LiveViewSnapshot? {
        list.first { $0.mediaSessionId == mediaSessionId }
    }

    package func leases() async -> [SessionLease] {
        list.map {
            SessionLease(
                mediaSessionId: $0.mediaSessionId, deviceID: $0.deviceID, principal: $0.principal,
                isConnected: $0.state == .connected, expiresInSeconds: $0.expiresInSeconds)
        }
    }
}
