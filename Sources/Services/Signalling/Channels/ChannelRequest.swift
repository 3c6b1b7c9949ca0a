import Foundation

/// A request that came on a data channel: `{"id":1,"method":"startTalkback","params":{…}}`.
struct ChannelRequest {
    /// The client's name of the request, as JSON.
    let id: String
    let method: String
    let parameters: [String: Any]

    /// Reads a request.
    /// - Throws: what is wrong with it, with the request's id if it could be read.
    init(_ text: String) throws(Refusal) {
        // It throws for deep nesting too.
        guard let value = try? JSONSerialization.jsonObject(with: Data(text.utf8)), let object = value as? [String: Any]
        else { throw Refusal(id: "null", "the message is not a JSON object") }
        switch object["id"] {
        case let text as String where text.utf8.count <= Self.longestID: id = ChannelMessage.text(of: text)
        case let number as Int: id = "\(number)"
        default:
            throw Refusal(
                id: "null", "id must be an integer, or a text of at most \(Self.longestID) bytes; answers repeat it")
        }
        guard let method = object["method"] as? String else {
            throw Refusal(id: id, "method must be the name of a command, for example startTalkback")
        }
        self.method = method
        switch object["params"] {
        case nil, is NSNull: parameters = [:]
        case let given as [String: Any]: parameters = given
        default: throw Refusal(id: id, "params must be an object")
        }
    }

    private static let longestID = 128

    /// The commands of the trait `WebRtcLiveView` that a session may send for itself.
    static let commands: Set<String> = [
        "startTalkback", "stopTalkback", "extendLiveView", "changeLiveViewQuality", "stopLiveView",
    ]

    /// The parameters of the command for a session, as its HTTP request has them.
    func body(of mediaSessionId: String) -> Data? {
        var parameters = parameters
        parameters["mediaSessionId"] = mediaSessionId
        return try? JSONSerialization.data(withJSONObject: parameters)
    }

    /// A message that is not a request.
    struct Refusal: Error {
        let id: String
        let message: String

        init(id: String, _ message: String) {
            self.id = id
            self.message = message
        }
    }
}

/// A command that a viewer sends on a data channel of its session.
public struct ChannelCommand: Sendable {
    /// The session, whose principal sends the command.
    public var mediaSessionId: String
    /// The device that is watched.
    public var deviceID: String
    /// The principal that started the session.
    public var principal: String
    /// The name of a command of the trait `WebRtcLiveView`.
    public var name: String
    /// Its parameters as JSON.
    public var parameters: Data
}

/// Why a command was not applied. It is written as the errors of the HTTP API are.
public struct ChannelRefusal: Error, Encodable, Sendable {
    /// The number of the error's code.
    public var code: Int
    /// The name of the error's code, for example `NOT_FOUND`.
    public var status: String
    /// What was wrong.
    public var message: String

    /// Describes a refusal.
    public init(code: Int, status: String, message: String) {
        self.code = code
        self.status = status
        self.message = message
    }

    /// The gateway does not take commands at the moment.
    public static let unavailable = ChannelRefusal(
        code: 14, status: "UNAVAILABLE", message: "the gateway does not accept commands now; try again later")

    /// The message is not a request.
    static func invalid(_ message: String) -> ChannelRefusal {
        ChannelRefusal(code: 3, status: "INVALID_ARGUMENT", message: message)
    }

    /// The method does not exist.
    static func unknownMethod(known: [String]) -> ChannelRefusal {
        ChannelRefusal(
            code: 5, status: "NOT_FOUND",
            message: "the method does not exist; the methods are \(known.joined(separator: ", "))")
    }

    /// Too many requests are under way.
    static func tooMany(limit: Int) -> ChannelRefusal {
        ChannelRefusal(
            code: 8, status: "RESOURCE_EXHAUSTED",
            message: "\(limit) requests are under way; wait for an answer before the next one")
    }
}
