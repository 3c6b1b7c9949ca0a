import Foundation
import GatewayClient
import HomeTypes

extension HomeModel {
    /// Sends a request and reads its answer. A request that creates something takes effect once, even if it is
    /// repeated.
    func request<Answer: Decodable>(
        _ method: GatewayRequest.Method, _ path: String, _ body: (some Encodable & Sendable)?
    ) async throws(HomeError) -> Answer {
        let data = try await send(method, path, body)
        do {
            return try JSONDecoder().decode(Answer.self, from: data)
        } catch {
            throw .parseError("the gateway's answer to \(method.rawValue) \(path) cannot be read: \(error)")
        }
    }

    /// Sends a request without a body and reads its answer.
    func request<Answer: Decodable>(_ method: GatewayRequest.Method, _ path: String) async throws(HomeError) -> Answer {
        try await request(method, path, NoFields?.none)
    }

    /// Sends a request without a body, whose answer does not matter.
    func request(_ method: GatewayRequest.Method, _ path: String) async throws(HomeError) {
        _ = try await send(method, path, NoFields?.none)
    }

    private func send(
        _ method: GatewayRequest.Method, _ path: String, _ body: (some Encodable & Sendable)?
    ) async throws(HomeError) -> Data {
        var data: Data?
        if let body {
            do {
                data = try JSONEncoder().encode(body)
            } catch {
                throw .encodingFailed("the request \(method.rawValue) \(path) cannot be written as JSON: \(error)")
            }
        }
        var request = GatewayRequest(method, path, body: data)
        request.timeout = configuration.commandTimeout
        // A request that creates something has a body, and the gateway recognizes its repetition by its key.
        guard method == .post, data != nil else { return try await connection.send(request).body }
        request.idempotencyKey = UUID().uuidString
        return try await connection.sendRepeatedly(request).body
    }
}
