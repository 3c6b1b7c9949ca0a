import HTTPTypes
import HomeHub
import Hummingbird
import Signalling

extension GatewayAPI {
    /// The response to `GET /v1/sessions`: the caller's own sessions.
    struct SessionList: Codable, Sendable, Equatable {
        var sessions: [SessionSnapshot]
    }

    func addSessionRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/sessions") { _, context in
            try JSONBody.response(SessionList(sessions: await hub.sessions(principal: principal(context))))
        }
        router.get("/v1/sessions/:session") { _, context in
            try JSONBody.response(
                try await hub.session(
                    context.parameters.require("session"), principal: principal(context)))
        }
        router.delete("/v1/sessions/:session") { _, context in
            let session = try context.parameters.require("session")
            try await hub.signalling.views.stopLiveView(
                SessionReference(session, principal: principal(context)))
            await whepSessions.remove(session)
            return Response(status: .noContent)
        }
    }
}
