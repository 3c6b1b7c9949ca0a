/// A group of fields that the vocabulary declares: attributes, a command, a response, an event or a struct.
public protocol VocabularyRecord: Sendable, Codable, Hashable {
    /// Checks the constraints that the vocabulary gives to the fields.
    /// - Parameter path: where the value is in the message, for the error; empty for the whole of it.
    /// - Throws: `invalidArgument`, which names the field and what it may be.
    func validate(at path: String) throws(HomeError)
}

extension VocabularyRecord {
    public func validate(at path: String) throws(HomeError) {}

    /// Checks a whole message.
    public func validate() throws(HomeError) { try self.validate(at: "") }
}

/// A message without fields: the empty object.
public struct NoFields: VocabularyRecord {
    /// Creates the empty object.
    public init() {}
}
