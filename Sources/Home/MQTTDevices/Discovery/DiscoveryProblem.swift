/// Why a discovery message, or one of its entities, does not become a device.
struct DiscoveryProblem: Error, Hashable, CustomStringConvertible {
    /// What is wrong, as a text that follows the entity's name.
    let description: String

    init(_ description: String) { self.description = description }
}
