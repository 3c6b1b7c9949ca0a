import Foundation
import HomeHub
import HomeTypes
import Logging
import PushAvStreamTransport
import Transport

/// Keeps the running cameras and the home in step with the config file and with the cameras of the API.
///
/// A file with a problem changes nothing: the settings that were read before stay in force, and the status says what is
/// wrong and where. Changes are applied one after the other, and each camera separately.
public actor ConfigurationKeeper {
    /// Where a camera is written.
    enum Origin: String, Sendable, Codable {
        /// In the config file.
        case file
        /// In the config file, and in the file of the API's cameras since the API changed it. The latter counts.
        case overridden
        /// In the file of the API's cameras.
        case api
        /// The camera of a gateway without a config and without cameras of the API.
        case builtin
    }

    /// A camera in force.
    struct Entry: Sendable {
        let camera: GatewayConfiguration.Camera
        let origin: Origin
    }

    /// The config that the process was started with.
    let started: GatewayConfiguration
    let file: String?
    let store: CameraStore
    let environment: [String: String]
    let logger: Logger
    private let running: any CameraRunning
    let hub: HomeHub
    let webhooks: WebhookTokens
    private let secrets: SecretList
    private let isKnown: @Sendable (String) -> Bool
    private let identified: @Sendable ([String: String]) -> Void
    let mqtt: MQTTRunner?
    private let virtual: VirtualHome?

    /// The last config that was read without a problem.
    var current: GatewayConfiguration
    var stored: StoredCameras
    /// The entries of the config file that do not count, as the log has them.
    var announced: [ReplacedEntry] = []
    private var hasStoreFile: Bool
    var status: ConfigurationStatus
    /// The stamps of the files at the last look, whether or not they could be read.
    private var stamps: (file: FileStamp?, store: FileStamp?)
    /// Whether the config file has been written since the process read it at its start.
    private var isFileNew: Bool
    /// The stamp of the store's file that is in force.
    private var storeInForce: FileStamp?

    private var isBusy = false
    /// Whether the cameras of the start run.
    private var hasBegun = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Keeps a config.
    /// - Parameters:
    ///   - configuration: the config as it was read at the start.
    ///   - file: the file that it came from; nil for the built-in one.
    ///   - store: the cameras of the API.
    ///   - cameras: runs the cameras.
    ///   - hub: the home.
    ///   - webhooks: the tokens of the devices whose webhook is on.
    ///   - isKnown: whether an earlier version of the gateway kept something under this key.
    ///   - identified: gets the identifiers of the cameras' devices, by their keys, before the cameras run.
    ///   - secrets: receives the passwords of cameras that are added later.
    ///   - mqtt: runs the bridge to the MQTT broker.
    ///   - virtual: runs the virtual devices.
    /// - Throws: what is wrong with the file of the API's cameras.
    init(
        configuration: GatewayConfiguration, file: String?, store: CameraStore, cameras: any CameraRunning,
        hub: HomeHub, webhooks: WebhookTokens = WebhookTokens(), secrets: SecretList, mqtt: MQTTRunner? = nil,
        virtual: VirtualHome? = nil,
        isKnown: @escaping @Sendable (String) -> Bool = { _ in false },
        identified: @escaping @Sendable ([String: String]) -> Void = { _ in }, logger: Logger,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) {
        self.started = configuration
        self.file = file
        self.store = store
        self.running = cameras
        self.hub = hub
        self.webhooks = webhooks
        self.secrets = secrets
        self.isKnown = isKnown
        self.identified = identified
        self.mqtt = mqtt
        self.virtual = virtual
        self.logger = logger
        self.environment = environment
        self.current = configuration
        // A stamp is older than what is read after it, so an edit in between is found at the next look.
        self.stamps = (file.flatMap(FileStamp.init(path:)), FileStamp(path: store.path))
        self.storeInForce = self.stamps.store
        self.isFileNew =
            file.map { (try? GatewayConfiguration(contentsOfFile: $0, environment: environment)) != configuration }
            ?? false
        let stored = try store.read(environment: environment)
        self.stored = stored ?? StoredCameras()
        self.hasStoreFile = stored != nil
        self.status = ConfigurationStatus(
            file: file, camerasFile: store.path, loadedAt: Date(), problems: [], needsRestart: [], notes: [])
    }

    /// Keeps texts that the API received out of the log.
    nonisolated func hide(_ texts: [String]) { secrets.add(texts) }

    // MARK: What is in force

    /// The cameras in force, in the order in which people see them.
    var entries: [Entry] {
        var result: [Entry] = []
        var ids: Set<String> = []
        // The built-in config is for people who have nothing yet.
        if file != nil || !hasStoreFile {
            let origin: Origin = file == nil ? .builtin : .file
            let own = Dictionary(stored.cameras.map { ($0.camera.id, $0.camera) }) { first, _ in first }
            for camera in current.cameras where ids.insert(camera.id).inserted {
                if file == nil || stored.replaced[camera.id] == nil {
                    result.append(Entry(camera: camera, origin: origin))
                } else if let changed = own[camera.id] {
                    result.append(Entry(camera: changed, origin: .overridden))
                }
            }
        }
        for stored in self.stored.cameras where ids.insert(stored.camera.id).inserted {
            result.append(Entry(camera: stored.camera, origin: .api))
        }
        return result.map { entry in
            var camera = entry.camera
            camera.deviceID = hub.names.id(ofKey: camera.id) ?? camera.id
            return Entry(camera: camera, origin: entry.origin)
        }
    }

    /// Gives the cameras their devices.
    /// - Returns: whether these have the identifiers of earlier runs.
    private func identify(_ cameras: [GatewayConfiguration.Camera]) async -> Bool {
        do throws(HomeError) {
            let records = try await hub.identify(
                cameras.map { .init($0.id, formerly: $0.formerly) }, isKnown: isKnown)
            identified(records.mapValues(\.id))
            return hub.directory.outlivesProcess
        } catch {
            // Until the disk takes it, a new camera runs under its key, and keeps that as its identifier.
            logger.error("new cameras have no identifier of their own", metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// The state of the config and of the cameras' file.
    public var configurationStatus: ConfigurationStatus { status }

    /// What the gateway found out about a camera.
    func findings(of id: String) async -> CameraFindings? {
        await running.findings(of: hub.names.id(ofKey: id) ?? id)
    }

    /// Reconnects to a camera.
    func reconnect(_ id: String) async throws(HomeError) {
        let device = try entry(of: id).camera.deviceID
        await takeTurn()
        defer { endTurn() }
        guard await running.reconnect(device) else {
            throw HomeError.failedPrecondition("\(id) is not running")
                .advising(request: "GET /v1/cameras/\(id) says why", command: "gatehouse doctor says why")
        }
    }

    /// Starts the cameras.
    public func begin() async {
        await takeTurn()
        defer { endTurn() }
        await applyInTurn()
        hasBegun = true
    }

    // MARK: The files

    /// Whether a file differs from the one that was read, and has rested since the last look. This avoids reading a
    /// file that is only half written.
    func lookAtFiles(seenBefore: [FileStamp?]) -> (hasChanged: Bool, seen: [FileStamp?]) {
        let now = stampsNow
        let hasChanged = isFileNew || now != stamps
        let seen = [now.file, now.store]
        return (hasChanged && seen == seenBefore, seen)
    }

    private var stampsNow: (file: FileStamp?, store: FileStamp?) {
        (self.file.flatMap(FileStamp.init(path:)), FileStamp(path: self.store.path))
    }

    /// Reads the files again and applies what has changed.
    public func reload(because reason: String) async {
        await takeTurn()
        defer { endTurn() }
        stamps = stampsNow
        isFileNew = false
        let configuration: GatewayConfiguration
        let stored: StoredCameras?
        do throws(ConfigurationError) {
            if let file {
                configuration = try GatewayConfiguration(contentsOfFile: file, environment: environment)
            } else {
                configuration = current
            }
            stored = try store.read(environment: environment)
        } catch {
            let before = status
            status.problems = error.problems.map {
                .init(file: error.file, line: $0.line, key: $0.key, reason: $0.reason)
            }
            logger.error(
                "the config has problems, so nothing was changed",
                metadata: ["because": "\(reason)", "problems": "\(error)"])
            // The same problems again are not a change.
            if status != before { await hub.take(status.summary) }
            return
        }
        current = configuration
        self.stored = stored ?? StoredCameras()
        announced = []
        hasStoreFile = stored != nil
        storeInForce = stamps.store
        status.problems = []
        status.loadedAt = Date()
        logger.notice("config read again", metadata: ["because": "\(reason)"])
        await applyInTurn()
    }

    private func applyInTurn() async {
        let areKnown = await identify(entries.map(\.camera))
        let cameras = entries.map(\.camera)
        secrets.add(cameras.flatMap(\.secrets) + current.media.iceServers.compactMap(\.credential))
        secrets.add([current.mqtt?.password].compactMap { $0 })
        // The broker's devices come first: watchers that come back know them, and learn of no end of theirs.
        await mqtt?.apply(current.mqtt)
        await virtual?.apply(current.devices)
        let needsRestart = current.keysThatNeedRestart(comparedTo: started)
        if needsRestart != status.needsRestart, !needsRestart.isEmpty {
            logger.warning(
                "changes that take effect at the next start",
                metadata: ["keys": "\(needsRestart.joined(separator: ", "))"])
        }
        status.needsRestart = needsRestart
        let notes = self.notes.map(\.description)
        for note in rulesWithoutCamera.map({ ConfigurationNote.rulesWithoutCamera(camera: $0).description })
        where !status.notes.contains(note) { logger.warning("\(note)") }
        status.notes = notes
        announceReplacedEntries()
        do {
            try webhooks.use(cameras.filter(\.acceptsWebhook).map(\.id), in: store.directory)
            secrets.add(webhooks.secrets)
        } catch {
            logger.error("webhook tokens cannot be written", metadata: ["reason": "\(error)"])
        }
        let changes = await running.apply(cameras)
        // What is recorded takes effect at the next start, as the section does.
        let recording = started.recording ?? .init()
        let devices = cameras.map { camera in
            var device = DeviceDescription(
                id: camera.deviceID, key: camera.id, name: camera.name, kind: camera.kind,
                recording: OwnConnection(recording.rules(of: camera.id)))
            device.information = camera.information
            device.isOnDemand = camera.pull == .onDemand
            device.isOnBattery = camera.isOnBattery
            return device
        }
        await hub.applyReports(of: changes.drivers.map(\.deviceID))
        await hub.setDevices(devices, drivers: changes.drivers)
        // With other identifiers, all that earlier runs have published would seem to be of cameras that have left.
        if areKnown { await mqtt?.camerasAreComplete() }
        // At the start, too: a client that continues after a restart knows what the earlier run answered.
        await hub.take(status.summary)
        guard !changes.isEmpty else { return }
        // The line that says that the gateway is ready counts the cameras of the start.
        guard hasBegun else { return }
        for (message, cameras) in [
            ("camera added", changes.added), ("camera changed", changes.changed), ("camera removed", changes.removed),
        ] {
            for camera in cameras { logger.notice("\(message)", metadata: ["camera": "\(camera)"]) }
        }
    }

    // MARK: The cameras of the API

    /// Writes the API's new cameras to the file and puts them in force. The file comes first, so that nothing runs that
    /// a restart would forget.
    func store(_ cameras: StoredCameras) async throws(HomeError) {
        try write(cameras)
        status.loadedAt = Date()
        await applyInTurn()
    }

    /// Writes the API's new cameras to the file. They are in force when they are applied.
    func write(_ cameras: StoredCameras) throws(HomeError) {
        // Does not overwrite somebody's edit: the new text is based on what was read before that edit.
        guard FileStamp(path: store.path) == storeInForce else {
            guard !status.problems.isEmpty else {
                throw HomeError.failedPrecondition(
                    "the file \(store.path) was just edited and has not been read yet; try again in a second")
            }
            throw HomeError.failedPrecondition("the file \(store.path) was edited and has problems; fix them first")
                .advising(
                    request: "GET /v1/configuration lists them", command: "gatehouse serve --check lists them")
        }
        do {
            try store.write(cameras)
        } catch {
            if error.isTooLarge {
                throw HomeError.resourceExhausted(
                    "\(CameraStore.fileName) would be larger than 1 MiB; remove a camera first")
            }
            logger.error("cameras cannot be written", metadata: ["reason": "\(error)"])
            throw HomeError.internal("the cameras cannot be written: \(error)")
        }
        stored = cameras
        hasStoreFile = true
        // The config file's stamp stays: an edit of it that has not been read yet is still to be read.
        stamps.store = FileStamp(path: store.path)
        storeInForce = stamps.store
        status.problems.removeAll { $0.file == store.path }
    }

    // MARK: One after the other

    func takeTurn() async {
        if isBusy {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isBusy = true
        }
    }

    func endTurn() {
        if waiting.isEmpty {
            isBusy = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}
