import HomeHub
import Hummingbird
import Logging
import PushAvStreamTransport
import Signalling
import Stations

/// The whole HTTP API: what its routes need, and the router made of them.
struct GatewayAPI: Sendable {
    let hub: HomeHub
    /// The tokens that open the API.
    let tokens: TokenRegistry
    /// The programs that people link to their accounts.
    let links: AccountLinks
    /// Signs people in with a name and a password.
    let passwords: Passwords
    let webhooks: WebhookTokens
    let eventLimiter = EventRateLimiter()
    let snapshotPlaces = SnapshotPlaces(name: "snapshots")
    /// Requests for footage, which have places of their own: a page of thumbnails does not keep pictures of now away.
    let recordingPlaces = SnapshotPlaces(name: "requests for recordings")
    let recordingLinks = RecordingLinks()
    /// Live streams of fragmented MP4; nil for a gateway without media.
    let live: LiveCameras?
    /// What programs that speak go2rtc's API call the cameras.
    let go2RTC = Go2RTCStreams()
    /// Who watches cameras without WebRTC.
    let liveWatchers = LiveWatchers()
    /// The newest seconds of cameras, for players of playlists.
    let liveWindows = LiveWindows()
    /// Cameras that are tried before they are added.
    let probePlaces = SnapshotPlaces(name: "cameras that are tried", shares: PlaceShares(total: 4))
    /// Looks for cameras in the network.
    let cameraSearch: CameraSearch
    /// Notifies browsers; nil when nobody is notified.
    let push: PushService?
    /// Pictures for programs that speak the Smart Device Management API, and their events.
    let eventPictures = EventPictures()
    let eventFeeds: EventFeeds
    /// Live streams that were promised to a cloud.
    let cameraStreams = CameraStreams()
    /// What was recorded; nil when the gateway keeps no recordings.
    let recordingAccess: RecordingAccess?
    /// Which outputs of a device are allowed; nil for a device of which nothing decides about it.
    let permits: @Sendable (_ device: String) async -> OutputPermits?
    /// The pictures that are kept; nil when the gateway keeps none.
    let pictures: KeptPictures?
    let configuration: GatewayConfiguration
    let keeper: ConfigurationKeeper
    let whepSessions: WHEPSessions
    let whipSessions: WHEPSessions
    let metrics: HTTPMetrics
    /// Tracks who is connected and who was refused.
    let shared: ConnectionGuard
    let page: WebPage
    /// Where recordings can be uploaded to; nil when nothing is uploaded.
    let uploadEndpoints: UploadEndpoints?
    /// Called when the endpoints have changed.
    let endpointsChanged: @Sendable () -> Void
    /// Runs the bridge to the MQTT broker; nil for an API without one.
    let mqtt: MQTTRunner?
    /// Reports changes to the cloud; nil when the cloud has to ask.
    let reporter: StateReporter?
    /// The automations of the home.
    let automations: AutomationRecords
    /// Simulations, which read all that was recorded.
    let simulationPlaces = SimulationPlaces()
    /// Who reads what happens to automations. Each reader reads the runs from the disk.
    let automationReaders = SnapshotPlaces(name: "streams of automations", shares: PlaceShares(total: 64))
    /// Runs them; nil for an API that only keeps them.
    let automationService: AutomationService?
    /// Says what fails and what to do.
    let doctor: Doctor
    /// Metrics of the floors below, which the home does not know about.
    let additionalMetrics: @Sendable () async -> [MetricFamily]

