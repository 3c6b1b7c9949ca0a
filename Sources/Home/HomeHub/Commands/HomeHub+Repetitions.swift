import Foundation
import HomeTypes

/// Requests that a client repeats because it does not know whether the first one arrived.
extension HomeHub {
    /// Creates an object of the home once for each idempotency key.
    /// - Parameters:
    ///   - what: what is created, and where.
    ///   - parameters: the request's body. A repetition must have the same.
    ///   - body: creates the object.
    /// - Returns: the object's identifier.
    /// - Throws: what `body` throws, and `invalidArgument` for a key that named another request before.
    public func make(
        _ what: String, by caller: Caller, parameters: Data,
        _ body: @escaping @Sendable () async throws(HomeError) -> String
    ) async throws(HomeError) -> String {
        guard let idempotencyKey = caller.idempotencyKey else { return try await body() }
        let key = CommandResults.Key(
            principal: caller.principal, deviceID: "", trait: "", command: what, idempotencyKey: idempotencyKey)
        let id = try await once(key, parameters: parameters, isKept: true) { () async throws(HomeError) in
            Data(try await body().utf8)
        }
        return String(decoding: id, as: UTF8.self)
    }

    /// Answers a request once for each idempotency key. The answer is forgotten when the gateway ends.
    /// - Parameters:
    ///   - what: what the request is for.
    ///   - parameters: the request's body. A repetition must have the same.
    ///   - body: answers it.
    /// - Throws: what `body` throws, and `invalidArgument` for a key that named another request before.
    public func answerOnce(
        _ what: String, by caller: Caller, parameters: Data,
        _ body: @escaping @Sendable () async throws(HomeError) -> Data
    ) async throws(HomeError) -> Data {
        guard let idempotencyKey = caller.idempotencyKey else { return try await body() }
        let key = CommandResults.Key(
            principal: caller.principal, deviceID: "", trait: "", command: what, idempotencyKey: idempotencyKey)
        return try await once(key, parameters: parameters, isKept: false, body)
    }

    /// Applies a request once for each idempotency key. A repetition gets the first result for ten minutes; one that
    /// arrives while the first request runs waits for its result.
    /// - Parameters:
    ///   - isKept: whether the result survives a restart of the gateway.
    ///   - isLate: throws if the caller has given up.
    func once(
        _ key: CommandResults.Key, parameters: Data, isKept: Bool,
        isLate: () throws(HomeError) -> Void = { () throws(HomeError) in },
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
        try results.makeRoom(for: key.principal, at: clock())
        // A task of its own: the request is applied as a whole even if the caller leaves, because the caller may return
        // for the result.
        let outcome = CommandResults.Outcome {
            // The start of a command is on the disk before the command runs, so a gateway that ends in between does not
            // apply it again.
            let kept = isKept ? key.kept(parameters, at: self.now()) : nil
            if let kept { await self.keep(kept) }
            let result: Result<Data, HomeError>
            do throws(HomeError) {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            if var kept {
                kept.result = try? result.get()
                await self.keep(kept, hasSucceeded: kept.result != nil)
            }
            self.results.end(key, hasSucceeded: (try? result.get()) != nil, at: self.clock())
            return result
        }
        results.add(key, parameters: parameters, outcome)
        return try await outcome.value.get()
    }

    /// Keeps a result, or forgets a command that failed. If the disk fails, the log has already reported that, and the
    /// result counts until the gateway ends.
    private func keep(_ result: KeptResult, hasSucceeded: Bool = true) async {
        if hasSucceeded { try? await log.keep(result) } else { try? await log.forget(result) }
    }
}

extension CommandResults.Key {
    fileprivate func kept(_ parameters: Data, at time: Date) -> KeptResult {
        KeptResult(
            principal: principal, deviceID: deviceID, endpoint: endpoint, trait: trait, command: command,
            idempotencyKey: idempotencyKey, parameters: CommandResults.fingerprint(parameters), result: nil, time: time)
    }
}
