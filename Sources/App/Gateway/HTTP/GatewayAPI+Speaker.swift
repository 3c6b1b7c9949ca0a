import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import ServiceLifecycle
import Signalling

extension GatewayAPI {
    /// The response to `GET /v1/devices/{device}/speaker`.
    struct SpeakerAnswer: Codable, Sendable, Equatable {
        /// Nil for cameras that cannot measure what they play.
        var reading: SpeakerReading?
        /// The principal that holds the floor; nil if it is free.
        var talker: SpeakerSnapshot.Talker?
        /// The current talk.
        var talkback: TalkbackSnapshot?
        /// The clip that is playing or was played last.
        var clip: TalkClipSnapshot?
    }

    /// What `POST /v1/devices/{device}/speaker/clips` accepts instead of a WAV file.
    struct NamedClip: Codable, Sendable, Equatable {
        /// `chime`: the sound of a doorbell.
        var name: String
    }

    func addSpeakerRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/devices/:device/speaker") { request, context in
            let device = try deviceID(context)
            if let patience = try Self.clipPatience(request) {
                try await hub.requireDevice(device)
                // A clip that plays must not hold the end of the gateway up.
                await cancelWhenGracefulShutdown {
                    await hub.signalling.clips.waitForClip(of: device, atMost: patience)
                }
                // The token may have lost the right meanwhile, or the device may be elsewhere.
                try requireStill(authorization(context), .read, of: device)
            }
            let reading = try await hub.speakerReading(of: device)
            let speaker = try await self.speaker(of: device)
            return try JSONBody.response(
                SpeakerAnswer(
                    reading: reading, talker: speaker.talker, talkback: speaker.talkback, clip: speaker.clip))
        }
        router.post("/v1/devices/:device/speaker/clips") { request, context in
            let device = try deviceID(context)
            let principal = try self.principal(context)
            try await hub.requireDevice(device)
            let sound: TalkClip
            let body: Data
            if request.hasMediaType("application/json") {
                body = try await JSONBody.data(from: request)
                let clip = try JSONBody.decode(NamedClip.self, body)
                guard clip.name == "chime" else {
                    throw HomeError.invalidArgument("there is no clip with this name; the only one is chime")
                }
                sound = .chime
            } else {
                let bytes = try await request.bytes(
                    mediaTypes: ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"],
                    limit: TalkClip.maximumBytes)
                body = Data(bytes)
                sound = try TalkClip(wav: bytes)
            }
            return try await makeOnce("clip at \(device)", for: request, context, parameters: body) { [sound] in
                let clip = try await hub.signalling.clips.playClip(sound, deviceID: device, principal: principal)
                return try Made(clip, location: "/v1/devices/\(device)/speaker/clips/\(clip.id)")
            }
        }
        router.delete("/v1/devices/:device/speaker/clips/:clip") { _, context in
            let device = try deviceID(context)
            try await hub.requireDevice(device)
            try await hub.signalling.clips.stopClip(
                context.parameters.require("clip"), deviceID: device, principal: self.principal(context))
            return Response(status: .noContent)
        }
    }

    /// How many seconds a client may wait for the end of a clip: as long as a pull of events waits.
    private static let clipWaits = 1...Int(EventFeeds.waitSeconds)

    private static func clipPatience(_ request: Request) throws(HomeError) -> Duration? {
        guard let text = request.uri.queryParameters["wait"] else { return nil }
        guard let seconds = Int(text), clipWaits.contains(seconds) else {
            throw .invalidArgument(
                "wait: expected a whole number from \(clipWaits.lowerBound) to \(clipWaits.upperBound)")
        }
        return .seconds(seconds)
    }

    private func speaker(of device: String) async throws -> SpeakerSnapshot {
        do {
            return try await hub.signalling.clips.speaker(of: device)
        } catch {
            // Not as a pattern of `catch`: Swift 6.2 with assertions stops at that.
            guard case .unknownDevice = error else { throw error }
            // The camera of this device could not be made, so nobody talks to it.
            return SpeakerSnapshot()
        }
    }
}
