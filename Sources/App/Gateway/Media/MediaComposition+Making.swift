import DTLS
import DatagramPort
import Foundation
import HomeHub
import LocalNetwork
import Logging
import MediaRelay
import PortMapping
import PushAvStreamTransport
import ServiceLifecycle
import Signalling
import Stations
import Transport

extension MediaComposition {
    /// Makes the relay and the signalling service that the config asks for, and the part that runs the cameras.
    public static func make(
        configuration: GatewayConfiguration, stateDirectory: StateDirectory, tokens: TokenStore,
        shared: ConnectionGuard = ConnectionGuard(), names: DeviceNames = DeviceNames(),
        identity run: GatewayIdentity = GatewayIdentity(), logger: Logger
    ) async throws -> MediaComposition {
        let identity = try DTLSIdentity.openOrCreate(in: stateDirectory, logger: logger)
        let relay = try MediaRelay(ports: try ports(for: configuration, logger: logger))
        let tcpFailure = Locked<String?>(nil)
        acceptConnections(
            to: relay, configuration, connections: shared.connections, failure: tcpFailure, logger: logger)
        var settings = SignallingConfiguration(
            identity: identity, limits: SessionLimits(configuration.sessions), addresses: try addresses(configuration))
        settings.gateway = { run.run?.gateway }
        let localNames = MulticastDNSService.make(configuration, logger: logger)
        let routerPort = PortMappingService.make(configuration, relay: relay, logger: logger)
        settings.resolveName = localNames?.lookUp
        settings.forwardedTCPAddresses = { routerPort?.tcpAddresses ?? [] }
        let signalling = SignallingComposition(configuration: settings, relay: relay)
        let profiles = ProfileStore(directory: stateDirectory, logger: logger)
        let maker = SourceMaker(profiles: profiles) { CameraAddress(text: $0).masked }
        let publishers = PublisherAccess()
        let gate = PublishingGate(signalling.services.publishing) { publishers.mayPublish($0, $1) }
        let sharing = try CameraSharing.make(
            configuration: configuration, tokens: tokens, relay: relay, shared: shared, names: names,
            publishers: publishers, gate: gate, logger: logger)
        let rtmp = try RTMPPublishing.make(
            configuration: configuration, publishing: signalling.services.publishing, gate: gate,
            publishers: publishers, shared: shared, names: names, logger: logger)
        let transcoding = TranscodingBudget(cores: ProcessInfo.processInfo.activeProcessorCount)
        let outputs = CameraOutputs()
        let streams = LiveStreams(relay: relay)
        let cameras = CameraRegistry(
            users: [signalling, streams], relay: relay, profiles: profiles, transcoding: transcoding,
            savedOutputs: { outputs.saved($0) }, tenures: Tenures(LocalCoordinator { outputs.epoch }),
            makeSource: maker.source(for:))
        outputs.use(cameras)
        let recording = try RecordingComposition.make(
            configuration: configuration, stateDirectory: stateDirectory, relay: relay,
            outputs: outputs, logger: logger)
        var services: [any Service] = [
            MediaService(
                signalling: signalling, relay: relay, cameras: cameras, profiles: profiles, sharing: sharing,
                rtmp: rtmp, localNames: localNames, routerPort: routerPort, logger: logger)
        ]
        if !configuration.network.stunServers.isEmpty {
            services.append(STUNServers(servers: configuration.network.stunServers, relay: relay, logger: logger))
        }
        if !configuration.network.turnServers.isEmpty {
            services.append(TURNServers(servers: configuration.network.turnServers, relay: relay, logger: logger))
        }
        if let recording {
            outputs.use(recording.recorders)
            services += [recording.uploads, RecordingKeeper(recording: recording)]
        }
        let views = signalling.services.views
        let configured = ConfiguredCameras(
            registry: cameras, sharing: sharing, publishers: publishers, recorders: recording?.recorders,
            sounds: try CameraSound.sounds(configuration.automations.clips), logger: logger)
        let live = LiveCameras(streams: streams) { await cameras.camera($0)?.station }
        return MediaComposition(
            signalling: signalling.services, cameras: configured,
            recording: recording, outputs: outputs, live: live, services: services,
            metrics: {
                var families = await RelayMetrics.families(
                    relay: relay, stations: await cameras.running.map(\.station), transcoding: transcoding.report)
                families += LiveViewMetrics.families(await views.sessions())
                families += await sharing?.metrics() ?? []
                families += await rtmp?.metrics() ?? []
                families += recording?.metrics ?? []
                families += localNames?.metrics ?? []
                families += routerPort?.metrics ?? []
                return families
            },
            permits: { await cameras.outputs(of: $0) },
            network: {
                var facts = NetworkFacts(of: relay, tcpFailure: tcpFailure.withLock { $0 })
                facts.localName = localNames?.state
                let mappings = routerPort?.mappings
                facts.portMapping = mappings?.media
                facts.tcpPortMapping = mappings?.tcp
                facts.pinhole = mappings?.pinhole
                return facts
            })
    }

