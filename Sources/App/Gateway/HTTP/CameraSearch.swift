import Cameras
import Foundation
import HTTPMedia
import HomeTypes
import ONVIF
import Transport

/// Searches the network for ONVIF cameras. Requests that come while a search runs share it, so that many of them send no more
/// than one.
actor CameraSearch {
    /// The response to `POST /v1/cameras/discover`.
    struct Answer: Codable, Sendable, Equatable {
        /// The cameras that have answered, by their addresses.
        var cameras: [Found]
    }

    /// A camera that has answered.
    struct Found: Codable, Sendable, Equatable {
        /// The name in the camera's own description.
        var name: String?
        /// The model.
        var model: String?
        /// Where it is, in its own words.
        var location: String?
        /// The address that it answered from.
        var address: String
        /// What `source` of its settings would be, without a user and a password.
        var source: String
        /// The key of the camera that has this address already; missing for a new one.
        var camera: String?
    }

    /// How long cameras may take to answer. They spread their answers, and the question is asked three times.
    static let duration = Duration.seconds(4)

    private let look: @Sendable () throws(ONVIFError) -> [ONVIFDiscovery.Camera]
    private var running: Task<[ONVIFDiscovery.Camera], any Error>?

    /// A search in all networks of this machine.
    /// - Parameter look: asks, and blocks until the answers have come; for tests.
    init(
        look: @escaping @Sendable () throws(ONVIFError) -> [ONVIFDiscovery.Camera] = { () throws(ONVIFError) in
            try ONVIFDiscovery.search(duration: CameraSearch.duration)
        }
    ) {
        self.look = look
    }

    /// Searches, or waits for the search that is running.
    func search() async throws(HomeError) -> [ONVIFDiscovery.Camera] {
        let task = running ?? begin()
        running = task
        do {
            return try await task.value
        } catch {
            throw .unavailable("cameras cannot be searched for: \(error)")
        }
    }

    private func begin() -> Task<[ONVIFDiscovery.Camera], any Error> {
        Task { [look] in
            defer { running = nil }
            return try await withCheckedThrowingContinuation { continuation in
                // It blocks for seconds, which must not block the threads of the concurrency runtime.
                Thread.detachNewThread { continuation.resume(with: Result { try look() }) }
            }
        }
    }
}

extension CameraSearch.Answer {
    /// The answers of cameras, with what is known of those that have been added.
    init(_ cameras: [ONVIFDiscovery.Camera], known: [GatewayConfiguration.Camera]) {
        let hosts = known.map { (key: $0.id, host: CameraAddress(text: $0.sourceText).host) }
        self.cameras = cameras.map { camera in
            CameraSearch.Found(
                name: camera.match.name, model: camera.match.hardware, location: camera.match.location,
                address: camera.host, source: Self.source(of: camera),
                camera: hosts.first { $0.host == camera.host }?.key)
        }.sorted { ($0.address, $0.source) < ($1.address, $1.source) }
    }

    /// The camera's device service as a source. It is at the address that the camera answered from, because what it says of its
    /// own address may be wrong, or lead elsewhere.
    private static func source(of camera: ONVIFDiscovery.Camera) -> String {
        var result = "onvif://" + (camera.host.contains(":") ? "[\(camera.host)]" : camera.host)
        let services = camera.match.addresses.compactMap { try? HTTPAddress.parse(onvif: $0).address }
        guard let service = services.first(where: { $0.host == camera.host && !$0.isSecure }) else { return result }
        if service.port != 80 { result += ":\(service.port)" }
        if service.path != HTTPAddress.devicePath { result += service.path }
        return result
    }
}
