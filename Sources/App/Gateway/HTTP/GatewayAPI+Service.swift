import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import Signalling

extension GatewayAPI {
    /// What a client should know about the gateway itself.
    struct GatewayDescription: Codable, Sendable, Equatable {
        var name: String
        var version: String
        var httpsPort: Int?
        /// Where clients reach the gateway according to the config; missing where the config does not say.
        var publicURL: String?
        /// The port of the RTSP server; missing while it is off.
        var rtspPort: Int?
        /// Whether other machines reach the RTSP server; missing while it is off.
        var rtspIsOpen: Bool?
        var liveSessionDurationSeconds: Int
        var maximumLiveSessionDurationSeconds: Int
        var iceServers: [ICEServerDescription]
    }

    /// A STUN or TURN server in the form that `RTCPeerConnection` expects.
    struct ICEServerDescription: Codable, Sendable, Equatable {
        var urls: [String]
        var username: String?
        var credential: String?
    }

    func addServiceRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/healthz") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: "ok\n")))
        }
        router.get("/metrics") { _, _ in
            let families =
                HomeMetrics.families(
                    devices: await hub.devices(), sessions: await hub.signalling.views.sessions(),
                    watchers: await hub.watcherCount)
                + metrics.families() + shared.families() + ProcessMetrics.families()
            let text = PrometheusText.encode(
                (families + (await mqtt?.status?.families ?? []) + (await additionalMetrics())).map {
                    $0.naming(devices: hub.names)
                })
            return Response(
                status: .ok, headers: [.contentType: PrometheusText.mediaType, .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: text)))
        }
        router.get("/v1/gateway") { _, _ in
            try JSONBody.response(
                GatewayDescription(
                    name: "Gatehouse", version: GatewayVersion.current,
                    httpsPort: configuration.http.https?.port, publicURL: configuration.http.publicURL,
                    rtspPort: configuration.rtsp?.port,
                    rtspIsOpen: configuration.rtsp.map { !PageAddresses.isLoopback($0.host) },
                    liveSessionDurationSeconds: configuration.sessions.durationSeconds,
                    maximumLiveSessionDurationSeconds: configuration.sessions.maximumDurationSeconds,
                    iceServers: configuration.media.iceServers.map {
                        ICEServerDescription(urls: [$0.url], username: $0.username, credential: $0.credential)
                    }))
        }
        router.get("/v1/openapi.json") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: try OpenAPIDocument.json())))
        }
    }
}
