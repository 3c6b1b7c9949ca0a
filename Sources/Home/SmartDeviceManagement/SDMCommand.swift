public import Foundation
public import HomeTypes

/// A command of the Smart Device Management API: the body of `devices/DEVICE:executeCommand`.
public enum SDMCommand: Sendable, Equatable {
    /// `CameraLiveStream.GenerateWebRtcStream` with the offer.
    case generateWebRtcStream(offer: String)
    /// `CameraLiveStream.ExtendWebRtcStream` with the media session.
    case extendWebRtcStream(session: String)
    /// `CameraLiveStream.StopWebRtcStream` with the media session.
    case stopWebRtcStream(session: String)
    /// `CameraEventImage.GenerateImage` with the event.
    case generateImage(event: String)

    private struct Body: Decodable {
        struct Parameters: Decodable {
            var offerSdp: String?
            var mediaSessionId: String?
            var eventId: String?
        }

        var command: String?
        var params: Parameters?
    }

    /// Reads a command. Its messages are those that clients of the API have seen.
    /// - Throws: `invalidArgument` for a body without a command or a required field, `unimplemented` for a command that
    ///   this gateway does not have.
    public init(json: Data) throws(HomeError) {
        let body: Body
        do {
            body = try JSONDecoder().decode(Body.self, from: json)
        } catch let error as DecodingError {
            throw HomeError(error, body: json)
        } catch {
            throw .invalidArgument("the body cannot be read")
        }
        let parameters = body.params
        func session() throws(HomeError) -> String {
            guard let session = parameters?.mediaSessionId, !session.isEmpty else {
                throw .invalidArgument("mediaSessionId value must be set. This is a required field.")
            }
            return session
        }
        switch body.command {
        case "sdm.devices.commands.CameraLiveStream.GenerateWebRtcStream":
            guard let offer = parameters?.offerSdp, !offer.isEmpty else {
                throw .invalidArgument("offerSdp value must be set. This is a required field.")
            }
            try Self.check(offer)
            self = .generateWebRtcStream(offer: offer)
        case "sdm.devices.commands.CameraLiveStream.ExtendWebRtcStream":
            self = .extendWebRtcStream(session: try session())
        case "sdm.devices.commands.CameraLiveStream.StopWebRtcStream":
            self = .stopWebRtcStream(session: try session())
        case "sdm.devices.commands.CameraEventImage.GenerateImage":
            guard let event = parameters?.eventId, !event.isEmpty else {
                throw .invalidArgument("eventId value must be set. This is a required field.")
            }
            self = .generateImage(event: event)
        case nil: throw .invalidArgument("command value must be set. This is a required field.")
        case let name?:
            throw .unimplemented("the command \(name.prefix(100).debugDescription) is not supported by this device")
        }
    }

    /// The offer must contain audio, video and a data channel, in that order. An offer without candidates is accepted:
    /// Google's service fails on it (500), but that is a fault of the service and not a rule.
    private static func check(_ offer: String) throws(HomeError) {
        let kinds = offer.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("m=") }.map {
            $0.dropFirst(2).prefix { $0 != " " }
        }
        guard kinds == ["audio", "video", "application"] else {
            throw .invalidArgument(
                "Invalid offer SDP: Offer must contain each of audio, video and application m lines in that order.")
        }
    }
}
