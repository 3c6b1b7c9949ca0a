import Cameras
import Foundation
import ONVIF
import Transport

extension CameraProbeAddress {
    /// Connects to the camera and watches what it sends, on a thread of its own: the probe waits for the camera, which must
    /// not block the threads of the concurrency runtime.
    /// - Parameters:
    ///   - configuration: for a camera that sends RTP.
    ///   - duration: how long to watch, from the first packet on.
    public func probe(
        configuration: RTSPSource.Configuration = .init(), duration: Duration
    ) async throws(Failure) -> CameraProbeReport {
        let result = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: Result<CameraProbeReport, Failure> { () throws(Failure) in
                        try watch(configuration: configuration, duration: duration)
                    })
            }
        }
        return try result.get()
    }

    /// Connects to the camera and watches what it sends. Blocks the calling thread during that time.
    /// - Parameters:
    ///   - configuration: for a camera that sends RTP.
    ///   - duration: how long to watch, from the first packet on.
    public func watch(
        configuration: RTSPSource.Configuration = .init(), duration: Duration
    ) throws(Failure) -> CameraProbeReport {
        switch target {
        case .rtsp(let url): return CameraProbe.run(url: url, configuration: configuration, duration: duration)
        case .pictures(let source): return CameraProbe.run(source, duration: duration)
        case .stream(let source): return CameraProbe.run(source, duration: duration)
        case .videoDevice(let source): return CameraProbe.run(source, duration: duration)
        case .onvif(let text):
            do {
                return try CameraProbe.run(onvif: text, configuration: configuration, duration: duration)
            } catch {
                throw Failure(description: "the address cannot be used: \(error)")
            }
        }
    }
}
