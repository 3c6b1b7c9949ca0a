/// Why a discovery message, or one entity of it, gives no device.
struct DiscoveryProblem: Error, Hashable, CustomStringConvertible {
    /// What is wrong, in words that follow the entity's name.
    let description: String

    init(_ description: String) { self.description = description }
}
