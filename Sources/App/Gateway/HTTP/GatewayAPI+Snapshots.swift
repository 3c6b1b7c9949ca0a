import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import Signalling
import Stations

extension GatewayAPI {
    func addSnapshotRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/devices/:device/snapshot.jpg") { request, context in
            try await snapshot(request, context)
        }
        router.get("/v1/devices/:device/snapshots/:snapshot") { _, context in
            let device = try deviceID(context)
            let place = try recordingPlaces.take(for: context.principal ?? "")
            try await hub.requireDevice(device)
            // It was kept, so it is shown while recordings are.
            let permit = try await permitToShow(device, as: .playback)
            guard let picture = Self.picture(context), let image = await pictures?.image(picture, of: device) else {
                throw Self.unknownPicture
            }
            return try Self.response(Array(image), permit, place)
        }
        router.delete("/v1/devices/:device/snapshots/:snapshot") { _, context in
            let device = try deviceID(context)
            try await hub.requireDevice(device)
            guard let picture = Self.picture(context), try await pictures?.remove(picture, of: device) == true else {
                throw Self.unknownPicture
            }
            return Response(status: .noContent)
        }
    }

    /// The newest picture of a device.
    func snapshot(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let device = try deviceID(context)
        let place = try snapshotPlaces.take(for: context.principal ?? "")
        let width = try Self.width(request.uri.queryParameters["width"].map(String.init))
        try await hub.requireDevice(device)
        let picture = try await picture(of: device, maximumWidth: width, for: authorization(context))
        let (seconds, attoseconds) = picture.age.components
        let milliseconds = max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
        return Response(
            status: .ok,
            headers: [
                .contentType: "image/jpeg", .cacheControl: "no-store",
                // How long ago the camera took the picture: whole seconds (RFC 9111, section 5.1), and exactly.
                .age: "\(milliseconds / 1_000)", Self.ageMilliseconds: "\(milliseconds)",
            ],
            body: Self.body(
                picture.jpeg, place: place,
                check: { try picture.permit?.check() }, end: { picture.permit?.end() }))
    }

    /// A picture of now. A camera may take seconds for it, and the token may lose the right meanwhile.
    /// - Throws: what ``requireStill(_:_:of:)`` throws, and why the camera has no picture.
    func picture(
        of device: String, maximumWidth: Int?, for authorization: Authorization
    ) async throws -> CameraSnapshot {
        let picture = try await hub.signalling.snapshots.snapshot(of: device, maximumWidth: maximumWidth)
        try requireStill(authorization, .view, of: device)
        return picture
    }

    /// Asks whether pictures of a device may leave.
    /// - Throws: `failedPrecondition` while the camera's switches refuse it.
    func permitToShow(_ device: String, as usage: OutputUsage) async throws(HomeError) -> RecordingAccess.Permit {
        guard let permits = await permits(device) else { return RecordingAccess.Permit { nil } }
        return try RecordingAccess.permit(device, usage, permits)
    }

    /// The answer with a picture that was taken earlier. No cache keeps it, because the camera may be switched off.
    static func response(
        _ jpeg: [UInt8], _ permit: RecordingAccess.Permit, _ place: SnapshotPlaces.Place? = nil
    ) throws(HomeError) -> Response {
        try permit.check()
        return Response(
            status: .ok, headers: [.contentType: "image/jpeg", .cacheControl: "no-store"],
            body: body(jpeg, place: place, check: { try permit.check() }))
    }

    /// The body of an answer with a picture.
    /// - Parameters:
    ///   - place: kept until the client has read everything.
    ///   - check: called before each piece. The camera may be switched off while a slow client reads.
    ///   - end: called when everything has been sent.
    private static func body(
        _ jpeg: [UInt8], place: SnapshotPlaces.Place?, check: @escaping @Sendable () throws -> Void,
        end: @escaping @Sendable () -> Void = {}
    ) -> ResponseBody {
        .init(contentLength: jpeg.count) { writer in
            defer { withExtendedLifetime(place) {} }
            for start in stride(from: 0, to: jpeg.count, by: Self.pieceBytes) {
                try check()
                try await writer.write(ByteBuffer(bytes: jpeg[start..<min(start + Self.pieceBytes, jpeg.count)]))
            }
            end()
            try await writer.finish(nil)
        }
    }

    private static func picture(_ context: GatewayRequestContext) -> KeptPicture? {
        guard let text = context.parameters.get("snapshot"), let number = Int64(text), number >= 0, "\(number)" == text
        else { return nil }
        return KeptPicture(milliseconds: number)
    }

    private static let unknownPicture = HomeError.notFound(
        "no picture of this device has this id; pictures are kept for \(KeptPictures.days) days"
    ).advising(request: "GET /v1/history lists them", command: "gatehouse history lists them")

    /// A picture goes out in pieces of this size.
    static let pieceBytes = 64 << 10

    private static let ageMilliseconds = HTTPField.Name("Age-Milliseconds") ?? .age

    private static let widths = 16...8_192

    static func width(_ text: String?) throws(HomeError) -> Int? {
        guard let text else { return nil }
        guard let width = Int(text), widths.contains(width) else {
            throw HomeError.invalidArgument(
                "width: expected a whole number from \(widths.lowerBound) to \(widths.upperBound)")
        }
        return width
    }
}
