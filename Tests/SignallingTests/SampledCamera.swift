import Cameras
import Foundation
import SDP

@testable import Signalling
@testable import Stations

/// A camera as the RTSP client reads it from its description.
struct SampledCamera {
    var name: String
    var tracks: [TrackDescription]
    var speaks: Bool

    init(_ path: String) throws {
        let offering = CameraOffering(try SessionDescription(parsing: ServiceWorld.text(path)))
        (name, tracks, speaks) = (path, offering.tracks, offering.hasSpeaker)
    }

    private init() { (name, tracks, speaks) = ("built-in", BuiltInCamera.tracks, true) }

    static let builtIn = SampledCamera()

    func negotiation(transcodesVideo: Bool) -> LiveViewNegotiation {
        LiveViewNegotiation(camera: "door", tracks: tracks, speaks: speaks, transcodesVideo: transcodesVideo)
    }

    /// The built-in camera and one of each kind among the samples.
    static func all() throws -> [SampledCamera] {
        var cameras = [builtIn]
        for path in try ServiceWorld.samples(in: "cameras") {
            let camera = try SampledCamera(path)
            let isNew = !cameras.contains {
                $0.speaks == camera.speaks
                    && $0.tracks.map(\.codec.summary) == camera.tracks.map(\.codec.summary)
            }
            if isNew, !camera.tracks.isEmpty { cameras.append(camera) }
        }
        return cameras
    }
}

extension ServiceWorld {
    /// The paths of all descriptions in a folder of the samples.
    static func samples(in folder: String) throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "sdp-samples")
        return try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".sdp") }.sorted().map { folder + "/" + $0 }
    }
}
