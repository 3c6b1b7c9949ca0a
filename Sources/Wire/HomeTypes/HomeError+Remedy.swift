extension HomeError {
    /// What to do about an error, in the words of each way to use the gateway. A person who types commands is not sent to
    /// a request, and a program is not sent to a command.
    public struct Remedy: Codable, Hashable, Sendable {
        /// For a program that sends requests, for example `GET /v1/devices lists them`.
        public var request: String
        /// For a person who types commands, for example `gatehouse devices lists them`.
        public var command: String

        /// Says the same in both wordings.
        public init(request: String, command: String) {
            self.request = request
            self.command = command
        }
    }

    /// The same error, with what to do about it.
    public func advising(request: String, command: String) -> HomeError {
        var copy = self
        copy.remedy = Remedy(request: request, command: command)
        return copy
    }

    /// What was wrong and what to do, for a program that sends requests.
    public var requestMessage: String { Self.joined(message, remedy?.request) }

    /// What was wrong and what to do, for a person who types commands.
    public var commandMessage: String { Self.joined(message, remedy?.command) }

    /// The message that ``requestMessage`` was made from.
    static func message(from requestMessage: String, without remedy: Remedy?) -> String {
        guard let remedy else { return requestMessage }
        let end = joined("", remedy.request)
        return requestMessage.hasSuffix(end) ? String(requestMessage.dropLast(end.count)) : requestMessage
    }

    private static func joined(_ message: String, _ remedy: String?) -> String {
        remedy.map { "\(message); \($0)" } ?? message
    }
}
