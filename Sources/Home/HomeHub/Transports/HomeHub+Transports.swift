import Foundation
import HomeTypes
import PushAvStreamTransport
import Signalling
import Stations

/// Recording connections: the devices show them, the event stream reports them, and what cameras report is their trigger.
extension HomeHub {
    private typealias Push = Google.PushAvStreamTransportTrait
    private typealias Streams = Google.CameraAvStreamManagementTrait

    /// Handles what the connections report on their own.
    func take(_ change: TransportChange) async {
        switch change {
        case .connections(let device): await readConnections(of: device)
        // The effect on the devices is reported as a change of their connections.
        case .rightsEnded: break
        case .began(let device, let connection, let trigger, let number):
            recordings[device, default: []].insert(connection)
            publish(
                .recordingBegan(
                    deviceID: device, at: now(),
                    .init(
                        connectionID: connection, triggerType: trigger.kind, activationReason: trigger.reason,
                        containerType: .cmaf, cmafSessionNumber: number)))
        case .ended(let device, let connection, let number, _):
            recordings[device]?.remove(connection)
            publish(
                .recordingEnded(
                    deviceID: device, at: now(),
                    .init(connectionID: connection, containerType: .cmaf, cmafSessionNumber: number)))
        case .notKept(let device, let fault):
            take(HomeAlarm(.recordingConnectionsNotKept, .raised, of: device, reason: "\(fault)", at: now()))
        case .kept(let device):
            take(
                HomeAlarm(
                    .recordingConnectionsNotKept, .cleared, of: device, reason: "they can be kept again", at: now()))
        }
    }

    /// Whether any connection records a device now.
    public func isRecording(_ deviceID: String) -> Bool { recordings[deviceID]?.isEmpty == false }

    /// Shows a device's connections as they are now, and permits its outputs accordingly. When it returns, outputs that
    /// are not permitted have stopped.
    func readConnections(of deviceID: String) async {
        guard let transports, let table = transports.service.table(of: deviceID) else { return }
        change(deviceID) { $0.update(Self.traits(of: table)) }
        // One after another, each with what is valid at that time.
        let earlier = outputs[deviceID]
        let task = Task {
            await earlier?.value
            guard let table = transports.service.table(of: deviceID) else { return }
            let permitted = OutputPolicy(table)
            guard self.permitted[deviceID] != permitted else { return }
            await transports.setOutputs(deviceID, permitted)
            self.permitted[deviceID] = permitted
        }
        outputs[deviceID] = task
        await task.value
    }

    /// The traits of a camera's connections, as changes and lists of devices have them: without options.
    static func traits(of table: ConnectionTable) -> TraitCollection {
        // A camera without sound does not have a microphone to mute.
        let hasSound = !table.streams.audio.isEmpty
        return TraitCollection([
            Push(
                attributes: .init(
                    currentConnections: table.connections.map { $0.configuration(withOptions: false) })),
            Streams(
                attributes: .init(
                    supportedStreamUsages: StreamUsage.offered.map(Self.usage),
                    allocatedVideoStreams: table.streams.video.map {
                        .init(
                            videoStreamID: $0.id, streamUsage: Self.usage($0.usage), videoCodec: $0.codec,
                            keyFrameInterval: $0.keyFrameInterval,
                            referenceCount: UInt16(clamping: table.videoReferences($0.id)))
                    },
                    allocatedAudioStreams: table.streams.audio.map {
                        .init(
                            audioStreamID: $0.id, streamUsage: Self.usage($0.usage), audioCodec: $0.codec,
                            referenceCount: UInt16(clamping: table.audioReferences($0.id)))
                    },
                    streamUsagePriorities: table.usagePriorities.map(Self.usage),
                    softRecordingPrivacyModeEnabled: table.privacy.softRecording,
                    softLivestreamPrivacyModeEnabled: table.privacy.softLivestream,
                    hardPrivacyModeOn: table.privacy.hard,
                    microphoneMuted: hasSound ? table.privacy.microphoneMuted : nil,
                    recordingMicrophoneMuted: hasSound ? table.privacy.recordingMicrophoneMuted : nil)),
        ])
    }

