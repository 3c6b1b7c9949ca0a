import HTTPTypes
import Hummingbird
import NIOCore

extension GatewayAPI {
    /// The web page and its parts. They contain nothing secret, so everybody may read them.
    func addPageRoutes(to router: Router<GatewayRequestContext>) {
        for (path, asset) in page.assets.sorted(by: { $0.key < $1.key }) {
            router.get(RouterPath(path)) { request, _ in
                let headers: HTTPFields = [
                    .contentType: asset.mediaType, .cacheControl: "no-cache", .eTag: asset.entityTag,
                ]
                if let known = request.headers[.ifNoneMatch], known.contains(asset.entityTag) {
                    return Response(status: .notModified, headers: headers)
                }
                return Response(
                    status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: asset.text)))
            }
        }
    }
}
