import Foundation
import HomeTypes
import Hummingbird

extension GatewayAPI {
    /// The response to `GET /v1/configuration/settings`.
    struct SettingsAnswer: Codable, Sendable, Equatable {
        /// The config file, or where it would be.
        var file: String
        /// Whether the gateway was started with that file.
        var hasFile: Bool
        /// What the file says, by its keys, with every default and without secrets.
        var settings: JSONObject
    }

    /// The response to `POST /v1/configuration/check`.
    struct CheckAnswer: Codable, Sendable, Equatable {
        struct Problem: Codable, Sendable, Equatable {
            /// The path of keys, for example `mqtt.port`.
            var key: String
            /// What is wrong and what would be right.
            var reason: String
        }

        /// Empty for a draft that the gateway would accept.
        var problems: [Problem]
    }

    /// The settings of the config file. The gateway never writes that file: it shows what is in it, and checks what somebody
    /// wants to write.
    func addConfigurationRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/configuration/settings") { _, _ in
            let settings = await keeper.current.shownSettings
            return try JSONBody.response(
                SettingsAnswer(
                    file: keeper.file ?? StandardConfigurationFile.path(environment: keeper.environment),
                    hasFile: keeper.file != nil, settings: settings))
        }
        router.post("/v1/configuration/check") { request, _ in
            guard let draft = ConfigurationDraft(json: try await JSONBody.data(from: request)) else {
                throw HomeError.invalidArgument("the body is not a JSON object")
            }
            let problems = draft.problems.map { CheckAnswer.Problem(key: $0.key, reason: $0.reason) }
            return try JSONBody.response(CheckAnswer(problems: problems))
        }
    }
}
