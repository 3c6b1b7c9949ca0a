import Foundation
import HomeHub
import HomeTypes
import Logging
import MQTTDevices
import Signalling
import Stations

/// Publishes the cameras of the home on the broker, with what happens at them, and takes the commands that come from there.
actor MQTTCameras {
    /// The name under which the home knows the broker.
    static let principal = "mqtt"
    /// What happened longer ago is not published: subscribers would take it for something that happens now.
    static let longestDelay = 30.0

    private weak var hub: HomeHub?
    private var publisher: CameraPublisher
    private let send: @Sendable (MQTTPublication) async -> Void
    private let listen: @Sendable (Set<String>) async -> Void
    private let logger: Logger
    private let pause: Duration
    private let now: @Sendable () -> Date
    /// What has to be sent, in its order.
    private var outbox: [(publication: MQTTPublication, permit: OutputPermit?)] = []
    private var isSending = false
    /// What the broker retains of cameras that this gateway has published at some time, by the topics above their
    /// states. It is compared with the cameras again whenever these have changed.
    private var retained: [String: RetainedCamera] = [:]
    /// What was cleared below earlier prefixes, of cameras that have other states now. The connection may have ended
    /// before the broker heard of it.
    private var cleared: [String: RetainedCamera] = [:]
    /// How many of them are compared: many more than a home has cameras. A client of the broker can forge them.
    static let mostRetained = 1_000
    /// Whether the home has all cameras of the config. Until then, a missing camera may still come.
    private var isHomeComplete = false
    /// The pictures that are being taken, by camera: one at a time for each.
    private var pictures: [String: Task<Void, Never>] = [:]

    /// Makes a publisher. ``follow()`` starts it.
    /// - Parameters:
    ///   - pause: how long to wait before the stream of the home is opened again.
    ///   - send: sends a message to the broker.
    ///   - listen: subscribes to topics whose messages are commands.
    init(
        _ hub: HomeHub, settings: CameraPublisher.Settings, logger: Logger, pause: Duration = .seconds(2),
        now: @escaping @Sendable () -> Date = { Date() },
        send: @escaping @Sendable (MQTTPublication) async -> Void,
        listen: @escaping @Sendable (Set<String>) async -> Void
    ) {
        self.hub = hub
        self.publisher = CameraPublisher(settings: settings)
        self.logger = logger
        self.pause = pause
        self.now = now
        self.send = send
        self.listen = listen
    }

    /// Publishes everything again: the broker was connected.
    func publishEverything() async {
        // A camera whose states were cleared may have left since then, and nothing on the broker names them then.
        let again = cleared.sorted { $0.key < $1.key }.flatMap { publisher.clear($0.value, isInHome: true) }
        await post(publisher.everything + again)
    }

    /// Handles what the broker retains from an earlier time, after each connection to it.
    func take(_ descriptions: [RetainedCamera]) async {
        for one in descriptions {
            if let known = retained[one.base] {
                if !known.isDescription { retained[one.base] = one }
            } else if hasRoom(for: one) {
                retained[one.base] = one
            }
        }
        await clearRetained()
    }

    /// Whether there is room for one more. A description takes the place of states without one: nothing may come of
    /// those, because they can be another gateway's, or forged.
    private func hasRoom(for one: RetainedCamera) -> Bool {
        if retained.count < Self.mostRetained { return true }
        guard one.isDescription, let states = retained.first(where: { !$0.value.isDescription }) else { return false }
        retained[states.key] = nil
        return true
    }

    /// The home now has all cameras of the config.
    func homeIsComplete() async {
        isHomeComplete = true
        await clearRetained()
    }

    /// Removes from the broker what no camera publishes any more.
    private func clearRetained() async {
        guard isHomeComplete, !retained.isEmpty, let hub else { return }
        let present = Set(await hub.devices().map(\.id))
        // A camera that comes from here on is published after this, because what is posted keeps its order.
        var removals: [MQTTPublication] = []
        for (base, former) in retained.sorted(by: { $0.key < $1.key }) {
            let isInHome = present.contains(former.cameraID)
            let publications = publisher.clear(former, isInHome: isInHome)
            guard !publications.isEmpty else { continue }
            retained[base] = nil
            // A camera that has left is found again by its description, which goes last.
            if isInHome, cleared.count < Self.mostRetained { cleared[base] = former }
            removals += publications
        }
        await post(removals)
    }

    /// What the gateway leaves behind when it stops.
    var farewell: MQTTPublication { publisher.farewell }

    /// Publishes what changes in the home, until the task is cancelled.
    func follow() async {
        var cursor: String?
        while !Task.isCancelled, let hub {
            do {
                for await event in try await hub.changes(principal: Self.principal, after: cursor) {
                    // Most changes are of other devices, and to read each of them would cost more than the rest.
                    let isDevice = ["device", "deviceAdded"].contains(event.name)
                    if !isDevice || event.data.contains(Google.WebRtcLiveViewTrait.name), let change = event.change {
                        await publish(change, of: hub)
                    }
                    if !event.id.isEmpty { cursor = event.id }
                }
                // The stream ends with the gateway, or when this reader was too slow. It resumes where it stopped.
            } catch {
                logger.debug("the cameras are not published yet", metadata: ["reason": "\(error)"])
            }
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }

    private func publish(_ change: HomeChange, of hub: HomeHub) async {
        // What is recorded now; a message about it may be older, or may have come before this publisher was there.
        let isRecording: Bool
        if let id = change.deviceID { isRecording = await hub.isRecording(id) } else { isRecording = false }
        switch change {
        case .device(let device), .deviceAdded(let device):
            let before = publisher.camera(device.id)
            if let camera = PublishedCamera(device, before: before, isRecording: isRecording) {
                await post(publisher.update(camera))
            }
        case .deviceRemoved(let id):
            let removal = publisher.remove(id, isMinted: MintedID.isDevice(id))
            guard !removal.isEmpty else { break }
            // It was a camera of this home, so what is left of it below earlier prefixes goes, too.
            let former = retained.values.filter { $0.cameraID == id }.sorted { $0.base < $1.base }
            for one in former { retained[one.base] = nil }
            await post(former.flatMap { publisher.clear($0, isInHome: true) } + removal)
        case .doorbellPressed(let id, let time, _):
            if isNew(time) {
                await post(publisher.event("press", at: id, .doorbell))
                takePicture(of: id, from: hub)
            }
        case .detection(let id, let time, let detection):
            if detection.phase != .ended, isNew(time) {
                await post(publisher.event(detection.kind.rawValue, at: id, .detection))
                takePicture(of: id, from: hub)
            }
        case .recordingBegan(let id, _, _), .recordingEnded(let id, _, _):
            await post(publisher.setRecording(isRecording, of: id))
        case .missed:
            // The present state came before this. What left meanwhile is not in it.
            let present = Set(await hub.devices().map(\.id))
            for id in publisher.cameraIDs where !present.contains(id) {
                await post(publisher.remove(id, isMinted: MintedID.isDevice(id)))
            }
        default: break
        }
        await listen(publisher.commandTopics)
    }

    /// The widest picture, in pixels: enough for a notification, and small for a broker.
    private static let pictureWidth = 640

    /// Publishes what the camera sees now. An event that comes while a picture is being taken has the same picture.
    private func takePicture(of id: String, from hub: HomeHub) {
        guard publisher.settings.publishesPictures, pictures[id] == nil else { return }
        pictures[id] = Task {
            do {
                let picture = try await hub.signalling.snapshots.snapshot(of: id, maximumWidth: Self.pictureWidth)
                await self.post(self.publisher.picture(picture.jpeg, at: id), permit: picture.permit)
            } catch {
                self.logger.debug(
                    "an event has no picture on the MQTT broker", metadata: ["camera": "\(id)", "reason": "\(error)"])
            }
            self.pictures[id] = nil
        }
    }

    private func isNew(_ time: Date) -> Bool { now().timeIntervalSince(time) <= Self.longestDelay }

    /// Sends messages in the order in which they were posted, also where several callers wait for the broker.
    private func post(_ publications: [MQTTPublication], permit: OutputPermit? = nil) async {
        outbox += publications.map { ($0, permit) }
        guard !isSending else { return }
        isSending = true
        while !outbox.isEmpty {
            let next = outbox.removeFirst()
            // The camera may have become private meanwhile.
            if next.permit == nil || (try? next.permit?.check()) != nil { await send(next.publication) }
            next.permit?.end()
        }
        isSending = false
    }

    /// Carries out what a message of the broker wants.
    func take(_ message: MQTTMessage) async {
        guard case .setRecording(let id, let isAllowed) = publisher.command(message), let hub else { return }
        do throws(HomeError) {
            let body = Data(#"{"softRecordingPrivacyModeEnabled":\#(!isAllowed)}"#.utf8)
            _ = try await hub.update(
                Google.CameraAvStreamManagementTrait.name, of: id, body: body,
                by: Caller(principal: Self.principal, access: Access([.init([.control])])))
        } catch {
            logger.warning(
                "a command from the MQTT broker failed", metadata: ["camera": "\(id)", "reason": "\(error)"])
        }
    }
}

extension PublishedCamera {
    /// A device of the home, if it is a camera.
    /// - Parameters:
    ///   - before: the camera as it was published; it has learned what it detects.
    ///   - isRecording: whether it is recorded now.
    init?(_ device: DeviceSnapshot, before: PublishedCamera?, isRecording: Bool) {
        guard device.traits.contains(Google.WebRtcLiveViewTrait.self) else { return nil }
        let active = Set((device.activeDetections ?? []).map(\.rawValue))
        var detections = Set(before?.detections ?? []).union(active)
        if device.eventSource != nil { detections.insert(DetectionKind.motion.rawValue) }
        let streams = device.traits[Google.CameraAvStreamManagementTrait.self]
        self.init(
            id: device.id, name: device.name, isDoorbell: device.traits.contains(Google.DoorbellPressTrait.self),
            isOnline: device.connectivityState == .online || device.connectivityState == .partiallyOnline,
            detections: detections.sorted(), activeDetections: active,
            allowsRecording: streams?.attributes.softRecordingPrivacyModeEnabled.map { !$0 },
            isRecording: isRecording)
    }
}
