import GoogleHomeSDK
import GoogleHomeTypes

// The snippets of the camera guide, all as printed.

/// What shows a live view in the apps.
@MainActor final class SnippetPlayer {
    func initialize() async {}
}

/// A view of a camera, as apps have it.
@MainActor class CameraApp {
    enum State {
        case loading, live, off, disconnected
    }

    let liveViewTrait: Google.WebRtcLiveViewTrait
    var pushAvStreamTransportTrait: Google.PushAvStreamTransportTrait?
    var player: SnippetPlayer?
    /// Called for each state of the view.
    var onState: (State) -> Void = { _ in }
    var uiState = State.loading { didSet { onState(uiState) } }

    init(_ liveViewTrait: Google.WebRtcLiveViewTrait, _ transport: Google.PushAvStreamTransportTrait?) {
        self.liveViewTrait = liveViewTrait
        pushAvStreamTransportTrait = transport
    }

    func createWebRtcPlayer() throws -> SnippetPlayer { SnippetPlayer() }

    /// C1.
    public func sendOffer(offerSdp: String) async throws
        -> (answerSdp: String, mediaSessionId: String, liveViewDuration: TimeInterval)
    {
        do {
            Logger.info("Sending StartLiveView command...")
            let response = try await liveViewTrait.startLiveView(
                offerSdp: offerSdp
            )
            Logger.info("Received StartLiveView response: \(response)")
            return (
                answerSdp: response.answerSdp,
                mediaSessionId: response.mediaSessionId,
                liveViewDuration: TimeInterval(response.liveSessionDurationSeconds)
            )
        } catch {
            Logger.error("Failed to send StartLiveView command: \(error)")
            throw error
        }
    }

    /// C2.
    public func extendLiveView(mediaSessionId: String) async throws {
        do {
            Logger.info("Extending live view...")
            let extendedDuration = try await liveViewTrait.extendLiveView(mediaSessionId: mediaSessionId)
            Logger.info("Extended live view for \(extendedDuration.liveSessionDurationSeconds) seconds.")
        } catch {
            Logger.error("Failed to extend live view: \(error)")
            throw error
        }
    }

    /// C3.
    public func toggleIsRecording(isOn: Bool) {
        self.uiState = .loading

        guard let pushAvStreamTransportTrait else {
            Logger.error("PushAvStreamTransportTrait not found.")
            return
        }
        Task {
            do {
                Logger.debug("Toggling onOff to \(isOn ? "ON" : "OFF")...")
                try await pushAvStreamTransportTrait.setTransportStatus(
                    transportStatus: isOn ? .active : .inactive)
                if isOn {
                    do {
                        self.player = try self.createWebRtcPlayer()
                    } catch {
                        Logger.error("Failed to initialize WebRtcPlayer: \(error)")
                        self.uiState = .disconnected
                        return
                    }
                    await self.player?.initialize()
                    self.uiState = .live
                } else {
                    self.player = nil
                    self.uiState = .off
                }
            } catch {
                Logger.error("Failed to toggle onOff: \(error)")
            }
        }
    }

    /// C4.
    public func isDeviceRecording() -> Bool {
        guard let pushAvStreamTransportTrait else {
            Logger.error("PushAvStreamTransportTrait not found.")
            return false
        }
        guard
            let hasActiveConnection =
                pushAvStreamTransportTrait
                .attributes
                .currentConnections?
                .contains(where: { $0.transportStatus == .active })
        else {
            return false
        }
        return hasActiveConnection
    }

    /// C5.
    public func toggleTwoWayTalk(isOn: Bool, mediaSessionId: String) async throws {
        do {
            Logger.info("Toggling twoWayTalk to \(isOn ? "ON" : "OFF")...")
            if isOn {
                try await liveViewTrait.startTalkback(mediaSessionId: mediaSessionId)
            } else {
                try await liveViewTrait.stopTalkback(mediaSessionId: mediaSessionId)
            }
        } catch {
            throw HomeError.commandFailed("Failed to toggle twoWayTalk: \(error)")
        }
    }
}
