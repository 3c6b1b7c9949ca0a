import Signalling
import Stations

/// A live-view service for tests: it keeps sessions in a list and does what the test says.
package actor FakeLiveView: SignallingServing {
    package var list: [LiveViewSnapshot] = []
    package var startError: SignallingError?
    package var talkbackError: SignallingError?
    package private(set) var requests: [StartLiveViewRequest] = []
    private var nextNumber = 1

    package init() {}

    package func setStartError(_ error: SignallingError?) { self.startError = error }
    package func setTalkbackError(_ error: SignallingError?) { self.talkbackError = error }

    package func change(_ id: String, _ body: @Sendable (inout LiveViewSnapshot) -> Void) {
        guard let index = self.list.firstIndex(where: { $0.mediaSessionId == id }) else { return }
        body(&self.list[index])
    }

    package func drop(_ id: String) {
        self.ended += self.list.filter { $0.mediaSessionId == id }
        self.list.removeAll { $0.mediaSessionId == id }
    }

    private var ended: [LiveViewSnapshot] = []

    package func deviceOfEnded(_ mediaSessionId: String, principal: String) async -> String? {
        self.ended.first { $0.mediaSessionId == mediaSessionId && $0.principal == principal }?.deviceID
    }

    package func startLiveView(_ request: StartLiveViewRequest) async throws(SignallingError) -> StartLiveViewResponse {
        if let error = self.startError { throw error }
        self.requests.append(request)
        let id = "session-\(self.nextNumber)"
        self.nextNumber += 1
        self.list.append(
            LiveViewSnapshot(
                mediaSessionId: id, deviceID: request.deviceID, principal: request.principal, state: "connecting",
                expiresInSeconds: 300, isTalking: false, codecs: ["VP8", "opus"],
                steps: [.init(name: "offer", milliseconds: 0.5)], statistics: .init(), notes: []))
        return StartLiveViewResponse(
            mediaSessionId: id, answerSdp: "v=0\r\n", liveSessionDurationSeconds: 300, iceGeneration: "g1", notes: [])
    }

    private func index(_ id: String, _ principal: String) throws(SignallingError) -> Int {
        guard let index = self.list.firstIndex(where: { $0.mediaSessionId == id && $0.principal == principal }) else {
            throw .unknownSession
        }
        return index
    }

    package func extendLiveView(
        mediaSessionId: String, principal: String, extendedDurationSeconds: UInt16?
    ) async throws(SignallingError) -> UInt16 {
        let index = try self.index(mediaSessionId, principal)
        let granted = extendedDurationSeconds ?? 300
        self.list[index].expiresInSeconds = Double(granted)
        return granted
    }

    package func stopLiveView(mediaSessionId: String, principal: String) async throws(SignallingError) {
        if await self.deviceOfEnded(mediaSessionId, principal: principal) != nil { return }
        self.ended.append(self.list.remove(at: try self.index(mediaSessionId, principal)))
    }

    package func startTalkback(mediaSessionId: String, principal: String, offerSdp: String?)
        async throws(SignallingError)
    {
        if let error = self.talkbackError { throw error }
        self.list[try self.index(mediaSessionId, principal)].isTalking = true
    }

    package func stopTalkback(mediaSessionId: String, principal: String) async throws(SignallingError) {
        self.list[try self.index(mediaSessionId, principal)].isTalking = false
    }

    package func changeLiveViewQuality(
        mediaSessionId: String, principal: String, qualityHint: QualityHint
    ) async throws(SignallingError) -> QualityHint {
        _ = try self.index(mediaSessionId, principal)
        return .sd
    }

    package func trickle(
        _ fragment: String, mediaSessionId: String, principal: String
    ) async throws(SignallingError) -> TrickleResult {
        _ = try self.index(mediaSessionId, principal)
        if fragment.contains("garbage") { throw .invalidOffer("line 1 is no attribute") }
        return fragment.contains("restart") ? .restarted(fragment: "a=ice-ufrag:new\r\n", iceGeneration: "g2") : .added
    }

    /// The device that is published to, and its publisher.
    package private(set) var publisher: (session: String, principal: String)?
    package static let publishedDevice = "phone"

    package func requirePublishing(deviceID: String) async throws(SignallingError) {
        guard deviceID == Self.publishedDevice else { throw .failedPrecondition("you cannot publish to \(deviceID)") }
    }

    package func startPublishing(
        _ request: StartLiveViewRequest
    ) async throws(SignallingError) -> StartLiveViewResponse {
        if let error = self.startError { throw error }
        self.requests.append(request)
        self.publisher = ("publisher-\(self.nextNumber)", request.principal)
        self.nextNumber += 1
        return StartLiveViewResponse(
            mediaSessionId: self.publisher?.session ?? "", answerSdp: "v=0\r\n", liveSessionDurationSeconds: 0,
            iceGeneration: "g1", notes: [])
    }

    package func requirePublisher(
        sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) {
        guard let publisher = self.publisher, publisher == (sessionID, principal), deviceID == Self.publishedDevice
        else { throw .unknownSession }
    }

    package func tricklePublisher(
        _ fragment: String, sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) -> TrickleResult {
        try await self.requirePublisher(sessionID: sessionID, deviceID: deviceID, principal: principal)
        if fragment.contains("garbage") { throw .invalidOffer("line 1 is no attribute") }
        return fragment.contains("restart") ? .restarted(fragment: "a=ice-ufrag:new\r\n", iceGeneration: "g2") : .added
    }

    package func stopPublishing(
        sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) {
        try await self.requirePublisher(sessionID: sessionID, deviceID: deviceID, principal: principal)
        self.publisher = nil
    }

    package var snapshotError: SignallingError?
    package private(set) var snapshotWidths: [Int?] = []

    package func setSnapshotError(_ error: SignallingError?) { self.snapshotError = error }

    package func snapshot(
        of deviceID: String, maximumWidth: Int?
    ) async throws(SignallingError) -> CameraSnapshot {
        if let error = self.snapshotError { throw error }
        self.snapshotWidths.append(maximumWidth)
        // The markers of an image without content.
        return CameraSnapshot(
            jpeg: [0xFF, 0xD8, 0xFF, 0xD9], age: .milliseconds(1_500), width: maximumWidth ?? 640, height: 360)
    }

    package func sessions() async -> [LiveViewSnapshot] { self.list }
}
