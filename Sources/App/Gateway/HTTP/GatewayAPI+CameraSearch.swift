import Cameras
import Foundation
import HomeTypes
import Hummingbird
import Transport

/// Finds cameras in the network, and tries one before it is added. Both connect to addresses inside of the network, so they need
/// the same scope as adding a camera, and reach nothing that a camera's settings could not name.
extension GatewayAPI {
    /// The response to `POST /v1/cameras/probe`: what a camera sends, without its password.
    struct ProbeAnswer: Codable, Sendable, Equatable {
        /// The address without credentials.
        var address: String
        /// Whether media arrived.
        var reached: Bool
        /// Why nothing arrived, in words; missing where media arrived.
        var failure: String?
        /// What kind of failure that is; missing where media arrived.
        var cause: CameraSourceCause?
        /// Seconds until the first packet.
        var secondsToFirstPacket: Double?
        /// The tracks, video first.
        var tracks: [ProbedCamera.Track]
        /// What the camera's speaker accepts; empty if it describes none.
        var speaker: [String]
        /// In words, what viewers will get.
        var viewers: [String]
        /// In words, which parts of the description are not pulled, and why.
        var notes: [String]
        /// Whether a camera that is asked by ONVIF has a smaller stream, which was not watched; missing for others.
        var hasSubstream: Bool?

        init(_ camera: ProbedCamera) {
            self.address = camera.address
            self.reached = camera.reached
            self.failure = camera.failure
            self.cause = camera.cause
            self.secondsToFirstPacket = camera.secondsToFirstPacket
            self.tracks = camera.tracks
            self.speaker = camera.speaker
            self.viewers = camera.viewers
            self.notes = camera.notes
            self.hasSubstream = camera.hasSubstream
        }
    }

    /// How long a camera is watched that is tried on the page: long enough for two key frames of most cameras.
    private static let probeDuration = Duration.seconds(3)

    func addCameraSearchRoutes(to router: Router<GatewayRequestContext>) {
        router.post("/v1/cameras/discover") { _, context in
            let known = await keeper.entries.map(\.camera)
            return try JSONBody.response(
                CameraSearch.Answer(try await cameraSearch.search(), known: known))
        }
        router.post("/v1/cameras/probe") { request, context in
            let settings = try await Self.cameraEntry(request)
            let address = try await keeper.probeAddress(of: settings)
            let place = try probePlaces.take(for: principal(context))
            defer { withExtendedLifetime(place) {} }
            var configuration = RTSPSource.Configuration()
            if case .text(let word)? = settings.values["transport"] {
                guard let transport = CameraTransport(rawValue: word) else {
                    throw HomeError.invalidArgument("transport: expected one of auto, tcp, udp, http")
                }
                configuration.transport = transport
            }
            let report: CameraProbeReport
            do {
                report = try await address.probe(configuration: configuration, duration: Self.probeDuration)
            } catch let failure as CameraProbeAddress.Failure {
                throw HomeError.invalidArgument("source: \(failure)")
            }
            return try JSONBody.response(
                ProbeAnswer(ProbedCamera(report, typed: address.typed, expanded: address.expanded)))
        }
    }
}
