import HomeTypes
import Signalling

extension CommandTable {
    /// The commands of all traits that the hub itself handles.
    static let standard: CommandTable = {
        var table = CommandTable()
        table.addLiveView()
        table.addDoorbell()
        table.addTransports()
        table.addCameras()
        return table
    }()

    /// The trait `WebRtcLiveView`, which the signalling service serves.
    private mutating func addLiveView() {
        typealias Live = Google.WebRtcLiveViewTrait
        on(Live.StartLiveViewCommand.self) { hub, call, parameters in
            let started = try await hub.signalling.views.startLiveView(
                StartLiveViewRequest(
                    deviceID: call.deviceID, principal: call.caller.principal, offerSdp: parameters.offerSdp,
                    qualityHint: parameters.qualityHint,
                    reachedAddresses: call.caller.reachedAddresses, viewerAddress: call.caller.address,
                    deadline: call.deadline))
            guard hub.stillPermits(.view, call) else {
                // A session that has ended in the meantime needs nothing.
                try? await hub.signalling.views.stopLiveView(call.session(started.mediaSessionId))
                throw HomeHub.lost(.view, call)
            }
            return Live.StartLiveViewCommand.Response(
                mediaSessionId: started.mediaSessionId, answerSdp: started.answerSdp,
                liveSessionDurationSeconds: started.liveSessionDurationSeconds, notes: started.notes.map(\.description))
        }
        on(Live.ExtendLiveViewCommand.self) { hub, call, parameters in
            Live.ExtendLiveViewCommand.Response(
                liveSessionDurationSeconds: try await hub.signalling.views.extendLiveView(
                    call.session(parameters.mediaSessionId),
                    extendedDurationSeconds: parameters.extendedDurationSeconds))
        }
        on(Live.StopLiveViewCommand.self) { hub, call, parameters in
            try await hub.signalling.views.stopLiveView(call.session(parameters.mediaSessionId))
            return NoFields()
        }
        on(Live.StartTalkbackCommand.self) { hub, call, parameters in
            try await hub.signalling.talks.startTalkback(
                call.session(parameters.mediaSessionId), offerSdp: parameters.offerSdp)
            guard hub.stillPermits(.media, call) else {
                // A session that has ended in the meantime needs nothing.
                try? await hub.signalling.talks.stopTalkback(call.session(parameters.mediaSessionId))
                throw HomeHub.lost(.media, call)
            }
            return NoFields()
        }
        on(Live.StopTalkbackCommand.self) { hub, call, parameters in
            try await hub.signalling.talks.stopTalkback(call.session(parameters.mediaSessionId))
            return NoFields()
        }
        on(Live.ChangeLiveViewQualityCommand.self) { hub, call, parameters in
            let used = try await hub.signalling.views.changeLiveViewQuality(
                call.session(parameters.mediaSessionId), qualityHint: parameters.qualityHint)
            return Live.ChangeLiveViewQualityCommand.Response(qualityHint: used)
        }
    }

    /// The trait `DoorbellPress`, whose command goes to the camera's driver.
    private mutating func addDoorbell() {
        on(Google.DoorbellPressTrait.PressCommand.self) { hub, call, _ in
            try await hub.press(call.deviceID)
            return NoFields()
        }
    }
}

extension CommandCall {
    /// A session of the command's device, as the caller names it.
    fileprivate func session(_ mediaSessionId: String) -> SessionReference {
        SessionReference(mediaSessionId, of: deviceID, principal: caller.principal)
    }
}
