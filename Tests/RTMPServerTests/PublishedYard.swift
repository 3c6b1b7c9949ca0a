import Cameras
import DTLS
import DatagramPort
import MediaRelay
import RTMPServer
import SDP
import Signalling
import StationFakes
import Stations
import Testing
import Transport

/// A camera `yard` that is published to, and the server in front of it. The token is `right`.
struct PublishedYard {
    let relay: MediaRelay
    let signalling: SignallingComposition
    let station: CameraStation
    let server: RTMPServer
    let changes = Locked<[LiveViewChange]>([])
    let news = Locked<[RTMPServerNews]>([])
    /// The time by which publishers replace one another. A test moves it.
    let clock = Locked(MonotonicClock.now)
    /// Whether the principal may publish. A test takes the right away.
    let mayPublish = Locked(true)

    init(_ change: (inout RTMPServerConfiguration) -> Void = { _ in }) async throws {
        relay = try MediaRelay(ports: try UDPPortGroup(.loopback(), count: 1))
        var settings = SignallingConfiguration(
            identity: try DTLSIdentity.generate(), limits: SessionLimits(),
            addresses: [TransportAddress(ipv4: 0x7F00_0001, port: 0)])
        let clock = clock
        settings.now = { clock.withLock { $0 } }
        signalling = SignallingComposition(configuration: settings, relay: relay)
        station = CameraStation(id: "yard", source: PublishedSource(), relay: relay)
        await signalling.add(station)
        station.start()
        let changes = changes
        signalling.observe { change in changes.withLock { $0.append(change) } }
        var configuration = try #require(RTMPServerConfiguration(host: "127.0.0.1", port: 0))
        // A test that is busy or waits for a processor is not a client that says nothing.
        configuration.handshakeTimeout = .seconds(3_600)
        configuration.publishTimeout = .seconds(3_600)
        configuration.silenceTimeout = .seconds(3_600)
        change(&configuration)
        let (news, mayPublish) = (news, mayPublish)
        let publishing = signalling.services.publishing
        let admission = PublisherAdmission { camera, token in
            guard let token else { return .failure(.noToken) }
            guard token == "right" else { return .failure(.wrongToken) }
            do throws(SignallingError) {
                try await publishing.requirePublishing(deviceID: camera)
            } catch {
                return .failure(.unknownCamera(camera))
            }
            return .success(AdmittedPublisher(deviceID: camera, principal: "encoder"))
        }
        server = try RTMPServer(
            configuration, gate: PublishingGate(publishing) { _, _ in mayPublish.withLock { $0 } },
            admission: admission, report: { event in news.withLock { $0.append(event) } })
    }

    /// The names of the camera's codecs.
    var codecs: [String] { station.snapshot.tracks.map(\.codec.name) }

    /// The ends of publishers that were reported so far, as the person in front of the encoder reads them.
    var reportedEnds: [String] {
        news.withLock { $0 }.compactMap { one in
            if case .ended(_, _, _, _, let end, _) = one { end.words } else { nil }
        }
    }

    /// Why the publishers have ended so far.
    var ends: [PublisherEnd] {
        changes.withLock { $0 }.compactMap { change in
            if case .publisherEnded(_, _, let end) = change { end } else { nil }
        }
    }

    /// Waits until the camera is in a state.
    func reaches(_ state: SourceState) async -> Bool { await eventually { station.snapshot.state == state } }

    /// Waits until a publisher has gone.
    func waits(after end: PublicationEnd) async -> Bool {
        await reaches(.backingOff(seconds: 0, reason: .noPublisher(after: end)))
    }

    /// Waits until so many pictures and frames of sound have been read.
    func hasReceived(_ units: UInt64) async -> Bool {
        await eventually { await server.counters().unitsReceived == units }
    }

    /// Waits until somebody is admitted.
    func hasPublisher() async -> Bool { await eventually { await server.counters().publishers == 1 } }

    func stop() {
        server.stop()
        station.stop()
        relay.stop()
    }
}
