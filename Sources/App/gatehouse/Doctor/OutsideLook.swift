import DTLS
import DatagramPort
import Foundation
import Gateway
import GatewayClient
import HomeTypes
import LiveViewClient
import SDP
import STUN
import Transport

/// Tries to reach a gateway from this machine as a viewer would.
struct OutsideLook {
    /// How long media may take.
    private static let patience = Duration.seconds(10)
    private static let connectPatience = Duration.seconds(5)

    let url: String
    let connection: GatewayConnection

    /// Looks now.
    func facts() async -> OutsideFacts {
        let parts = URLComponents(string: url)
        let isSecure = parts?.scheme?.lowercased() == "https"
        let host = (parts?.host ?? url).trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        let port = UInt16(clamping: parts?.port ?? (isSecure ? 443 : 80))
        var facts = OutsideFacts(url: url, host: host, port: port, isSecure: isSecure)
        switch await DoctorThread.run({ Self.lookUp(host, port) }) {
        case .success(let addresses)?: facts.addresses = addresses
        case .failure(let unknown)?:
            facts.lookUpFailure = unknown.description
            return facts
        case nil: break
        }
        do throws(HomeError) {
            let servers = try await stunServers()
            guard let device = try await flowingCamera() else {
                facts.view = .notTried("no camera that this token may watch delivers media at the moment")
                return facts
            }
            (facts.view, facts.tcp) = try await watch(device, servers)
        } catch {
            facts.failure = error
        }
        return facts
    }

    // MARK: - What the gateway says

    private func stunServers() async throws(HomeError) -> [TransportAddress] {
        struct Description: Decodable {
            struct Server: Decodable { var urls: [String] }
            var iceServers: [Server]
        }
        let description = try connection.decode(Description.self, try await connection.get("/v1/gateway"))
        let servers = description.iceServers.flatMap(\.urls).compactMap { ICEServerURL($0) }
            .filter { $0.scheme == .stun && $0.transport == .udp }.prefix(4)
        return await DoctorThread.run {
            servers.compactMap { server in
                guard case .success(let found) = Self.lookUp(server.host, server.port) else { return nil }
                return found.first
            }
        } ?? []
    }

    /// A camera that is watched without waking it.
    private func flowingCamera() async throws(HomeError) -> String? {
        struct List: Decodable {
            struct Device: Decodable {
                struct Source: Decodable { var state: String }
                var id: String
                var source: Source?
            }
            var devices: [Device]
        }
        let list = try connection.decode(List.self, try await connection.get("/v1/devices"))
        return list.devices.first { $0.source?.state == "flowing" }?.id
    }

    // MARK: - The attempt

    private func watch(
        _ device: String, _ servers: [TransportAddress]
    ) async throws(HomeError) -> (OutsideFacts.View, [(address: TransportAddress, failure: String?)]) {
        var wishes = OfferedView.Wishes()
        wishes.stunServers = servers
        let offered: OfferedView
        let loop: ViewerLoop
        do {
            offered = try OfferedView(wishes: wishes, identity: try DTLSIdentity.generate())
            loop = try ViewerLoop()
        } catch {
            return (.notTried("this machine cannot receive media: \(error)"), [])
        }
        defer { loop.stop() }
        let started = try await connection.send(
            Google.WebRtcLiveViewTrait.startLiveView(offerSdp: offered.offerSdp), to: device)
        let session = started.mediaSessionId
        let (view, tcp) = await attempt(offered, started.answerSdp, session, on: loop)
        // The gateway may have ended it already.
        _ = try? await connection.send(Google.WebRtcLiveViewTrait.stopLiveView(mediaSessionId: session), to: device)
        return (view, tcp)
    }

    private func attempt(
        _ offered: OfferedView, _ answer: String, _ session: String, on loop: ViewerLoop
    ) async -> (OutsideFacts.View, [(address: TransportAddress, failure: String?)]) {
        let (events, continuation) = AsyncStream.makeStream(of: ViewingEvent.self)
        let begin = MonotonicClock.now
        let view: RunningView
        do {
            view = try loop.start(offered, answerSdp: answer, assemblesFrames: false) { event in
                switch event {
                case .connected, .ended: continuation.yield(event)
                default: break
                }
            }
        } catch {
            return (.failed("the gateway's answer cannot be used: \(error)"), [])
        }
        let addresses = Set(
            view.negotiated.remote.candidates.filter { $0.transport == .tcp && $0.tcpType == "passive" }
                .compactMap(\.address)
        ).sorted { $0.isGlobal && !$1.isGlobal }.prefix(8)
        let timer = Task {
            try? await Task.sleep(for: Self.patience)
            continuation.finish()
        }
        defer { timer.cancel() }
        async let tcp = DoctorThread.run { tryConnecting(to: Array(addresses), within: Self.connectPatience) }
        var outcome = OutsideFacts.View.failed("no answer within \(Self.patience.components.seconds) s")
        for await event in events {
            switch event {
            case .connected(let at): outcome = .connected(path: await path(of: session), after: at - begin)
            case .ended(let reason): outcome = .failed(reason)
            default: continue
            }
            break
        }
        return (outcome, await tcp ?? [])
    }

    /// How media comes, in the gateway's word.
    private func path(of session: String) async -> String? {
        struct Session: Decodable { var path: String? }
        guard let data = try? await connection.get("/v1/sessions/\(GatewayConnection.segment(session))") else {
            return nil
        }
        return (try? connection.decode(Session.self, data))?.path
    }

    // MARK: - What blocks

    private static func lookUp(_ host: String, _ port: UInt16) -> Result<[TransportAddress], UnknownHostName> {
        Result { () throws(UnknownHostName) in try lookUpAddresses(of: host, port: port) }
    }
}
