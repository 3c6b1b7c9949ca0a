import HomeTypes
import Transport

/// Limits how many simulations run at once: each reads everything that was recorded, and keeps a processor busy.
final class SimulationPlaces: Sendable {
    /// How many run at once.
    static let count = 2

    private let taken = Locked(0)

    /// Runs something in a place.
    /// - Throws: `resourceExhausted` when all places are taken, and what the body throws.
    func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let isFree = taken.withLock { taken in
            guard taken < Self.count else { return false }
            taken += 1
            return true
        }
        guard isFree else {
            throw HomeError.resourceExhausted(
                "\(Self.count) simulations are already running; try again in a few seconds")
        }
        defer { taken.withLock { $0 -= 1 } }
        return try await body()
    }
}
