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
            Entry(path: Self.template(route.path.description), method: route.method)
        }
    }

    /// The router's path with its variable parts in braces.
    static func template(_ path: String) -> String {
        let parts = path.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
        return "/" + parts.joined(separator: "/")
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
