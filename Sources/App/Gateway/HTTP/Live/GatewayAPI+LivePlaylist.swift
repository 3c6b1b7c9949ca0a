import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import PushAvStreamTransport
import ServiceLifecycle
import Signalling
import Stations

/// Low-latency HTTP Live Streaming of what a camera shows now.
extension GatewayAPI {
    func addLivePlaylistRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/devices/:device/live.m3u8") { request, context in
            try await livePlaylist(request, context)
        }
        router.get("/v1/devices/:device/live/:file") { request, context in
            try await liveFilePart(request, context)
        }
    }

    private func use(
        _ request: Request, _ context: GatewayRequestContext
    ) async throws -> (use: LiveWindows.Use, station: CameraStation, owner: String) {
        let device = try deviceID(context)
        let principal = try self.principal(context)
        let stream = try Self.stream(request.uri.queryParameters["stream"].map(String.init))
        let hasSound = try Self.flag("sound", request) ?? true
        try await hub.requireDevice(device)
        guard let live, let station = await live.station(device) else { throw Self.noPictures }
        let owner = "playlist of \(principal)"
        do {
            let use = try liveWindows.window(
                .init(station: ObjectIdentifier(station), stream: stream, hasSound: hasSound), of: principal,
                place: { try watcher(of: device, context) },
                watch: { try live.streams.watch(station, stream: stream, hasSound: hasSound, owner: owner) })
            return (use, station, owner)
        } catch let error as StationError {
            throw SignallingError.station(error)
        }
    }

    private func livePlaylist(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let (use, station, _) = try await self.use(request, context)
        let window = use.window
        let segment = try Self.directive("_HLS_msn", request)
        let part = try Self.directive("_HLS_part", request)
        guard part == nil || segment != nil else {
            throw HomeError.invalidArgument("_HLS_part needs _HLS_msn")
        }
        let next = window.content.next
        if let segment, segment > next.segment + 2 {
            throw HomeError.invalidArgument("_HLS_msn is too far ahead: the next segment is \(next.segment)")
        }
        // The first request waits for the first segment: many players give up on a playlist without one.
        let isThere = try await Self.wait(
            for: use, segment: segment.map { UInt64($0) } ?? 0, part: segment == nil ? nil : part)
        guard isThere else {
            throw SignallingError.station(
                .nothingToShow(camera: station.id, within: Self.livePatience, station.snapshot.trouble))
        }
        return Response(
            status: .ok, headers: Self.livePlaylistHeaders,
            body: .init(
                byteBuffer: ByteBuffer(string: LivePlaylist.text(window.content, query: Self.query(of: request)))))
    }

    private func liveFilePart(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        guard let file = LiveFile(try context.parameters.require("file")) else { throw Self.noSuchFile }
        let (use, station, owner) = try await self.use(request, context)
        let window = use.window
        let bytes: [UInt8]
        switch file {
        case .header(let number):
            guard let header = window.header(number)?.header else { throw Self.noSuchFile }
            bytes = header
        case .segment(let number):
            guard let segment = window.content.segments.first(where: { $0.number == number }), segment.isComplete else {
                throw Self.noSuchFile
            }
            bytes = segment.parts.flatMap(\.bytes)
        case .part(let number, let part):
            let next = window.content.next
            // The next part is named before it is there.
            guard number < next.segment || number == next.segment && part <= next.part,
                try await Self.wait(for: use, segment: number, part: part),
                let segment = window.content.segments.first(where: { $0.number == number }),
                segment.parts.indices.contains(part)
            else { throw Self.noSuchFile }
            bytes = segment.parts[part].bytes
        }
        let permit = try Self.permit(for: station, owner: owner)
        return Response(
            status: .ok, headers: [.contentType: "video/mp4", .cacheControl: "no-store"],
            body: .init(contentLength: bytes.count) { writer in
                // The camera may be switched off while a slow client reads, or the right to watch revoked.
                for start in stride(from: 0, to: bytes.count, by: Self.pieceBytes) {
                    try permit.check()
                    try use.check()
                    try await writer.write(ByteBuffer(bytes: bytes[start..<min(start + Self.pieceBytes, bytes.count)]))
                }
                permit.end()
                try await writer.finish(nil)
            })
    }

    /// Lets a file leave. That the camera is switched off waits until it has left, or is cut short.
    private static func permit(for station: CameraStation, owner: String) throws(SignallingError) -> OutputPermit {
        do throws(StationError) {
            return try station.permit(for: .liveView, owner: owner, revoked: nil)
        } catch {
            throw SignallingError.station(error)
        }
    }

    /// Waits until something is there, and the principal may still have it.
    static func wait(
        for use: LiveWindows.Use, segment: UInt64, part: Int?, atMost patience: Duration = livePatience
    ) async throws -> Bool {
        do {
            let isThere = try await cancelWhenGracefulShutdown {
                try await use.window.wait(segment: segment, part: part, atMost: patience)
            }
            try use.check()
            return isThere
        } catch let error as StationError {
            throw SignallingError.station(error)
        }
    }

    private static func directive(_ name: String, _ request: Request) throws(HomeError) -> Int? {
        guard let text = request.uri.queryParameters[Substring(name)] else { return nil }
        guard let number = LiveFile.number(text) else { throw .invalidArgument("\(name): expected a whole number") }
        return number
    }

    /// What the addresses in a playlist need from its own: the stream, the sound, and the token.
    private static func query(of request: Request) -> String {
        let kept = request.uri.query?.split(separator: "&").filter { !$0.hasPrefix("_HLS_") } ?? []
        return kept.isEmpty ? "" : "?" + kept.joined(separator: "&").replacing("\"", with: "%22")
    }

    static let livePlaylistHeaders: HTTPFields = [
        .contentType: "application/vnd.apple.mpegurl", .cacheControl: "no-store",
    ]

    private static let noSuchFile = HomeError.notFound("the stream has no such file, or no longer")
}