    /// Opens the TCP port that the config wants. Without it everything else works, so a failure is logged and kept for the
    /// doctor, and not thrown.
    private static func acceptConnections(
        to relay: MediaRelay, _ configuration: GatewayConfiguration, connections: ConnectionLedger,
        failure: Locked<String?>, logger: Logger
    ) {
        let port: UInt16?
        switch configuration.network.tcp {
        case .off: return
        case .mediaPort: port = nil
        case .port(let number): port = number
        }
        do throws(SystemCallError) {
            try relay.acceptConnections(at: port, countedIn: connections) { problem in
                failure.withLock { $0 = problem.map { "\($0)" } }
                guard let problem else { return logger.notice("viewers can connect over TCP again") }
                logger.warning(
                    "viewers cannot connect over TCP at one of the addresses; it is tried again every second",
                    metadata: ["reason": "\(problem)"])
            }
        } catch {
            failure.withLock { $0 = "\(error)" }
            logger.warning(
                "viewers cannot connect over TCP, because the port cannot be opened",
                metadata: ["reason": "\(error)"])
        }
    }

    private static func ports(for configuration: GatewayConfiguration, logger: Logger) throws -> UDPPortGroup {
        var settings = UDPPort.Configuration(port: UInt16(clamping: configuration.media.port))
        settings.segmentationRefused = { refusal in
            logger.warning(
                "the kernel no longer offers UDP segmentation offload, so media costs more processor time",
                metadata: ["reason": "\(refusal)"])
        }
        do {
            let cores = ProcessInfo.processInfo.activeProcessorCount
            return try UDPPortGroup(
                settings, count: configuration.media.shards ?? min(cores, UDPPortGroup.maximumCount))
        } catch {
            throw GatewayService.StartFailure(description: "media.port: \(error)")
        }
    }

    private static func addresses(_ configuration: GatewayConfiguration) throws -> [TransportAddress] {
        try configuration.media.addresses.map { text in
            guard let address = TransportAddress(text, port: 1) else {
                throw GatewayService.StartFailure(
                    description: "media.addresses: \(text) is not an IPv4 or IPv6 address; host names are not allowed")
            }
            return address
        }
    }
}

extension DTLSIdentity {
    private static let certificateFile = "media-certificate.pem"
    private static let keyFile = "media-key.pem"

    /// The gateway's identity for DTLS. It is made at the first start and kept, because a viewer may remember its
    /// fingerprint.
    static func openOrCreate(in directory: StateDirectory, logger: Logger) throws -> DTLSIdentity {
        if let certificate = try directory.readPrivate(certificateFile), let key = try directory.readPrivate(keyFile) {
            do {
                return try DTLSIdentity(certificatePEM: certificate, privateKeyPEM: key)
            } catch {
                logger.warning(
                    "the DTLS certificate cannot be used; the gateway makes a new one",
                    metadata: ["file": "\(directory.file(certificateFile))", "reason": "\(error)"])
            }
        }
        let identity = try DTLSIdentity.generate()
        try directory.writePrivate(keyFile, identity.privateKeyPEM)
        try directory.writePrivate(certificateFile, identity.certificatePEM)
        return identity
    }
}

extension SessionLimits {
    /// The limits of the config.
    init(_ sessions: GatewayConfiguration.Sessions) {
        self.init()
        durationSeconds = UInt16(clamping: sessions.durationSeconds)
        maximumDurationSeconds = sessions.maximumDurationSeconds
        perCamera = sessions.perCamera
        perPrincipal = sessions.perPrincipal
    }
}

/// Keeps the media running as long as the gateway, and ends it after the gateway: first the sessions, with RTCP BYE,
/// then the cameras, then the relay's thread.
struct MediaService: Service {
    let signalling: SignallingComposition
    let relay: MediaRelay
    let cameras: CameraRegistry
    let profiles: ProfileStore
    let sharing: CameraSharing?
    let rtmp: RTMPPublishing?
    let localNames: MulticastDNSService?
    let routerPort: PortMappingService?
    let logger: Logger

    func run() async throws {
        let log = HomeLog(logger: logger)
        signalling.observe { log.record($0) }
        try? await gracefulShutdown()
        await signalling.endAll()
        sharing?.stop()
        rtmp?.stop()
        await cameras.stopAll()
        profiles.flush()
        localNames?.stop()
        routerPort?.stop()
        relay.stop()
    }
}
