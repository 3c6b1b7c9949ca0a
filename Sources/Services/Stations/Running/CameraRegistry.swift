import Cameras
import Dispatch
import MediaRelay

/// Runs the cameras. It makes them match what is wanted, now and whenever it changes, and disturbs no other camera.
public actor CameraRegistry {
    private let users: [any StationUser]
    private let relay: MediaRelay
    private let profiles: ProfileStore?
    private let makeSource: MakeSource
    /// How much all cameras together may transcode.
    private let transcoding: TranscodingBudget
    /// What was saved about the outputs of a device.
    private let savedOutputs: SavedOutputs
    /// Which devices this gateway may run.
    public nonisolated let tenures: Tenures
    private var byID: [String: RunningCamera] = [:]
    /// The permits of the devices that are wanted. They outlive a station that restarts.
    private var outputs: [String: OutputPermits] = [:]
    /// Cameras that could not be made, with the reason. They are tried again when their settings change.
    private var failed: [String: (camera: CameraSettings, reason: String)] = [:]
    /// In the order in which they are wanted.
    private var order: [String] = []
    private var isStopped = false

    /// Makes the source of a camera; it does not run yet.
    public typealias MakeSource =
        @Sendable (CameraSettings) throws(SourceMaker.Failure) -> any CameraSource

    /// What is allowed of a device when it begins: what was saved.
    public typealias SavedOutputs = @Sendable (_ id: String) async -> OutputPolicy

    /// Runs no camera yet.
    /// - Parameters:
    ///   - users: are informed about the cameras' stations.
    ///   - relay: carries their media.
    ///   - profiles: forgets the cameras that are gone.
    ///   - transcoding: what limits transcoding, for all cameras together.
    ///   - savedOutputs: what is allowed of a device when it begins. Nothing of it leaves before that is known.
    ///   - tenures: is asked for a device before its source starts.
    ///   - makeSource: makes the source of a camera.
    public init(
        users: [any StationUser], relay: MediaRelay, profiles: ProfileStore? = nil, transcoding: TranscodingBudget,
        savedOutputs: @escaping SavedOutputs = { _ in OutputPolicy() }, tenures: Tenures = Tenures(),
        makeSource: @escaping MakeSource
    ) {
        self.tenures = tenures
        self.savedOutputs = savedOutputs
        self.transcoding = transcoding
        self.profiles = profiles
        self.users = users
        self.relay = relay
        self.makeSource = makeSource
    }

    /// The cameras that run, in the order in which they are wanted.
    public var running: [RunningCamera] { order.compactMap { byID[$0] } }

    /// Makes the running cameras match this list, in its order. A camera that is the same is not touched.
    /// - Returns: what happened to each camera that was touched; nil once ``stopAll()`` was called.
    public func apply(_ cameras: [CameraSettings]) async -> StationChanges? {
        guard !isStopped else { return nil }
        order = cameras.map(\.id)
        let known = (byID.values.map(\.settings) + failed.values.map(\.camera)).sorted { $0.id < $1.id }
        var changes = StationChanges()
        for step in CameraPlan(running: known, wanted: cameras).steps {
            // Each step waits, and the cameras may have been stopped meanwhile.
            if isStopped { break }
            await take(step, &changes)
        }
        if !changes.removed.isEmpty {
            let kept = Set(order)
            profiles?.keepOnly(kept)
            outputs = outputs.filter { kept.contains($0.key) }
        }
        return isStopped ? nil : changes
    }

    /// Changes which outputs of a device are allowed, whether it runs now or not; see ``OutputPermits/set(_:)``.
    public func setOutputs(_ policy: OutputPolicy, of id: String) async {
        await outputs(of: id).set(policy)
    }

    /// The permits of a device, whether it runs now or not.
    public func outputs(of id: String) async -> OutputPermits {
        if let known = outputs[id] { return known }
        let made = OutputPermits(camera: id, policy: await savedOutputs(id), tenures: tenures)
        // Another call may have made them meanwhile.
        if let known = outputs[id] { return known }
        outputs[id] = made
        return made
    }

    /// What runs under this identifier.
    public func camera(_ id: String) -> RunningCamera? { byID[id] }

    /// Reconnects to a camera, even one that was given up; its viewers stay. Returns false if no such camera runs.
    public func reconnect(_ id: String) async -> Bool {
        guard !isStopped, let running = byID[id] else { return false }
        // A new source does not know how often the one before failed, or that the camera used to accept Digest.
        profiles?.forgetDigest(of: id)
        guard let source = try? makeSource(running.settings) else { return false }
        await Self.onThreadThatMayWait { running.source.replace(with: source, endsTalk: false) }
        return true
    }

    /// Stops every camera permanently. Nothing starts after this, even where ``apply(_:)`` has not returned yet.
    public func stopAll() async {
        isStopped = true
        // A change that is under way has another order already, in which those that it removes later are not.
        let all = Array(byID.values)
        byID = [:]
        // Each may wait a second for its camera.
        await withTaskGroup(of: Void.self) { group in
            for one in all { group.addTask { await Self.onThreadThatMayWait { one.events.stop() } } }
        }
        await Self.onThreadThatMayWait { for one in all { one.station.stop() } }
        for one in all { await tenures.release(one.settings.id) }
    }

    private func take(_ step: CameraPlan.Step, _ changes: inout StationChanges) async {
        failed[step.id] = nil
        switch step {
        case .remove(let id):
            await end(id, because: .removed)
            changes.removed.append(id)
        case .add(let camera):
            await begin(camera, &changes)
            changes.added.append(camera.id)
        case .restart(let camera):
            profiles?.forgetDigest(of: camera.id)
            await end(camera.id, because: .restarting)
            await begin(camera, &changes)
            changes.changed.append(camera.id)
        case .replaceSource(let camera):
            changes.changed.append(camera.id)
            guard let running = byID[camera.id] else { return await begin(camera, &changes) }
            profiles?.forgetDigest(of: camera.id)
            do {
                let source = try makeSource(camera)
                await describe(camera, &changes)
                if isStopped { return }
                let isElsewhere = running.settings.isElsewhere(than: camera)
                await Self.onThreadThatMayWait { [relay] in
                    running.source.replace(with: source) {
                        // Until the new one sends, nobody may be shown pictures of the one before.
                        if isElsewhere { relay.clearTracks(of: camera.id) }
                    }
                }
                // The last picture is kept for a moment, and for longer while video is damaged.
                if isElsewhere { await running.station.forgetSnapshots() }
            } catch {
                await end(camera.id, because: .unusable)
                record(error.description, of: camera, &changes)
            }
        case .relabel(let camera):
            changes.changed.append(camera.id)
            guard byID[camera.id] != nil else { return await begin(camera, &changes) }
            await describe(camera, &changes)
        }
    }

    /// Adopts changes that do not affect the media: a camera's name, and where its events come from.
    private func describe(_ camera: CameraSettings, _ changes: inout StationChanges) async {
        guard let running = byID[camera.id] else { return }
        byID[camera.id]?.settings = camera
        guard running.settings.differsInEvents(from: camera) else { return }
        let events = CameraEvents(camera, station: running.station)
        byID[camera.id]?.events = events
        if let changed = byID[camera.id] { changes.begun.append(changed) }
        running.events.endStays()
        await Self.onThreadThatMayWait { running.events.stop() }
        if !isStopped { events.start() }
    }

    private func begin(_ camera: CameraSettings, _ changes: inout StationChanges) async {
        // A camera that restarts was ended before, which waits.
        if isStopped { return }
        do throws(StationError) {
            try await tenures.take(camera.id)
        } catch {
            return record(error.words, of: camera, &changes)
        }
        let permits = await outputs(of: camera.id)
        // `stopAll()` does not know of this camera yet.
        if isStopped { return await tenures.release(camera.id) }
        do {
            let source = ReplaceableSource(try makeSource(camera))
            let station = CameraStation(
                id: camera.id, source: source, relay: relay,
                configuration: .init(camera, transcoding: transcoding),
                outputs: permits)
            let events = CameraEvents(camera, station: station)
            let running = RunningCamera(settings: camera, station: station, source: source, events: events)
            byID[camera.id] = running
            for user in users where !isStopped { await user.add(station) }
            // `stopAll()` has stopped the station already. To start it now would undo that.
            if isStopped { return }
            changes.begun.append(running)
            station.start()
            events.start()
        } catch {
            // Another gateway may be able to run it.
            await tenures.release(camera.id)
            record(error.description, of: camera, &changes)
        }
    }

    private func end(_ id: String, because end: StationEnd) async {
        guard let running = byID.removeValue(forKey: id) else { return }
        for user in users { await user.remove(id, because: end) }
        running.events.endStays()
        await Self.onThreadThatMayWait {
            running.station.stop()
            // It takes a second at most to end a subscription properly.
            running.events.stop()
        }
        await tenures.release(id)
    }

    /// A camera that cannot be made does not keep the others from running.
    private func record(_ reason: String, of camera: CameraSettings, _ changes: inout StationChanges) {
        failed[camera.id] = (camera, reason)
        changes.failed.append((camera.id, reason))
    }

    /// The end of a source waits for its thread, which must not block the threads of the concurrency runtime.
    private static func onThreadThatMayWait(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                work()
                continuation.resume()
            }
        }
    }
}

extension CameraStation.Configuration {
    /// The settings of a camera.
    init(_ camera: CameraSettings, transcoding: TranscodingBudget) {
        self.init()
        transcodingBudget = transcoding
        pull = camera.pull
        transcodesVideo = camera.transcodesVideo
        pullsWhileOff = camera.pullsWhileOff
    }
}
