import Foundation
import HomeTypes

/// Requests that a client repeats because it does not know whether the first one arrived.
extension HomeHub {
    /// Makes an object of the home once for each idempotency key.
    /// - Parameters:
    ///   - what: what is made, and where.
    ///   - parameters: the request's body. A repetition must have the same.
    ///   - body: makes the object.
    /// - Returns: the object's identifier.
    /// - Throws: what `body` throws, and `invalidArgument` for a key that named another request before.
    public func make(
        _ what: String, by caller: Caller, parameters: Data,
        _ body: @escaping @Sendable () async throws(HomeError) -> String
    ) async throws(HomeError) -> String {
        guard let idempotencyKey = caller.idempotencyKey else { return try await body() }
        let key = CommandResults.Key(
            principal: caller.principal, deviceID: "", trait: "", command: what, idempotencyKey: idempotencyKey)
        let id = try await once(key, parameters: parameters) { () async throws(HomeError) in Data(try await body().utf8)
        }
        return String(decoding: id, as: UTF8.self)
    }

    /// Applies a request once for each idempotency key. A repetition gets the first result for ten minutes; one that
    /// arrives while the first request runs waits for its result.
    /// - Parameter isLate: fails when the caller has given up.
    func once(
        _ key: CommandResults.Key, parameters: Data, isLate: () throws(HomeError) -> Void = { () throws(HomeError) in },
        _ body: @escaping @Sendable () async throws(HomeError) -> Data
    ) async throws(HomeError) -> Data {
        guard (1...CommandResults.longestKey).contains(key.idempotencyKey.utf8.count) else {
            throw HomeError.invalidArgument(
                "the Idempotency-Key must have 1 to \(CommandResults.longestKey) characters")
        }
        if let known = try results.outcome(of: key, parameters: parameters, at: clock()) {
            return try await known.value.get()
        }
        try isLate()
        try results.makeRoom(at: clock())
        // A task of its own: the request is applied as a whole even if the caller leaves, because the caller may return
        // for the result.
        let outcome = CommandResults.Outcome {
            let result: Result<Data, HomeError>
            do throws(HomeError) {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            self.results.end(key, hasSucceeded: (try? result.get()) != nil, at: self.clock())
            return result
        }
        results.add(key, parameters: parameters, outcome)
        return try await outcome.value.get()
    }
}