    private static func usage(_ usage: StreamUsage) -> Streams.StreamUsageEnum {
        switch usage {
        case .internal: .internal
        case .recording: .recording
        case .analysis: .analysis
        case .liveView: .liveView
        case .unrecognized_: .unrecognized_
        }
    }

    /// The traits of a device's connections; nil for a device without them.
    func connectionTraits(of deviceID: String) -> TraitCollection? {
        transports?.service.table(of: deviceID).map(Self.traits)
    }

    /// The connections of the home's devices, from now on. The connections of principals that have lost their right in
    /// the meantime end. An unknown right does not count as lost: footage does not stop because a record is damaged.
    func setConnections(of devices: [DeviceDescription]) {
        transports?.service.setCameras(
            Dictionary(devices.map { ($0.id, $0.recording) }, uniquingKeysWith: { first, _ in first }),
            mayKeep: { [accessOf, isUnknown, directory] principal, device in
                accessOf(principal).permits(.media, directory.device(device)) || isUnknown(principal)
            })
    }

    /// The attributes of a trait, with what only a request for this trait returns: the options of the principal's
    /// connections, or of all connections for the owner.
    public func trait(
        _ name: String, of deviceID: String, endpoint: UInt16? = nil, for principal: String
    ) throws(HomeError) -> any Trait {
        let trait = try self.trait(name, of: deviceID, endpoint: endpoint)
        guard var push = trait as? Push, let service = transports?.service,
            let table = service.table(of: deviceID)
        else { return trait }
        let own = (try? table.find(nil, for: principal, seesAll: principal == PlaceShares.owner)) ?? []
        // Neither PERZONESENS nor METADATA.
        push.featureMap = 0
        push.supportedFormats = service.capabilities(of: deviceID)?.formats
        push.currentConnections = push.currentConnections?.map { connection in
            var connection = connection
            connection.transportOptions = own.first { $0.connectionID == connection.connectionID }?.transportOptions
            return connection
        }
        return push
    }

    // MARK: Triggers

    /// What a camera sends, which is what its connections can record.
    func describeStreams(_ status: CameraSourceStatus, of deviceID: String) {
        guard let service = transports?.service, !status.tracks.isEmpty else { return }
        let video = status.tracks.filter { $0.kind == "video" }.prefix(2).enumerated().map { index, track in
            AllocatedStream(
                id: index == 0 ? AllocatedStreams.mainVideo : AllocatedStreams.subVideo,
                usage: index == 0 ? .recording : .analysis, codec: track.codec)
        }
        let audio = status.tracks.filter { $0.kind == "audio" }.prefix(1).map {
            AllocatedStream(id: AllocatedStreams.audio, usage: .recording, codec: $0.codec)
        }
        service.describe(deviceID, AllocatedStreams(video: video, audio: audio))
    }

    /// A press is a trigger.
    func trigger(pressOf deviceID: String, event: String) {
        transports?.service.take(
            .press(
                RecordingTrigger(
                    kind: .command, reason: .doorbellPressed, words: "press of the button", events: [event])),
            of: deviceID)
    }

    /// What a camera sees is a trigger.
    func trigger(_ detection: DetectionEvent, of deviceID: String, event: String) {
        guard let service = transports?.service, detection.kind != .sound else { return }
        guard detection.phase != .ended else {
            return service.take(.motionEnded(stay: detection.eventSessionId), of: deviceID)
        }
        // A parcel or a parked car may stay for days. Only what moves extends a recording for as long as it is there.
        let lasts = detection.phase == .began && (detection.kind == .motion || detection.kind == .person)
        service.take(
            .motion(
                MotionSignal(stay: lasts ? detection.eventSessionId : nil),
                RecordingTrigger(kind: .motion, words: detection.kind.rawValue, events: [event])),
            of: deviceID)
    }
}
