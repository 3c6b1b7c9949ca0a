import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import Signalling
import Stations

/// `HEAD` for what a camera shows now. Some players and proxies send it before they play.
///
/// The headers are those of `GET` (RFC 9110, section 9.3.2). A picture is made for it. A stream is not begun: its answer
/// leaves out the codecs, which only the camera knows.
extension GatewayAPI {
    func addHeadRoutes(to router: Router<GatewayRequestContext>) {
        router.head("/v1/devices/:device/snapshot.jpg") { request, context in
            try await snapshot(request, context).createHeadResponse()
        }
        router.head("/v1/devices/:device/live.mp4") { request, context in
            _ = try Self.stream(request.uri.queryParameters["stream"].map(String.init))
            _ = try Self.flag("sound", request)
            return try await liveHead(Self.liveFileHeaders("video/mp4"), context)
        }
        router.head("/v1/devices/:device/live.m3u8") { request, context in
            _ = try Self.stream(request.uri.queryParameters["stream"].map(String.init))
            _ = try Self.flag("sound", request)
            return try await liveHead(Self.livePlaylistHeaders, context)
        }
        router.head("/v1/devices/:device/live.mjpeg") { request, context in
            _ = try Self.width(request.uri.queryParameters["width"].map(String.init))
            _ = try Self.rate(request.uri.queryParameters["rate"].map(String.init))
            return try await liveHead(Self.liveSeriesHeaders, context)
        }
    }

    /// The headers of a stream that the camera's switches allow now.
    private func liveHead(_ headers: HTTPFields, _ context: GatewayRequestContext) async throws -> Response {
        let device = try deviceID(context)
        try await hub.requireDevice(device)
        guard let live, let station = await live.station(device) else { throw Self.noPictures }
        if let refusal = station.outputs.refusal(of: .liveView) {
            throw SignallingError.station(.refused(camera: station.id, refusal))
        }
        // The length of a stream is not known, which an empty body would claim.
        return Response(status: .ok, headers: headers, body: ResponseBody { writer in try await writer.finish(nil) })
    }
}
