import HTTPTypes
import Hummingbird

/// The page that shows one camera, for share links and for frames in other pages.
extension GatewayAPI {
    /// The route of the page, as the router has it.
    static let cameraPage: RouterPath = "/camera/:device"

    /// The page is the same for every camera, so it does not reveal which ones exist. Its token is in the fragment of the
    /// address, which browsers do not send.
    func addCameraPageRoutes(to router: Router<GatewayRequestContext>) {
        let asset = page.assets[WebPage.cameraPage]
        let policy = SecurityHeadersMiddleware.contentSecurityPolicy(
            frameAncestors: configuration.http.frameAncestors)
        router.get(Self.cameraPage) { request, _ in
            guard let asset else { throw HTTPError(.notFound) }
            return Self.response(asset, to: request, headers: [.contentSecurityPolicy: policy])
        }
    }
}
