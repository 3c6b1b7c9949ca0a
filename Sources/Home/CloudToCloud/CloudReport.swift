public import Foundation

/// The messages of report state and request sync.
///
/// Source: HomeGraph reference, `devices.reportStateAndNotification` and `devices.requestSync`.
public struct CloudReport: Sendable, Equatable {
    /// The path below the address of the service.
    public var path: String
    /// The body.
    public var body: JSONValue

    /// Writes a message.
    /// - Parameters:
    ///   - user: names the account, as in the response to SYNC.
    ///   - requestID: names the message.
    public init(_ message: CloudReportQueue.Message, user: String, requestID: String) {
        switch message {
        case .requestSync:
            self.path = "/devices:requestSync"
            self.body = .object(["agentUserId": .string(user), "async": .bool(true)])
        case .states(let states):
            self.path = "/devices:reportStateAndNotification"
            self.body = .object([
                "requestId": .string(requestID), "agentUserId": .string(user),
                "payload": .object(["devices": .object(["states": .object(states)])]),
            ])
        }
    }

    /// The body as JSON.
    /// - Throws: `EncodingError` for a number that is not finite. States do not contain such numbers.
    public func json() throws -> Data { try JSONEncoder().encode(body) }
}
