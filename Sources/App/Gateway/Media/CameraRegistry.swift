import Cameras
import Dispatch
import Foundation
import HomeHub
import Logging
import MediaRelay
import Signalling

/// Runs the cameras. It makes them match the config, now and whenever it changes, and disturbs no other camera.
public actor CameraRegistry: CameraRunning {
    private struct Running {
        var camera: GatewayConfiguration.Camera
        let station: CameraStation
        let source: ReplaceableSource
        var events: CameraEvents
    }

    private let liveView: LiveViewService
    private let relay: MediaRelay
    private let profiles: ProfileStore?
    private let sharing: CameraSharing?
    private let makeSource: MakeSource
    /// How much all cameras together may transcode.
    private let transcoding: TranscodingBudget
    private let logger: Logger
    private var running: [String: Running] = [:]
    /// Cameras that could not be made, with the reason. They are tried again when their config changes.
    private var failed: [String: (camera: GatewayConfiguration.Camera, reason: String)] = [:]
    /// In the config's order.
    private var order: [String] = []
    private var isStopped = false
    /// A name of this run of the process, which distinguishes the stays of several runs.
    private let run = String(UInt32.random(in: .min ... .max), radix: 16)

    /// Makes the source of a camera; it does not run yet.
    typealias MakeSource =
        @Sendable (GatewayConfiguration.Camera) throws(SourceMaker.Failure) -> any CameraSource

    /// - Parameters:
    ///   - liveView: is informed about the cameras' stations.
    ///   - relay: carries their media.
    ///   - profiles: forgets the cameras that are gone.
    ///   - sharing: serves the cameras to other programs.
    ///   - makeSource: makes the source of a camera.
    init(
        liveView: LiveViewService, relay: MediaRelay, profiles: ProfileStore? = nil, sharing: CameraSharing? = nil,
        transcoding: TranscodingBudget = TranscodingBudget(cores: ProcessInfo.processInfo.activeProcessorCount),
        logger: Logger, makeSource: @escaping MakeSource
    ) {
        self.transcoding = transcoding
        self.profiles = profiles
        self.sharing = sharing
        self.liveView = liveView
        self.relay = relay
        self.makeSource = makeSource
        self.logger = logger
    }

    /// The cameras' stations, in the config's order.
    var stations: [CameraStation] { self.order.compactMap { self.running[$0]?.station } }

    public func apply(_ cameras: [GatewayConfiguration.Camera]) async -> CameraChanges {
        guard !self.isStopped else { return CameraChanges() }
        self.order = cameras.map(\.id)
        let known = (self.running.values.map(\.camera) + self.failed.values.map(\.camera)).sorted { $0.id < $1.id }
        var changes = CameraChanges()
        for step in CameraPlan(running: known, wanted: cameras).steps {
            await self.take(step, &changes)
        }
        if !changes.removed.isEmpty { self.profiles?.keepOnly(Set(self.order)) }
        self.sharing?.share(
            self.order.compactMap { id in self.running[id].map { ($0.station, $0.camera.name) } })
        return changes
    }

    public func findings(of id: String) -> CameraFindings? {
        (self.running[id]?.source.current).flatMap { CameraFindings($0) }
    }

    public func reconnect(_ id: String) async -> Bool {
        guard !self.isStopped, let running = self.running[id] else { return false }
        // A new source does not know how often the one before failed, or that the camera used to accept Digest.
        self.profiles?.forgetDigest(of: id)
        guard let source = try? self.makeSource(running.camera) else { return false }
        await Self.onThreadThatMayWait { running.source.replace(with: source) }
        return true
    }

    /// Stops every camera permanently.
    func stopAll() async {
        self.isStopped = true
        let all = self.order.compactMap { self.running[$0] }
        self.running = [:]
        // Each may wait a second for its camera.
        await withTaskGroup(of: Void.self) { group in
            for one in all { group.addTask { await Self.onThreadThatMayWait { one.events.stop() } } }
        }
        await Self.onThreadThatMayWait { for one in all { one.station.stop() } }
    }

    private func take(_ step: CameraPlan.Step, _ changes: inout CameraChanges) async {
        self.failed[step.id] = nil
        switch step {
        case .remove(let id):
            await self.end(id, because: "the camera was removed")
            changes.removed.append(id)
        case .add(let camera):
            await self.begin(camera, &changes)
            changes.added.append(camera.id)
        case .restart(let camera):
            self.profiles?.forgetDigest(of: camera.id)
            await self.end(camera.id, because: "the camera starts anew with other settings: start again")
            await self.begin(camera, &changes)
            changes.changed.append(camera.id)
        case .replaceSource(let camera):
            changes.changed.append(camera.id)
            guard let running = self.running[camera.id] else { return await self.begin(camera, &changes) }
            self.profiles?.forgetDigest(of: camera.id)
            do {
                let source = try self.makeSource(camera)
                await self.describe(camera, &changes)
                await Self.onThreadThatMayWait { running.source.replace(with: source) }
            } catch {
                await self.end(camera.id, because: "the camera cannot be used with its new settings")
                self.note(error, of: camera, &changes)
            }
        case .relabel(let camera):
            changes.changed.append(camera.id)
            guard self.running[camera.id] != nil else { return await self.begin(camera, &changes) }
            await self.describe(camera, &changes)
        }
    }

    /// Adopts changes that do not affect the media: a camera's name, and where its events come from.
    private func describe(_ camera: GatewayConfiguration.Camera, _ changes: inout CameraChanges) async {
        guard let running = self.running[camera.id] else { return }
        self.running[camera.id]?.camera = camera
        guard running.camera.differsInEvents(from: camera) else { return }
        let events = CameraEvents(camera, station: running.station)
        self.running[camera.id]?.events = events
        changes.drivers.append(
            StationDriver(station: running.station, source: running.source, events: events, run: self.run))
        await Self.onThreadThatMayWait { running.events.stop() }
        events.start()
    }

    private func begin(_ camera: GatewayConfiguration.Camera, _ changes: inout CameraChanges) async {
        do {
            let source = ReplaceableSource(try self.makeSource(camera))
            let station = CameraStation(
                id: camera.id, source: source, relay: self.relay,
                configuration: .init(camera, transcoding: self.transcoding))
            let events = CameraEvents(camera, station: station)
            self.running[camera.id] = Running(camera: camera, station: station, source: source, events: events)
            await self.liveView.add(station)
            changes.drivers.append(StationDriver(station: station, source: source, events: events, run: self.run))
            station.start()
            events.start()
        } catch {
            self.note(error, of: camera, &changes)
        }
    }

    private func end(_ id: String, because reason: String) async {
        guard let running = self.running.removeValue(forKey: id) else { return }
        await self.liveView.remove(id, reason: reason)
        await Self.onThreadThatMayWait {
            running.station.stop()
            // It takes a second at most to end a subscription properly.
            running.events.stop()
        }
    }

    /// A camera that cannot be made does not keep the others from running.
    private func note(
        _ failure: SourceMaker.Failure, of camera: GatewayConfiguration.Camera, _ changes: inout CameraChanges
    ) {
        self.logger.error("a camera cannot be made", metadata: ["camera": "\(camera.id)", "reason": "\(failure)"])
        self.failed[camera.id] = (camera, failure.description)
        changes.drivers.append(UnusableCamera(deviceID: camera.id, reason: failure.description))
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
    /// The config of a camera.
    init(_ camera: GatewayConfiguration.Camera, transcoding: TranscodingBudget) {
        self.init()
        transcodingBudget = transcoding
        pull = camera.pull == .onDemand ? .onDemand : .always
        transcodesVideo = TranscodingMode(camera.transcodesVideo)
    }
}

extension TranscodingMode {
    /// The config.
    init(_ choice: GatewayConfiguration.Camera.TranscodeVideo) {
        switch choice {
        case .automatic: self = .automatic
        case .always: self = .always
        case .never: self = .never
        }
    }
}
