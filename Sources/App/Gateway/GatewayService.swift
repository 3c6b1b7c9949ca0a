import DatagramPort
import HomeHub
import HomeTypes
import Hummingbird
import Logging
import NIOCore
import PushAvStreamTransport
import RecordingUpload
import ServiceLifecycle
import Signalling
import Stations
import UnixSignals

/// The process without its media: home, HTTP, HTTPS and everything around them. It is made from a config, the
/// signalling services and the part that runs the cameras.
public struct GatewayService: Service {
    /// Why the gateway could not start.
    public struct StartFailure: Error, Sendable, CustomStringConvertible {
        /// What went wrong and what to do.
        public var description: String
    }

    /// The home.
    public let hub: HomeHub
    /// Where the service manager learns how the gateway is; nil where none has started it.
    let notifier = ServiceNotifier()
    /// The tokens of the file, which may do everything.
    public let tokens: TokenStore
    /// All tokens that may use the API.
    public let registry: TokenRegistry
    /// Where the gateway keeps its secrets.
    public let stateDirectory: StateDirectory

    let configuration: GatewayConfiguration
    let keeper: ConfigurationKeeper
    let api: GatewayAPI
    let automationRecords: AutomationRecords
    private let transports: TransportService
    /// The cameras whose recording connections could not be read.
    private let connectionLosses: [ConnectionLoss]
    private let reporter: StateReporter?
    private let push: PushService?
    private let storage: HomeStorage
    private let mqtt: MQTTRunner
    /// Runs the automations of the home.
    let automations: AutomationService
    let shared: ConnectionGuard
    private let cameras: any CameraRunning
    let logger: Logger
    let onReady: @Sendable (GatewayConfiguration) async -> Void

    /// How many connections wait in the kernel. If the queue is full, a client tries again after a second, and that
    /// includes the owner. The queue therefore holds as many as several hosts open while the listener is briefly busy.
    static let backlog = 1024

