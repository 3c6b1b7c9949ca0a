import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import Logging
import NIOCore
import Signalling
import Stations

/// The part of go2rtc's API that Home Assistant uses, so that its camera entities play over WebRTC through the gateway.
///
/// It is there only if the config says so. A stream is always one of the gateway's own cameras: no address that a program
/// names is opened, and nothing is run.
extension GatewayAPI {
    func addGo2RTCRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/api") { _, _ in
            try requireGo2RTC()
            return try JSONBody.response(Go2RTC.Information(version: Go2RTC.version))
        }
        router.get("/api/schemes") { _, _ in
            try requireGo2RTC()
            return try JSONBody.response(Go2RTC.schemes)
        }
        router.get("/api/streams") { _, context in
            try requireGo2RTC()
            return try JSONBody.response(await go2RTCStreams(authorization(context)))
        }
        router.put("/api/streams") { request, context in
            try requireGo2RTC()
            try await nameGo2RTCStream(request, context)
            return Response(status: .ok)
        }
        router.delete("/api/streams") { request, context in
            try requireGo2RTC()
            go2RTC.remove(try Self.required("src", request), of: try principal(context))
            return Response(status: .ok)
        }
        // The gateway decides itself when it connects to a camera, so there is nothing to load before.
        router.get("/api/preload") { _, _ in
            try requireGo2RTC()
            return try JSONBody.response([String: String]())
        }
        router.put("/api/preload") { request, context in
            try requireGo2RTC()
            _ = try await go2RTCDevice(request, context)
            return Response(status: .ok)
        }
        router.delete("/api/preload") { _, _ in
            try requireGo2RTC()
            return Response(status: .ok)
        }
        router.post("/api/webrtc") { request, context in
            try requireGo2RTC()
            return try await answerGo2RTCOffer(request, context)
        }
        router.get("/api/ws") { request, context in
            try requireGo2RTC()
            return try await go2RTCSocket(request, context)
        }
        router.get("/api/frame.jpeg") { request, context in
            try requireGo2RTC()
            return try await go2RTCFrame(request, context)
        }
    }

    private func requireGo2RTC() throws(HomeError) {
        guard configuration.offersGo2RTC else {
            throw .notFound("this part of the API is switched off; go2rtc: true in the config switches it on")
        }
    }

    // MARK: Streams

    /// The cameras that the caller may watch, by their keys, and the names that it has given.
    private func go2RTCStreams(_ authorization: Authorization) async throws -> [String: Go2RTC.Stream] {
        var streams: [String: Go2RTC.Stream] = [:]
        for entry in await keeper.entries where mayWatch(entry.camera.deviceID, authorization) {
            streams[entry.camera.id] = Go2RTC.Stream(producers: [.init(url: "gatehouse:\(entry.camera.id)")])
        }
        for (name, stream) in go2RTC.all(of: authorization.principal) where mayWatch(stream.deviceID, authorization) {
            streams[name] = Go2RTC.Stream(producers: [.init(url: stream.source)])
        }
        return streams
    }

    private func mayWatch(_ device: String, _ authorization: Authorization) -> Bool {
        authorization.access.permits(.view, hub.directory.device(device))
    }

    /// Whether the caller may learn which camera has an address. A token that only watches could guess addresses.
    private func mayName(_ device: String, _ authorization: Authorization) -> Bool {
        let scopes = authorization.access.scopes(for: hub.directory.device(device))
        return mayWatch(device, authorization) && (scopes.contains(.read) || scopes.contains(.media))
    }

    /// Gives a name to the camera that has an address.
    private func nameGo2RTCStream(_ request: Request, _ context: GatewayRequestContext) async throws {
        let authorization = try self.authorization(context)
        let name = try Self.required("name", request)
        let sources = request.uri.queryParameters.filter { $0.key == "src" }.map { String($0.value) }
        guard !sources.isEmpty, sources.count <= 16, name.utf8.count <= 256,
            sources.allSatisfy({ $0.utf8.count <= Self.longestSource })
        else { throw HomeError.invalidArgument("src: send one to 16 addresses") }
        for source in sources {
            // The other sources say how go2rtc would transcode the stream; the gateway does that by itself.
            guard let camera = await go2RTCCamera(at: source, request, context),
                mayName(camera.deviceID, authorization)
            else { continue }
            try go2RTC.set(
                .init(deviceID: camera.deviceID, source: source), named: name, of: authorization.principal)
            return
        }
        await recordRefusal(of: sources, named: name, request, context, authorization)
        throw Self.noCameraThere
    }

    private static let noCameraThere = HomeError.invalidArgument(
        "no camera of the gateway that this token may watch and read has this address; add it to the gateway first. "
            + "The gateway connects to no other address")

    /// The camera that has an address, whoever asks.
    private func go2RTCCamera(
        at source: String, _ request: Request, _ context: GatewayRequestContext
    ) async -> GatewayConfiguration.Camera? {
        let cameras = await keeper.entries.map(\.camera)
        let own = reachedAddresses(request, context) + [context.localHost.map(Self.literal)].compactMap { $0 }
        return Go2RTCMatch.camera(at: source, among: cameras, rtsp: configuration.rtsp, ownHosts: own)
    }

    /// Remembers a camera that a program asked for and did not get, for the log and the doctor.
    private func recordRefusal(
        of sources: [String], named name: String, _ request: Request, _ context: GatewayRequestContext,
        _ authorization: Authorization
    ) async {
        // Sources such as ffmpeg:camera.yard#audio=opus only refer to the address.
        guard let source = sources.first(where: { $0.contains("://") }) ?? sources.first else { return }
        let isHere = await go2RTCCamera(at: source, request, context) != nil
        // A guest's token must not write an address of its own into what the owner reads.
        let mayNameAny = await keeper.entries.contains { mayName($0.camera.deviceID, authorization) }
        guard isHere || mayNameAny else { return }
        let refusal = Go2RTCRefusal(
            name: name, source: source, isHere: isHere, userAgent: request.headers[.userAgent])
        guard go2RTC.record(refusal, of: authorization.principal) else { return }
        context.logger.warning(
            "\(refusal.words(principal: authorization.principal))",
            metadata: ["stream": "\(refusal.name)", "address": "\(refusal.source)"])
    }

    /// The device of the stream that a request names, which the caller may watch.
    func go2RTCDevice(_ request: Request, _ context: GatewayRequestContext) async throws -> String {
        let authorization = try self.authorization(context)
        let name = try Self.required("src", request)
        let named = go2RTC.stream(name, of: authorization.principal)?.deviceID
        if named == nil, name.contains("://") { return try await go2RTCDevice(at: name, request, context) }
        let device = named ?? hub.names.id(of: name)
        guard mayWatch(device, authorization) else { throw HomeHub.unknownDevice(name) }
        try await hub.requireDevice(device)
        return device
    }

    /// The device of the camera that has the address of a request. The WebRTC card for Home Assistant sends the address
    /// of an entity's stream, and its name beside it.
    private func go2RTCDevice(
        at source: String, _ request: Request, _ context: GatewayRequestContext
    ) async throws -> String {
        let authorization = try self.authorization(context)
        guard source.utf8.count <= Self.longestSource else { throw HomeError.invalidArgument("src is too long") }
        let name = request.uri.queryParameters["name"].map { String($0.prefix(256)) } ?? source
        guard let camera = await go2RTCCamera(at: source, request, context), mayName(camera.deviceID, authorization)
        else {
            await recordRefusal(of: [source], named: name, request, context, authorization)
            throw Self.noCameraThere
        }
        go2RTC.forgetRefusal(named: name, of: authorization.principal)
        try await hub.requireDevice(camera.deviceID)
        return camera.deviceID
    }

    /// The longest address, in bytes.
    private static let longestSource = 2_048

    private static func required(_ name: String, _ request: Request) throws(HomeError) -> String {
        guard let text = request.uri.queryParameters[name[...]].map(String.init), !text.isEmpty else {
            throw .invalidArgument("\(name) is missing in the address")
        }
        return text
    }

    // MARK: Views and pictures

    /// `POST` of an offer: as JSON, or as SDP like WHEP's.
    private func answerGo2RTCOffer(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let device = try await go2RTCDevice(request, context)
        let isJSON = request.hasMediaType("application/json")
        let offer =
            isJSON
            ? try await JSONBody.read(Go2RTC.Description.self, from: request).sdp
            : try await request.text(mediaType: Self.sdpMediaType)
        let view = try await startGo2RTCView(offer, of: device, request, context)
        guard isJSON else {
            return Response(
                status: .created, headers: [.contentType: Self.sdpMediaType, .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: view.answer)))
        }
        return try JSONBody.response(Go2RTC.Description(type: "answer", sdp: view.answer))
    }

    /// A live view of a program that speaks this API.
    struct Go2RTCView: Sendable {
        let session: SessionReference
        let answer: String
    }

    /// Answers an offer. Its lease is extended for as long as the viewer is connected. A viewer that sends sound talks.
    func startGo2RTCView(
        _ offer: String, of device: String, _ request: Request, _ context: GatewayRequestContext
    ) async throws -> Go2RTCView {
        let authorization = try self.authorization(context)
        // A WebSocket keeps the rights that its token had when it was opened. The start compares them with those of now.
        let started = try await startView(offer, of: device, request, context)
        let session = SessionReference(started.mediaSessionId, of: device, principal: authorization.principal)
        if Go2RTCOffer.sendsSound(offer), authorization.access.permits(.media, hub.directory.device(device)) {
            Task { await talkWhenConnected(session, of: device, authorization) }
        }
        return Go2RTCView(session: session, answer: started.answerSdp)
    }

    /// Opens the camera's speaker for a view. Its offer is the only request for that which this API knows.
    private func talkWhenConnected(
        _ session: SessionReference, of device: String, _ authorization: Authorization
    ) async {
        guard await hub.signalling.views.waitUntilConnected(session, atMost: Self.longestConnecting) else { return }
        // The token may have lost the right meanwhile, also while the camera's speaker is opened.
        guard (try? requireStill(authorization, .media, of: device)) != nil else { return }
        // A camera without a speaker, or one that somebody else uses, is watched without talking.
        try? await hub.signalling.talks.startTalkback(session, offerSdp: nil)
        if (try? requireStill(authorization, .media, of: device)) == nil {
            try? await hub.signalling.talks.stopTalkback(session)
        }
    }

    /// How long a viewer may take to connect.
    private static let longestConnecting = Duration.seconds(30)

    private func go2RTCFrame(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let device = try await go2RTCDevice(request, context)
        let place = try snapshotPlaces.take(for: try principal(context))
        let width = try Self.width(request.uri.queryParameters["width"].map(String.init))
        let picture = try await picture(of: device, maximumWidth: width, for: authorization(context))
        return Response(
            status: .ok, headers: [.contentType: "image/jpeg", .cacheControl: "no-store"],
            body: .init(contentLength: picture.jpeg.count) { writer in
                defer { withExtendedLifetime(place) {} }
                try picture.permit?.check()
                try await writer.write(ByteBuffer(bytes: picture.jpeg))
                picture.permit?.end()
                try await writer.finish(nil)
            })
    }
}
