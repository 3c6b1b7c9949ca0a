import HTTPTypes
import Hummingbird

/// The paths of the API and their methods.
struct RouteTable: Sendable {
    /// One path, with its variable parts in braces: `/v1/devices/{device}`.
    struct Entry: Sendable, Hashable {
        var path: String
        var method: HTTPRequest.Method
    }

    /// All routes.
    let entries: [Entry]

    init(_ router: Router<GatewayRequestContext>) {
        self.entries = router.routes.map { route in
            let parts = route.path.description.split(separator: "/").map { part in
                part.hasPrefix(":") ? "{\(part.dropFirst())}" : String(part)
            }
            return Entry(path: "/" + parts.joined(separator: "/"), method: route.method)
        }
    }

    /// The methods that a concrete path accepts; none for a path that does not exist.
    func methods(forPath path: String) -> [HTTPRequest.Method] {
        let parts = path.split(separator: "/")
        return entries.filter { entry in
            let pattern = entry.path.split(separator: "/")
            return pattern.count == parts.count
                && zip(pattern, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }.map(\.method)
    }
}
