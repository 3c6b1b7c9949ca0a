import HTTPTypes
import HomeTypes
import Hummingbird
import NIOCore

/// QR codes of links, for the page. The text is in the body, so that it reaches no log.
extension GatewayAPI {
    func addQRCodeRoutes(to router: Router<GatewayRequestContext>) {
        router.post("/v1/qr-codes") { request, _ in
            let text = try await request.text(mediaType: "text/plain")
            guard !text.isEmpty, let code = QRCode(text) else {
                throw HomeError.invalidArgument("the body must be a text of 1 to \(QRCode.longest) bytes")
            }
            return Response(
                status: .ok, headers: [.contentType: "image/svg+xml", .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: code.svg)))
        }
    }
}
