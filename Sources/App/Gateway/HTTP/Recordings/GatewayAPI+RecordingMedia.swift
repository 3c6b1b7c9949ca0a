import DatagramPort
import Foundation
import FragmentedMP4
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import PushAvStreamTransport
import Transport

/// Footage itself: playlists, segments, pictures and exports, by device with a token, or by link without one.
extension GatewayAPI {
    /// What a request may see.
    private struct Viewer: Sendable {
        var access: RecordingAccess
        var device: String
        var principal: String
        /// The range of a link; nil for a token, which may see everything.
        var range: Range<Int64>?
        /// Fails when the token or the link no longer opens the footage.
        var right: @Sendable () throws(HomeError) -> Void

        /// The right to send footage. It is checked again for each block.
        /// - Parameter isRunning: whether it is being recorded.
        func permit(isRunning: Bool) async throws(HomeError) -> RecordingAccess.Permit {
            try await access.permit(device, isRunning).holding(right)
        }
    }

    func addRecordingMediaRoutes(to router: Router<GatewayRequestContext>) {
        router.post("/v1/devices/:device/recordings/links") { request, context in
            let (_, device) = try await recordings(context)
            let range = try RecordingQueries.range(request)
            let principal = try principal(context)
            let what = "link to \(device) from \(range.lowerBound) until \(range.upperBound)"
            return try await makeOnce(what, for: request, context, parameters: Data()) {
                let secret = try recordingLinks.make(
                    device: device, range: range, principal: principal, now: MonotonicClock.now)
                let base = "/v1/recording-links/\(secret)"
                let expires = WallClock.milliseconds + RecordingLinks.lifetime.components.seconds * 1_000
                return try Made(
                    RecordingLinkAnswer(
                        playlist: "\(base)/recordings.m3u8", export: "\(base)/recordings/export.mp4",
                        expires: WallTime(millisecondsSince1970: expires).iso8601, rtsp: rtsp(device, range)))
            }
        }
        for base in ["/v1/devices/:device", "/v1/recording-links/:link"] {
            router.get(RouterPath("\(base)/recordings.m3u8")) { request, context in
                let viewer = try await self.viewer(context)
                let (playlists, permit) = try await self.playlists(viewer, request)
                try permit.check()
                let query = viewer.range == nil ? request.uri.query.map { "?\($0)" } ?? "" : ""
                let text = playlists.multivariant { "recordings/\($0.rawValue).m3u8\(query)" }.text
                return Self.playlist(text, request)
            }
            for kind in RecordingPlaylists.Kind.allCases {
                router.get(RouterPath("\(base)/recordings/\(kind.rawValue).m3u8")) { request, context in
                    let viewer = try await self.viewer(context)
                    let (playlists, permit) = try await self.playlists(viewer, request)
                    try permit.check()
                    guard let playlist = playlists.media(kind) else {
                        throw HomeError.notFound("the recordings have no \(kind.rawValue)")
                    }
                    // In a playlist below recordings/, the addresses begin there.
                    return Self.playlist(playlist.text, request)
                }
            }
            router.get(RouterPath("\(base)/recordings/export.mp4")) { request, context in
                try await export(try await self.viewer(context), request)
            }
            router.get(RouterPath("\(base)/recordings/:recording/tracks/:track/:file")) { request, context in
                try await segment(try await self.viewer(context), request, context)
            }
        }
        router.get("/v1/devices/:device/recordings/thumbnail.jpg") { request, context in
            let viewer = try await self.viewer(context)
            guard let moment = try RecordingQueries.time("at", request) else {
                throw HomeError.invalidArgument("at is needed: a time like 2026-01-31T12:00:00Z")
            }
            let place = try recordingPlaces.take(for: viewer.principal)
            let device = viewer.device
            let stored = try await viewer.access.read { store throws(PlaybackError) in
                try RecordingPicture.recording(of: device, at: moment, in: store)
            }
            let permit = try await viewer.permit(isRunning: stored.end == nil)
            return try await thumbnail(request, permit, place) { () throws(PlaybackError) in
                try RecordingPicture(of: stored, at: moment)
            }
        }
        router.get("/v1/devices/:device/recordings/:recording/thumbnail.jpg") { request, context in
            let viewer = try await self.viewer(context)
            let place = try recordingPlaces.take(for: viewer.principal)
            let stored = try await Self.stored(viewer.access, viewer.device, context)
            // The moment of the trigger, unless another one is asked for.
            let moment = try RecordingQueries.time("at", request) ?? stored.session.triggeredAt * 1_000
            let permit = try await viewer.permit(isRunning: stored.end == nil)
            return try await thumbnail(request, permit, place) { () throws(PlaybackError) in
                try RecordingPicture(of: stored, at: moment)
            }
        }
    }

