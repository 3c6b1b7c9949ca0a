import Signalling

/// A live-view service of the tests: keeps sessions in a list and does as it is told.
package actor FakeLiveView: LiveViewServing {
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

    package func drop(_ id: String) { self.list.removeAll { $0.mediaSessionId == id } }

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
        self.list.remove(at: try self.index(mediaSessionId, principal))
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

    package func sessions() async -> [LiveViewSnapshot] { self.list }
}