    /// Puts the parts together. Opens the state folder and makes the token at the first start, but opens no socket.
    /// - Parameters:
    ///   - configuration: the config.
    ///   - signalling: live views, talks, clips, publishers and pictures.
    ///   - cameras: runs the cameras.
    ///   - recording: the recordings; nil if nothing is recorded.
    ///   - outputs: switches the cameras' outputs.
    ///   - configurationFile: the file that the config came from, which is watched; nil for the built-in one.
    ///   - stateDirectory: where secrets are kept; nil for the config's folder, or the user's standard folder.
    ///   - tokens: who may use the API; nil to read the state folder's file.
    ///   - shared: what all listeners share, including those of the floors below.
    ///   - uploadEndpoints: where recordings can be uploaded to; nil to read the state folder's file.
    ///   - additionalMetrics: metrics of the floors below.
    ///   - recordings: what was recorded; nil for the folder `recordings` of the state folder, if it is there.
    ///   - live: live streams for players without WebRTC; nil for a gateway without media.
    ///   - permits: which outputs of a device are allowed; nil when nothing decides about it.
    ///   - network: what the media port knows of the network; nil for a gateway without media.
    ///   - names: learns the keys of the devices, for the log and for the floors below.
    ///   - secrets: what the log masks; the passwords of cameras that are added later join it.
    ///   - logger: where to log; see ``makeLogger(configuration:secrets:names:identity:label:)``.
    ///   - onReady: called once all listeners are open, with the config and their actual ports: a port 0 means any free
    /// port.
    public init(
        configuration: GatewayConfiguration, signalling: SignallingServices, cameras: any CameraRunning,
        recording: RecordingComposition? = nil, outputs: CameraOutputs? = nil, configurationFile: String? = nil,
        stateDirectory: StateDirectory? = nil,
        tokens: TokenStore? = nil,
        shared: ConnectionGuard = ConnectionGuard(), uploadEndpoints: UploadEndpoints? = nil,
        additionalMetrics: @escaping @Sendable () async -> [MetricFamily] = { [] },
        recordings: RecordingAccess? = nil, live: LiveCameras? = nil,
        permits: @escaping @Sendable (_ device: String) async -> OutputPermits? = { _ in nil },
        network: @escaping @Sendable () -> NetworkFacts? = { nil },
        names: DeviceNames = DeviceNames(), secrets: SecretList = SecretList(),
        identity: GatewayIdentity = GatewayIdentity(), logger: Logger,
        onReady: @escaping @Sendable (GatewayConfiguration) async -> Void = { _ in }
    ) throws {
        let directory =
            stateDirectory ?? configuration.stateDirectory.map(StateDirectory.init(path:)) ?? .standard()
        let tokens = try tokens ?? TokenStore(openingOrCreatingIn: directory)
        self.configuration = configuration
        self.stateDirectory = directory
        self.tokens = tokens
        let storage = HomeStorage(directory: directory, history: configuration.history, logger: logger)
        self.storage = storage
        let run = storage.log.identity
        identity.use(.init(gateway: run.gateway, incarnation: run.incarnation))
        (self.transports, connectionLosses) = try Self.transports(
            storage, recording, directory: directory, logger: logger)
        outputs?.use(self.transports)
        if recording != nil, let shared = storage.shared {
            do throws(StoreFailure) {
                outputs?.use(tenure: try RecordingTenure.begin(in: shared))
            } catch {
                logger.error(
                    "recordings are named by the time of this start, because their epoch cannot be stored",
                    metadata: ["reason": "\(error)"])
            }
        }
        let endpoints =
            uploadEndpoints ?? recording?.uploads.endpoints
            ?? UploadEndpoints(stateFolder: directory.path, users: self.transports)
        if recording == nil, let loss = endpoints.loss { RecordingUploads.report(loss, logger: logger) }
        self.transports.setEndpoints(Set(endpoints.summaries.map(\.id)), areAllKnown: endpoints.loss == nil)
        secrets.add(endpoints.secrets)
        self.transports.observe { [transports] change in
            if case .rightsEnded(let device, let connections) = change {
                recording?.endUploads(of: connections, on: device)
            }
            // A privacy switch discards what was captured after it, and nothing older. That waits for the disk, as the
            // switch itself has: what was acknowledged survives the loss of the queue.
            guard case .connections(let device) = change, let table = transports.kept(of: device) else { return }
            let spared = table.connections.filter { !table.privacy.refuse($0.options.streamUsage) }.map(\.id)
            guard spared.count < table.connections.count else { return }
            recording?.uploads.uploader.discard(
                device: device, sparing: Set(spared), capturedFrom: MonotonicClock.now)
        }
        let log = HomeLog(logger: logger)
        // One clock for both: two would write the same file.
        let retention = recording?.time ?? RetentionTime(in: directory, logger: logger)
        let pictures = KeptPictures.aging(by: retention, in: directory.file("snapshots"))
        let registry = TokenRegistry(file: tokens, store: storage.shared, logger: logger)
        self.registry = registry
        let isUnknown: @Sendable (String) -> Bool = { [weak registry] in registry?.isUnknown($0) ?? false }
        outputs?.use(
            HeldUploads(
                self.transports.allConnections, lost: self.transports.kept(of: connectionLosses.map(\.device)),
                isUnknown: isUnknown))
        self.hub = HomeHub(
            devices: [], drivers: [], signalling: signalling,
            transports: HomeTransports(service: self.transports, setOutputs: { await outputs?.set($1, of: $0) }),
            directory: storage.directory(names: names, logger: logger), log: storage.log,
            history: storage.history, pictures: pictures,
            watchers: configuration.events.watchers, mayAct: { outputs?.mayAct(for: $0) ?? true },
            // The tokens keep the home, so the home does not keep them.
            accessOf: { [weak registry] in registry?.access(of: $0) ?? .nothing }, isUnknown: isUnknown,
            observer: { log.record($1, of: $0) })
        if let recording { Self.report(recording.alarms, to: self.hub) }
        let webhooks = try WebhookTokens(
            openingOrCreatingIn: directory, devices: configuration.cameras.filter(\.acceptsWebhook).map(\.id))
        secrets.add(webhooks.secrets)
        let mqtt = MQTTRunner(directory: directory, store: storage.shared, logger: logger)
        self.mqtt = mqtt
        self.keeper = try ConfigurationKeeper(
            configuration: configuration, file: configurationFile, store: CameraStore(directory: directory),
            cameras: cameras, hub: self.hub, webhooks: webhooks, secrets: secrets, mqtt: mqtt,
            virtual: VirtualHome(hub: self.hub, store: storage.shared, logger: logger),
            isKnown: storage.isKnown(recordings: recording?.place.folder.path ?? directory.file("recordings")),
            identified: { recording?.setRetention(of: $0) }, logger: logger)
        let access =
            recordings ?? recording?.access(permits: permits)
            ?? RecordingAccess(readingIn: directory, permits: permits, logger: logger)
        if let access { cameras.share(recordings: access.store, recovery: access.recovery, permits: permits) }
        // As in the addresses of HTTP: a token that permits more than watching must not be in one.
        cameras.share(accepting: { [weak registry, directory = self.hub.directory] token, device in
            guard let holder = registry?.authorization(holding: token), holder.access.isViewingOnly,
                holder.access.permits(.view, directory.device(device))
            else { return nil }
            return holder.principal
        })
        cameras.share(publishing: PublisherJudge(registry, directory: self.hub.directory))
        self.cameras = cameras
        let automations = AutomationService(
            hub: self.hub, registry: registry, store: storage.runs, settings: .init(configuration.automations),
            notifier: configuration.automations.receivers.isEmpty
                ? nil : AutomationNotifier(configuration.automations.receivers, mqtt: mqtt),
            logger: logger)
        self.automations = automations
        let reporter = try Self.reporter(configuration.reportState, self.hub, registry, logger)
        self.reporter = reporter
        let records = AutomationRecords(
            hub: self.hub, store: self.hub.directory.store, accessOf: { registry.access(of: $0) }, isUnknown: isUnknown,
            maximum: configuration.automations.maximum, logger: logger)
        automationRecords = records
        let push = Self.push(
            configuration.push, hub: self.hub, registry: registry, store: storage.shared, directory: directory,
            logger: logger)
        self.push = push
        self.api = GatewayAPI(
            hub: self.hub, tokens: self.registry, webhooks: webhooks, configuration: configuration, keeper: self.keeper,
            shared: shared,
            recordings: access, permits: permits, pictures: pictures,
            uploadEndpoints: endpoints,
            endpointsChanged: { [transports] in
                transports.setEndpoints(Set(endpoints.summaries.map(\.id)), areAllKnown: endpoints.loss == nil)
            },
            mqtt: mqtt, reporter: reporter, automations: records, automationService: automations,
            doctor: Doctor(
                configuration: configuration, hub: self.hub, stateDirectory: directory, network: network),
            live: live, push: push,
            additionalMetrics: {
                storage.metrics + (await automations.metrics) + (await reporter?.families ?? [])
                    + (await additionalMetrics())
            })
        self.shared = shared
        self.logger = logger
        self.onReady = onReady
    }

