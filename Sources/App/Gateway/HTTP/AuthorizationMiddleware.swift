import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

/// Decides whether a request may do what its route does, before anything of its body is read.
///
/// An object that the token may not know of is not found. One that it knows, but for which it lacks the scope, is refused
/// with the scope's name.
struct AuthorizationMiddleware: RouterMiddleware {
    let directory: HomeDirectory
    /// The page and its parts.
    let publicPaths: Set<String>
    /// The structure of an automation; nil for one that does not exist.
    let structureOfAutomation: @Sendable (String) -> String?

    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        // Only a request without a route has no endpoint. It ends as not found.
        guard let path = context.endpointPath else { return try await next(request, context) }
        try check(request.method, path, context)
        return try await next(held(request, path, context), context)
    }

    /// The request with a body that counts only if the token permits the same at its end. A device may have left the place
    /// for which the token permits something, which does not change the token.
    private func held(_ request: Request, _ path: String, _ context: GatewayRequestContext) -> Request {
        let method = request.method
        guard method != .get, method != .head else { return request }
        var request = request
        request.body = RequestBody(
            asyncSequence: AuthorizedBody(body: request.body) { try check(method, path, context) })
        return request
    }

    private func check(_ method: HTTPRequest.Method, _ path: String, _ context: GatewayRequestContext) throws {
        if publicPaths.contains(path) { return }
        let entry = RouteTable.Entry(path: RouteTable.template(path), method: method)
        switch RoutePermissions.need(of: entry) {
        case .nothing, .secret: return
        case .token: _ = try authorization(context)
        case .owner:
            if let device = context.parameters.get("device") {
                try requireSight(of: directory.device(device), device, authorization(context))
            }
            guard try authorization(context).isOwner else {
                throw HomeError.notGranted("only the owner's token may do this")
            }
        case .command:
            let trait = context.parameters.get("trait") ?? ""
            let command = context.parameters.get("command") ?? ""
            for scope in Caller.Scope.needed(for: command, of: trait) { try require(scope, .device, context) }
        case .scope(let scope, let target):
            // The device's own token opens this one route, and the authentication has checked which device it is.
            if context.authorization == nil, entry == Self.ownEvents { return }
            try require(scope, target, context)
        case nil:
            throw HomeError.permissionDenied("the gateway does not allow requests to this path; please report this")
        }
    }

    private static let ownEvents = RouteTable.Entry(path: "/v1/devices/{device}/events", method: .post)

    private func require(
        _ scope: Caller.Scope, _ target: RoutePermissions.Target, _ context: GatewayRequestContext
    ) throws {
        let authorization = try self.authorization(context)
        let object: Access.Object
        var name = ""
        switch target {
        case .home: object = .home
        case .device:
            name = try context.parameters.require("device")
            object = directory.device(name)
        case .structure:
            name = try context.parameters.require("structure")
            object = .structure(name)
        case .room:
            name = try context.parameters.require("room")
            object = directory.structure(ofRoom: name).map { .structure($0) } ?? .home
        case .automation:
            name = try context.parameters.require("automation")
            guard let structure = structureOfAutomation(name) else { throw AutomationRecords.unknown(name) }
            object = .structure(structure)
        }
        if target != .home { try requireSight(of: object, name, authorization) }
        guard authorization.access.permits(scope, object) else {
            let place = target == .home ? "the whole home" : "\(target) \(name.prefix(64))"
            throw HomeError.notGranted(
                "the token of \(authorization.principal) does not have the scope \(scope.rawValue) for \(place)")
        }
    }

    /// Fails as if the object did not exist, unless the token may know of it.
    private func requireSight(of object: Access.Object, _ name: String, _ authorization: Authorization) throws {
        guard !authorization.access.sees(object) else { return }
        switch object {
        case .device: throw HomeHub.unknownDevice(name)
        case .structure, .home: throw HomeError.notFound("there is nothing with the id \(name.prefix(64))")
        }
    }

    private func authorization(_ context: GatewayRequestContext) throws -> Authorization {
        guard let authorization = context.authorization else { throw HomeError.unauthenticated("a token is needed") }
        return authorization
    }
}
