import Foundation
import HomeTypes

/// Bodies of the API of go2rtc, as its documentation and Home Assistant's client (go2rtc-client 0.4) have them.
enum Go2RTC {
    /// The version whose API this is. Home Assistant wants 1.9.13 or later, and earlier than 2.
    static let version = "1.9.14"
    /// What the address of a known camera can begin with.
    static let schemes = ["http", "https", "onvif", "rtmp", "rtmps", "rtsp", "rtsps", "rtspx", "tcp", "udp"]

    struct Information: Codable, Equatable { var version: String }

    struct Producer: Codable, Equatable { var url: String }

    struct Stream: Codable, Equatable { var producers: [Producer] }

    /// An offer or an answer.
    struct Description: Codable, Equatable {
        /// `offer` or `answer`.
        var type: String
        var sdp: String
    }

    /// A message of the WebSocket: its type, and a value whose form depends on it.
    struct Message: Equatable {
        enum Value: Equatable {
            case text(String)
            case description(Description)
        }

        var type: String
        var value: Value?

        init(_ type: String, _ value: Value? = nil) {
            self.type = type
            self.value = value
        }

        /// Reads a message. Everything that is not used, such as the browser's ICE servers, is ignored.
        init?(json: String) {
            guard let object = try? JSONDecoder().decode(Form.self, from: Data(json.utf8)) else { return nil }
            self = object.message
        }

        var json: String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            // Strings can always be encoded.
            return (try? encoder.encode(Form(message: self))).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        }
    }

    private struct Form: Codable {
        let message: Message

        private enum Keys: String, CodingKey { case type, value }

        init(message: Message) { self.message = message }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            var message = Message(try container.decode(String.self, forKey: .type))
            if let text = try? container.decode(String.self, forKey: .value) {
                message.value = .text(text)
            } else if let description = try? container.decode(Description.self, forKey: .value) {
                message.value = .description(description)
            }
            self.message = message
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(message.type, forKey: .type)
            switch message.value {
            case .text(let text): try container.encode(text, forKey: .value)
            case .description(let description): try container.encode(description, forKey: .value)
            case nil: break
            }
        }
    }
}