    /// Notifies browsers; nil where the config wants none, or where the gateway's key cannot be kept.
    private static func push(
        _ settings: GatewayConfiguration.Push?, hub: HomeHub, registry: TokenRegistry, store: (any SharedStore)?,
        directory: StateDirectory, logger: Logger
    ) -> PushService? {
        guard let settings else { return nil }
        let accessOf: @Sendable (String) -> Access = { [weak registry] in registry?.access(of: $0) ?? .nothing }
        let isUnknown: @Sendable (String) -> Bool = { [weak registry] in registry?.isUnknown($0) ?? true }
        do {
            return PushService(
                hub: hub,
                subscriptions: PushSubscriptions(
                    store: store, isRightless: { accessOf($0) == .nothing && !isUnknown($0) }, logger: logger),
                vapid: try VAPID.openOrCreate(in: directory), settings: settings, accessOf: accessOf,
                isUnknown: isUnknown, mayReturn: { [weak registry] in await registry?.mayReturn($0) ?? true },
                formerEnd: { [weak registry] in registry?.formerEnd(of: $0) }, logger: logger)
        } catch {
            logger.error("browsers are not notified, because the key cannot be kept", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    private static func reporter(
        _ settings: GatewayConfiguration.ReportState?, _ hub: HomeHub, _ registry: TokenRegistry, _ logger: Logger
    ) throws -> StateReporter? {
        guard let settings else { return nil }
        do {
            return try StateReporter(settings, hub: hub, registry: registry, logger: logger)
        } catch let failure as ServiceAccount.Failure {
            throw StartFailure(description: "cloudToCloud.reportState.credentials: \(failure.reason)")
        } catch {
            throw StartFailure(
                description:
                    "cloudToCloud.reportState.ca: \(settings.authorities ?? "") cannot be used (\(error)); it must "
                    + "be a readable PEM file")
        }
    }

    /// Hands the alarms to the home, in their order.
    private static func report(_ alarms: RecordingAlarms, to hub: HomeHub) {
        let (stream, continuation) = AsyncStream.makeStream(of: HomeAlarm.self)
        alarms.use { continuation.yield($0) }
        Task { [weak hub] in for await alarm in stream { await hub?.take(alarm) } }
    }

    /// The recording connections, which the home keeps, and those that cannot be read.
    private static func transports(
        _ storage: HomeStorage, _ recording: RecordingComposition?, directory: StateDirectory, logger: Logger
    ) throws -> (TransportService, [ConnectionLoss]) {
        let numbers = ConnectionNumbers(folder: directory.path)
        if let loss = numbers.loss {
            logger.error(
                "the numbers of recording connections cannot be read, and new connections get higher ones than all before",
                metadata: ["reason": "\(loss)"])
        }
        var isLost = storage.hasLostSharedState
        if let store = storage.shared {
            do {
                let kept = SharedConnectionStorage(
                    store, aside: ConnectionsAside(folder: directory.path), numbers: numbers)
                let service = try TransportService(
                    storage: kept, startsOff: isLost, recorder: recording?.recorders)
                if isLost { Self.reportCamerasOff(logger) }
                for loss in kept.losses {
                    logger.error(
                        "recording connections cannot be read, and the camera begins switched off",
                        metadata: ["camera": "\(loss.device)", "reason": "\(loss.reason)"])
                }
                return (service, kept.losses)
            } catch {
                isLost = true
                logger.error(
                    "the cameras' recording connections cannot be read; what is switched now is lost at the next start",
                    metadata: ["reason": "\(error)"])
            }
        }
        if isLost { Self.reportCamerasOff(logger) }
        let forgetful = ForgetfulConnectionStorage(numbers: numbers)
        return (try TransportService(storage: forgetful, startsOff: isLost, recorder: recording?.recorders), [])
    }

    private static func reportCamerasOff(_ logger: Logger) {
        logger.error(
            """
            it is not known which cameras were switched off or private, so every camera begins switched off; switch on \
            those that may be seen
            """)
    }

    /// A logger with the config's settings, which masks the tokens, the cameras' passwords and foreign addresses.
    public static func makeLogger(
        configuration: GatewayConfiguration, secrets: SecretList = SecretList(), names: DeviceNames = DeviceNames(),
        identity: GatewayIdentity = GatewayIdentity(), label: String = "gatehouse"
    ) -> Logger {
        let redactor = Redactor(secrets: secrets, showsAddresses: configuration.log.showsAddresses)
        let format = configuration.log.format
        var logger = Logger(label: label) {
            GatewayLogHandler(label: $0, format: format, redactor: redactor, names: names, identity: identity)
        }
        logger.logLevel = Logger.Level(rawValue: configuration.log.level) ?? .info
        return logger
    }

    /// Serves until the process is asked to stop, then ends all sessions.
    public func run() async throws {
        let readiness = Readiness(expected: configuration.http.https == nil ? 1 : 2) { ports in
            await announce(configuration.listening(on: ports))
        }
        await mqtt.use(hub)
        await keeper.begin()
        // The tokens keep this, and the reporter keeps the tokens.
        await registry.observe {
            [enforcement = api.enforcement, cameras, weak reporter, weak automationRecords, weak automations, weak push]
            in
            await enforcement.enforce($1, on: $0)
            cameras.endReaders(of: $0) { [access = $1, directory = enforcement.hub.directory] device in
                access.permits(.view, directory.device(device))
            }
            if $1 == .nothing { await push?.endBrowsers(of: $0) }
            await automationRecords?.validate(ownedBy: $0)
            await automations?.takeUp(ownedBy: $0)
            await reporter?.follow()
        }
        await registry.reportUnreadable(to: hub)
        await hub.report(connectionLosses)
        // The last service stops first: no new requests, then no changes, then the sessions end.
        var services: [any Service] = [
            SessionEnder(hub: hub, logger: logger),
            HomeFollower(hub: hub),
            Ticker(
                hub: hub, tokens: registry, reporter: ConnectionReporter(shared: shared, logger: logger), push: push),
            WHEPLeaseKeeper(
                sessions: api.whepSessions, cameraStreams: api.cameraStreams, hub: hub, tokens: registry),
            MQTTEnder(mqtt: mqtt),
            AutomationRunner(
                service: automations, records: automationRecords, isEnabled: configuration.automations.isEnabled),
            ConfigurationWatcher(keeper: keeper),
        ]
        if let pictures = api.pictures { services.append(PicturePruner(pictures: pictures)) }
        if let reporter { services.append(reporter) }
        if let push { services.append(PushRunner(push: push)) }
        if let https = configuration.http.https {
            services.append(try httpsListener(https, readiness))
        }
        services.append(
            Listener(
                application: application(
                    scheme: "http", host: configuration.http.host, port: configuration.http.port,
                    server: GatewayHTTPChannel.server(shared), readiness),
                key: "http.port", hostKey: "http.host",
                address: "\(configuration.http.host):\(configuration.http.port)"))
        // The service manager learns first that the gateway stops.
        if let watchdog { services.append(watchdog) }
        let group = ServiceGroup(configuration: .init(services: services, logger: logger))
        defer {
            transports.stop()
            localGateway(configuration).remove(from: announcementDirectories)
            storage.log.flush()
            storage.history?.flush()
        }
        try await group.run()
    }

    /// Serves until SIGTERM or SIGINT. The floors below run alongside the gateway and are stopped after it.
    public func runUntilSignalled(beside services: [any Service]) async throws {
        var groupConfiguration = ServiceGroupConfiguration(
            services: services + [self], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        groupConfiguration.maximumGracefulShutdownDuration = .seconds(10)
        try await ServiceGroup(configuration: groupConfiguration).run()
    }
}
