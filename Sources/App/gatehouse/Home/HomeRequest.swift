import Foundation
import GatewayClient
import HomeTypes

/// Requests of commands that change the home.
enum HomeRequest {
    /// Sends an object as JSON. A request that has to be repeated takes effect once.
    /// - Returns: the body of the response.
    static func send(
        _ method: GatewayRequest.Method, _ path: String, _ fields: [String: JSONObject.Value],
        _ connection: GatewayConnection
    ) async throws(HomeError) -> Data {
        var object = JSONObject()
        object.members = fields
        let body: Data
        do { body = try JSONEncoder().encode(object) } catch {
            throw .invalidArgument("the values cannot be written as JSON: \(error)")
        }
        var request = GatewayRequest(method, path, body: body)
        if method == .post { request.idempotencyKey = UUID().uuidString }
        return try await connection.send(request).body
    }
}
