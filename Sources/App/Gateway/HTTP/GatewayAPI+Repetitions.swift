import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import Signalling

/// Requests that a client repeats because it does not know whether the first one arrived.
extension GatewayAPI {
    /// What a request has made.
    struct Made: Codable, Sendable {
        /// The object as JSON.
        var body: Data
        /// Where it is; nil for what has no address.
        var location: String?
        /// The object's version; nil for what has none.
        var entityTag: String?

        /// Describes what was made.
        init(_ value: some Encodable, location: String? = nil, entityTag: String? = nil) throws {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            body = try encoder.encode(value)
            self.location = location
            self.entityTag = entityTag
        }

        /// The response, 201.
        var response: Response {
            var response = JSONBody.response(json: body, status: .created)
            response.headers[.location] = location
            response.headers[.eTag] = entityTag
            return response
        }
    }

    /// Makes something once for each idempotency key. A repetition gets the first response for ten minutes, unless the gateway
    /// is restarted: responses may hold secrets, which are not kept on the disk.
    /// - Parameters:
    ///   - what: what is made, and where.
    ///   - parameters: the request's body. A repetition must have the same.
    func makeOnce(
        _ what: String, for request: Request, _ context: GatewayRequestContext, parameters: Data,
        _ make: @escaping @Sendable () async throws -> Made
    ) async throws -> Response {
        let caller = try caller(request, context)
        guard caller.idempotencyKey != nil else { return try await make().response }
        let data = try await hub.answerOnce(what, by: caller, parameters: parameters) {
            () async throws(HomeError) in
            do {
                return try JSONEncoder().encode(try await make())
            } catch let error as HomeError {
                throw error
            } catch let error as SignallingError {
                throw HomeError(error)
            } catch let error as HTTPFailure {
                throw error.error
            } catch {
                throw .internal("\(what) failed: \(error)")
            }
        }
        return try JSONDecoder().decode(Made.self, from: data).response
    }
}
