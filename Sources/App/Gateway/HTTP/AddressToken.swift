import HTTPTypes
import HomeTypes
import Hummingbird

/// A token in the query of an address (`?token=`), for players and `<img>` elements, which send no header.
///
/// Addresses end up in histories, bookmarks and the logs of proxies. So only routes that show what a camera shows now accept
/// one, and only a token that permits watching and nothing else.
enum AddressToken {
    /// The token in the address of a request; nil if there is none, or if the route accepts none.
    static func find(in request: Request, of context: GatewayRequestContext) throws(HomeError) -> String? {
        guard let path = context.endpointPath else { return nil }
        let route = RouteTable.Entry(path: RouteTable.template(path), method: request.method)
        guard RoutePermissions.need(of: route) == .scope(.view, .device), route.path != wordsAboutCamera else {
            return nil
        }
        let given = request.uri.queryParameters.filter { $0.key == "token" }
        guard let first = given.first?.value else { return nil }
        guard given.count == 1, !first.isEmpty, first.utf8.count <= longest else {
            throw .unauthenticated("the address must have one token, of at most \(longest) characters")
        }
        return String(first)
    }

    /// Keeps a response out of caches, and lets pages of any origin show it, because the token is what opens it.
    static func protect(_ response: Response) -> Response {
        var response = response
        response.headers[.cacheControl] = "no-store"
        response.headers[SecurityHeadersMiddleware.crossOriginResourcePolicy] = "cross-origin"
        return response
    }

    /// A route that needs no more than watching, but shows no pictures.
    private static let wordsAboutCamera = "/v1/devices/{device}/doctor"

    private static let longest = 512
}