    init(
        hub: HomeHub, tokens: TokenRegistry, webhooks: WebhookTokens = WebhookTokens(),
        configuration: GatewayConfiguration, keeper: ConfigurationKeeper,
        shared: ConnectionGuard = ConnectionGuard(), recordings: RecordingAccess? = nil,
        permits: @escaping @Sendable (_ device: String) async -> OutputPermits? = { _ in nil },
        pictures: KeptPictures? = nil, uploadEndpoints: UploadEndpoints? = nil,
        endpointsChanged: @escaping @Sendable () -> Void = {},
        mqtt: MQTTRunner? = nil, reporter: StateReporter? = nil, automations: AutomationRecords? = nil,
        automationService: AutomationService? = nil, doctor: Doctor? = nil, live: LiveCameras? = nil,
        cameraSearch: CameraSearch = CameraSearch(), push: PushService? = nil,
        additionalMetrics: @escaping @Sendable () async -> [MetricFamily] = { [] }
    ) {
        self.hub = hub
        self.eventFeeds = EventFeeds(hub)
        self.tokens = tokens
        tokens.use { [directory = hub.directory] in directory.structure(ofDevice: $0) }
        self.passwords = Passwords(registry: tokens)
        self.links = AccountLinks(
            clients: configuration.oauthClients, registry: tokens,
            structureOf: { [directory = hub.directory] in directory.structure(ofDevice: $0) })
        self.webhooks = webhooks
        self.configuration = configuration
        self.keeper = keeper
        self.shared = shared
        self.whepSessions = WHEPSessions()
        self.whipSessions = WHEPSessions()
        self.metrics = HTTPMetrics()
        self.page = WebPage()
        self.recordingAccess = recordings
        self.permits = permits
        self.live = live
        self.pictures = pictures
        self.uploadEndpoints = uploadEndpoints
        self.endpointsChanged = endpointsChanged
        self.mqtt = mqtt
        self.reporter = reporter
        self.automationService = automationService
        self.cameraSearch = cameraSearch
        self.push = push
        var doctor = doctor ?? Doctor(configuration: configuration, hub: hub)
        (doctor.keeper, doctor.programs) = (keeper, go2RTC)
        self.doctor = doctor
        self.automations =
            automations
            ?? AutomationRecords(
                hub: hub, store: hub.directory.store, accessOf: { tokens.access(of: $0) },
                logger: Logger(label: "automations") { _ in SwiftLogNoOpLogHandler() })
        self.additionalMetrics = additionalMetrics
    }

    /// The router of one listener.
    /// - Parameter scheme: `http` or `https`, the protocol of the listener.
    func router(scheme: String) -> Router<GatewayRequestContext> {
        let addresses = AbsoluteAddresses(scheme: scheme, publicURL: configuration.http.publicURL)
        // The error middleware's table of routes comes from a router that serves nobody.
        let bare = Router(context: GatewayRequestContext.self)
        addRoutes(to: bare, addresses)
        let errors = ErrorMiddleware(routes: RouteTable(bare), names: hub.names)

        let router = Router(context: GatewayRequestContext.self)
        router.add(middleware: ObservationMiddleware(metrics: metrics))
        router.add(middleware: SecurityHeadersMiddleware())
        router.add(middleware: errors)
        router.add(
            middleware: OriginMiddleware(
                policy: OriginPolicy(origins: configuration.http.origins, own: configuration.http.publicURL),
                scheme: scheme))
        // The origin check adds CORS headers to errors that occur behind it, so that listed pages can read them.
        router.add(middleware: errors)
        router.add(
            middleware: AuthenticationMiddleware(
                tokens: tokens, webhooks: webhooks, names: hub.names, shared: shared,
                publicPaths: page.paths.union([
                    "/healthz", "/.well-known/oauth-authorization-server", "/oauth/authorize",
                ])))
        router.add(
            middleware: AuthorizationMiddleware(
                directory: hub.directory, publicPaths: page.paths,
                structureOfAutomation: { [automations] in automations.structure(ofAutomation: $0) }))
        router.add(middleware: ContinueMiddleware())
        addRoutes(to: router, addresses)
        return router
    }

    private func addRoutes(to router: Router<GatewayRequestContext>, _ addresses: AbsoluteAddresses) {
        addPageRoutes(to: router)
        addCameraPageRoutes(to: router)
        addServiceRoutes(to: router)
        addDoctorRoutes(to: router)
        addStructureRoutes(to: router)
        addAutomationRoutes(to: router)
        addSimulationRoutes(to: router)
        addCandidateRoutes(to: router)
        addAutomationRunRoutes(to: router)
        addAutomationEventRoutes(to: router)
        addDeviceRoutes(to: router)
        addDecommissionRoutes(to: router)
        addSnapshotRoutes(to: router)
        addLiveStreamRoutes(to: router)
        addLivePlaylistRoutes(to: router)
        addHeadRoutes(to: router)
        addGo2RTCRoutes(to: router)
        addConfigurationRoutes(to: router)
        addCameraRoutes(to: router)
        addCameraSearchRoutes(to: router)
        addDeviceEventRoutes(to: router)
        addHistoryRoutes(to: router)
        addSpeakerRoutes(to: router)
        addRecordingRoutes(to: router)
        addSessionRoutes(to: router)
        addEventRoutes(to: router)
        addWHEPRoutes(to: router)
        addWHIPRoutes(to: router)
        addUploadEndpointRoutes(to: router)
        addMQTTRoutes(to: router)
        addTokenRoutes(to: router)
        addPushRoutes(to: router, addresses: addresses)
        addQRCodeRoutes(to: router)
        addSignInRoutes(to: router)
        addOAuthRoutes(to: router, addresses: addresses)
        addSmartDeviceManagementRoutes(to: router, addresses: addresses)
        addCloudToCloudRoutes(to: router, addresses: addresses)
    }
}
