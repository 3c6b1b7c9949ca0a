/// Why an answer to a question of `gatehouse setup` cannot be used. It holds no password.
public struct SetupMisunderstanding: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
}
