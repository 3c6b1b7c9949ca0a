import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import Signalling
import Stations

extension GatewayAPI {
    func addSnapshotRoutes(to router: Router<GatewayRequestContext>) {
        let places = snapshotPlaces
        router.get("/v1/devices/:device/snapshot.jpg") { request, context in
            let device = try deviceID(context)
            let place = try places.take(for: context.principal ?? "")
            let width = try Self.width(request.uri.queryParameters["width"].map(String.init))
            try await hub.requireDevice(device)
            let picture = try await hub.signalling.snapshots.snapshot(of: device, maximumWidth: width)
            let (seconds, attoseconds) = picture.age.components
            let milliseconds = max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
            return Response(
                status: .ok,
                headers: [
                    .contentType: "image/jpeg", .cacheControl: "no-store",
                    // How long ago the camera took the picture: whole seconds (RFC 9111, section 5.1), and exactly.
                    .age: "\(milliseconds / 1_000)", Self.ageMilliseconds: "\(milliseconds)",
                ],
                body: .init(contentLength: picture.jpeg.count) { writer in
                    // Until the client has read it.
                    defer { withExtendedLifetime(place) {} }
                    // The camera may be switched off while a slow client reads.
                    for start in stride(from: 0, to: picture.jpeg.count, by: Self.pieceBytes) {
                        try picture.permit?.check()
                        let end = min(start + Self.pieceBytes, picture.jpeg.count)
                        try await writer.write(ByteBuffer(bytes: picture.jpeg[start..<end]))
                    }
                    picture.permit?.end()
                    try await writer.finish(nil)
                })
        }
        router.get("/v1/devices/:device/snapshots/:snapshot") { _, context in
            let device = try deviceID(context)
            try await hub.requireDevice(device)
            guard let picture = Self.picture(context), let image = await pictures?.image(picture, of: device) else {
                throw Self.unknownPicture
            }
            return Response(
                status: .ok, headers: [.contentType: "image/jpeg", .cacheControl: "private, max-age=3600"],
                body: .init(byteBuffer: ByteBuffer(bytes: image)))
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

    private static func picture(_ context: GatewayRequestContext) -> KeptPicture? {
        guard let text = context.parameters.get("snapshot"), let number = Int64(text), number >= 0, "\(number)" == text
        else { return nil }
        return KeptPicture(milliseconds: number)
    }

    private static let unknownPicture = HomeError.notFound(
        "no picture of this device has this id; pictures are kept for \(KeptPictures.days) days"
    ).advising(request: "GET /v1/history lists them", command: "gatehouse history lists them")

    /// A picture goes out in pieces of this size.
    private static let pieceBytes = 64 << 10

    private static let ageMilliseconds = HTTPField.Name("Age-Milliseconds") ?? .age

    private static let widths = 16...8_192

    private static func width(_ text: String?) throws(HomeError) -> Int? {
        guard let text else { return nil }
        guard let width = Int(text), widths.contains(width) else {
            throw HomeError.invalidArgument(
                "width: expected a whole number from \(widths.lowerBound) to \(widths.upperBound)")
        }
        return width
    }
}