    /// Where RTSP plays a range. Its clients sign in by themselves, so the address holds no secret.
    private func rtsp(_ device: String, _ range: Range<Int64>) -> RecordingLinkAnswer.RTSP? {
        configuration.rtsp.map { server in
            let times = [range.lowerBound, range.upperBound].map(RecordingAnswer.time)
            return RecordingLinkAnswer.RTSP(
                port: server.port, path: "/recordings/\(device)?from=\(times[0])&until=\(times[1])")
        }
    }

    private func viewer(_ context: GatewayRequestContext) async throws -> Viewer {
        guard let secret = context.parameters.get("link") else {
            let (access, device) = try await recordings(context)
            let authorization = try self.authorization(context)
            return Viewer(
                access: access, device: device, principal: authorization.principal,
                right: right(of: authorization, to: device))
        }
        guard let link = recordingLinks.link(secret, now: MonotonicClock.now) else { throw Self.endedLink }
        return Viewer(
            access: try await recordings(of: link.device), device: link.device, principal: link.principal,
            range: link.range,
            right: { [recordingLinks, tokens, directory = hub.directory] () throws(HomeError) in
                // A link that was made while its principal lost the right did not end with the others.
                guard recordingLinks.link(secret, now: MonotonicClock.now) != nil,
                    tokens.access(of: link.principal).permits(.media, directory.device(link.device))
                else { throw Self.endedLink }
            })
    }

    private static let endedLink = HomeError.notFound("this link to a recording has expired; make another one")

    /// Whether a token still opens a device's footage. A download may take hours: the token may be revoked meanwhile, or
    /// lose the scope, or get another password.
    private func right(
        of authorization: Authorization, to device: String
    ) -> @Sendable () throws(HomeError) -> Void {
        // The tokens of the file do not change while the gateway runs.
        guard let id = authorization.tokenID else { return { () throws(HomeError) in } }
        let password = try? tokens.token(id).record.password
        return { [tokens, directory = hub.directory] () throws(HomeError) in
            guard let record = try? tokens.token(id).record, record.password == password,
                record.access.permits(.media, directory.device(device))
            else { throw .notGranted("the token no longer opens the recordings of device \(device)") }
        }
    }

