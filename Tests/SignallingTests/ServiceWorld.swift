import Cameras
import DTLS
import DatagramPort
import Foundation
import ICE
import MediaRelay
import PeerFakes
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// A clock that a test moves.
final class TestClock: Sendable {
    private let state = Locked(MonotonicClock.now)

    var now: Instant { state.withLock { $0 } }

    func advance(by duration: Duration) { state.withLock { $0 += duration } }
}

/// What the service announced.
final class Announcements: Sendable {
    private let changes = Locked<[LiveViewChange]>([])

    var all: [LiveViewChange] { changes.withLock { $0 } }
    var ends: [SessionEnd] {
        all.compactMap { change in
            if case .ended(_, _, let end) = change { end } else { nil }
        }
    }

    var talkEnds: [TalkEnd] {
        all.compactMap { change in
            if case .talkEnded(_, _, let end) = change { end } else { nil }
        }
    }

    func add(_ change: LiveViewChange) {
        changes.withLock { $0.append(change) }
        if case .ended = change { ended.withLock { $0.take() }?.resume() }
    }

    private let ended = Locked<CheckedContinuation<Void, Never>?>(nil)

    /// Waits until a session has ended.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            ended.withLock { $0 = continuation }
            if !ends.isEmpty { ended.withLock { $0.take() }?.resume() }
        }
    }
}

/// The services with one camera, on a relay that only this host can reach.
final class ServiceWorld: Sendable {
    let signalling: SignallingComposition
    var service: LiveViewService { signalling.views }
    var talks: TalkFloor { signalling.talks }
    var clips: SpeakerClips { signalling.clips }
    var publishing: Publishing { signalling.publishing }
    var snapshots: any SnapshotServing { signalling.services.snapshots }
    let station: CameraStation
    let relay: MediaRelay
    let camera: FakeCamera
    let clock = TestClock()
    let announcements = Announcements()
    /// The addresses of the host's interfaces. A test changes them.
    let interfaceAddresses: Locked<[TransportAddress]>
    /// Where the router forwards to the TCP port from. A test changes them.
    let forwardedTCPAddresses = Locked<[TransportAddress]>([])
    /// The names in candidates that were looked up. Nobody answers, unless a test does by ``lookUpAnswers``.
    let lookedUp: Locked<[String]>
    /// Take the outcome of each look-up, in the order of ``lookedUp``.
    let lookUpAnswers: Locked<[@Sendable (TransportAddress?) -> Void]>

    init(
        codecs: [MediaCodec] = [.vp8, .opus], speaks: Bool = true, interfaceAddresses: [TransportAddress] = [],
        configuredAddresses: [TransportAddress] = [TransportAddress(ipv4: 0x7F00_0001, port: 0)],
        cameraTimeout: Duration = .milliseconds(100), talkbackPatience: Duration = .seconds(5),
        policy: OutputPolicy = OutputPolicy(),
        tenures: Tenures = Tenures(),
        _ change: (inout SessionLimits) -> Void = { _ in },
        station configure: (inout CameraStation.Configuration) -> Void = { _ in }
    ) async throws {
        var limits = SessionLimits()
        change(&limits)
        relay = try MediaRelay(ports: UDPPortGroup(.loopback(), count: 2))
        var configuration = SignallingConfiguration(
            identity: try Identities.gateway.get(), limits: limits, addresses: configuredAddresses)
        let addresses = Locked(interfaceAddresses)
        self.interfaceAddresses = addresses
        configuration.interfaceAddresses = { addresses.withLock { $0 } }
        let forwarded = forwardedTCPAddresses
        configuration.forwardedTCPAddresses = { forwarded.withLock { $0 } }
        let lookedUp = Locked<[String]>([])
        self.lookedUp = lookedUp
        let lookUpAnswers = Locked<[@Sendable (TransportAddress?) -> Void]>([])
        self.lookUpAnswers = lookUpAnswers
        configuration.resolveName = { name, found in
            lookUpAnswers.withLock { $0.append(found) }
            lookedUp.withLock { $0.append(name) }
        }
        configuration.cameraTimeout = cameraTimeout
        configuration.talkbackPatience = talkbackPatience
        // The relay lives in real time: a viewer that never comes is not given up however slow the machine is.
        configuration.connectivity.patience = .seconds(3600)
        let clock = clock
        configuration.now = { clock.now }
        signalling = SignallingComposition(configuration: configuration, relay: relay)
        camera = FakeCamera(speaks: speaks)
        var stationConfiguration = CameraStation.Configuration()
        // Most tests are about what passes through.
        stationConfiguration.transcodesVideo = .never
        stationConfiguration.now = { clock.now }
        configure(&stationConfiguration)
        station = CameraStation(
            id: "door", source: camera, relay: relay, configuration: stationConfiguration,
            outputs: OutputPermits(camera: "door", policy: policy, patience: .seconds(120), tenures: tenures))
        await signalling.add(station)
        station.start()
        if !codecs.isEmpty { camera.reportTracks(codecs) }
        let announcements = announcements
        signalling.observe { announcements.add($0) }
    }

    deinit {
        relay.stop()
    }

    func start(
        _ offer: String? = nil, device: String = "door", principal: String = "owner"
    ) async throws -> StartLiveViewResponse {
        let text = try offer ?? Self.text("offers/chromium-talkback-sendrecv-audio.offer.sdp")
        return try await service.startLiveView(
            StartLiveViewRequest(deviceID: device, principal: principal, offerSdp: text))
    }

    /// The text of a recorded description.
    static func text(_ path: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "sdp-samples")
        return try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// How many viewers the relay has, after all that was asked of it has been done.
    func viewerCount() async -> Int { await relay.counters().viewers }
}

/// What `body` throws; nil when it throws nothing.
func failure(_ body: () async throws -> Void) async -> SignallingError? {
    do {
        try await body()
    } catch let error as SignallingError {
        return error
    } catch {
        Issue.record("\(error)")
    }
    return nil
}

extension LiveViewServing {
    func trickle(_ fragment: String, _ session: SessionReference) async throws(SignallingError) -> TrickleResult {
        try await trickle(fragment, session, reachedAddresses: [])
    }
}

extension PublishingServing {
    func tricklePublisher(
        _ fragment: String, _ session: SessionReference
    ) async throws(SignallingError) -> TrickleResult {
        try await tricklePublisher(fragment, session, reachedAddresses: [])
    }
}