    private static func playlist(_ text: String, _ request: Request) -> Response {
        Response(
            status: .ok, headers: [.contentType: HLSMediaPlaylist.contentType, .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    private func playlists(
        _ viewer: Viewer, _ request: Request
    ) async throws -> (RecordingPlaylists, RecordingAccess.Permit) {
        let range = try viewer.range ?? RecordingQueries.range(request)
        let place = try recordingPlaces.take(for: viewer.principal)
        defer { withExtendedLifetime(place) {} }
        let device = viewer.device
        let footage = try await viewer.access.read { store throws(PlaybackError) in
            try RecordedRange(of: device, from: range.lowerBound, until: range.upperBound, in: store)
        }
        let isRunning = footage.pieces.contains { $0.recording.end == nil }
        let mayGrow = range.upperBound > WallClock.milliseconds * 1_000
        return (RecordingPlaylists(footage, mayGrow: mayGrow), try await viewer.permit(isRunning: isRunning))
    }

    private func export(_ viewer: Viewer, _ request: Request) async throws -> Response {
        let range = try viewer.range ?? RecordingQueries.range(request)
        let gaps = try RecordingQueries.word("gaps", request, otherwise: RecordingExport.Gaps.keep)
        let place = try recordingPlaces.take(for: viewer.principal)
        let device = viewer.device
        let (export, isRunning) = try await viewer.access.read { store throws(PlaybackError) in
            let footage = try RecordedRange(of: device, from: range.lowerBound, until: range.upperBound, in: store)
            return (try RecordingExport(footage, gaps: gaps), footage.pieces.contains { $0.recording.end == nil })
        }
        let permit = try await viewer.permit(isRunning: isRunning)
        try permit.check()
        // Colons are not allowed in the names of files everywhere.
        let start = RecordingAnswer.time(export.range.lowerBound).prefix(19).replacing(":", with: "-")
        var response = try RecordingBody(
            length: export.length, mediaType: "video/mp4", entityTag: export.entityTag,
            fileName: "\(hub.names.label(of: device))-\(start)Z.mp4",
            reader: { RecordingExportReader(export, range: $0) }
        ).response(to: request, permit: permit, place: place)
        response.headers[Self.recordingStart] = RecordingAnswer.time(export.range.lowerBound)
        response.headers[Self.recordingEnd] = RecordingAnswer.time(export.range.upperBound)
        return response
    }

    /// What an export really shows: it begins and ends where there is footage.
    private static let recordingStart = HTTPField.Name("Recording-Start") ?? .from
    private static let recordingEnd = HTTPField.Name("Recording-End") ?? .from

    private func segment(
        _ viewer: Viewer, _ request: Request, _ context: GatewayRequestContext
    ) async throws -> Response {
        let place = try recordingPlaces.take(for: viewer.principal)
        let stored = try await Self.stored(viewer.access, viewer.device, context)
        if let range = viewer.range {
            let summary = stored.summary
            guard summary.from < range.upperBound, summary.until > range.lowerBound else {
                throw HomeError.notFound("this link does not show the recording")
            }
        }
        let permit = try await viewer.permit(isRunning: stored.end == nil)
        try permit.check()
        let name = try context.parameters.require("track")
        let file = try context.parameters.require("file")
        guard let index = stored.session.tracks.firstIndex(where: { $0.name == name }) else {
            throw HomeError.notFound("the recording has no track \"\(name)\"")
        }
        let track = stored.session.tracks[index]
        let path: String
        let length: Int64
        if file == "init.mp4" {
            path = stored.layout.initializationSegment(of: name, in: stored.session.id)
            length = Int64(track.initializationSegment.count)
        } else {
            guard file.hasSuffix(".m4s"), let number = UInt32(file.dropLast(4)),
                let segment = stored.segments.first(where: { $0.track == index && $0.number == number })
            else { throw HomeError.notFound("the track has no segment \"\(file)\"") }
            // A recording may last for days, and a link shows no more than its range.
            guard viewer.range.map({ stored.needs(segment, for: $0) }) ?? true else {
                throw HomeError.notFound("this link does not show the segment \"\(file)\"")
            }
            path = stored.path(of: segment)
            length = segment.byteCount
        }
        return try RecordingBody(
            length: length, mediaType: track.isVideo ? "video/mp4" : "audio/mp4",
            // A segment's file only grows, so its name and length say what it holds.
            entityTag: "\"\(stored.session.id.name)-\(name)-\(file)-\(length)\"",
            reader: { RecordingExportReader(path: path, range: $0) }
        ).response(to: request, permit: permit, place: place)
    }

    private func thumbnail(
        _ request: Request, _ permit: RecordingAccess.Permit, _ place: SnapshotPlaces.Place,
        _ make: @escaping @Sendable () throws(PlaybackError) -> RecordingPicture
    ) async throws -> Response {
        let width = try RecordingQueries.number("width", request, in: 16...3_840, otherwise: 320)
        try permit.check()
        let picture: (jpeg: [UInt8], time: Int64)
        do {
            picture = try await RecordingPicture.jpeg(maximumWidth: width, make)
        } catch {
            throw HomeError(error)
        }
        try permit.check()
        return Response(
            status: .ok,
            headers: [
                .contentType: "image/jpeg", .cacheControl: "private, no-cache",
                Self.recordingStart: RecordingAnswer.time(picture.time),
            ],
            body: .init(contentLength: picture.jpeg.count) { writer in
                defer { withExtendedLifetime(place) {} }
                try await writer.write(ByteBuffer(bytes: picture.jpeg))
                try await writer.finish(nil)
            })
    }
}
