import Cameras
import Foundation
import HTTPMedia
import RTSP

/// The address of a camera to probe, as it was typed.
public struct CameraProbeAddress: Sendable {
    /// Why an address cannot be probed; holds no password.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What is wrong and what would be right.
        public var description: String
    }

    /// The text that was typed.
    public let typed: String
    /// The text with `${NAME}` replaced by the environment's values. Never print it.
    public let expanded: String
    /// What is probed.
    public let target: Target

    /// A camera that can be probed.
    public enum Target: Sendable {
        /// A camera with an RTSP address.
        case rtsp(RTSPURL)
        /// A camera that sends JPEG pictures over HTTP.
        case pictures(PictureSource)
        /// A camera that sends a stream other than RTP.
        case stream(StreamSource)
        /// A camera of this machine.
        case videoDevice(VideoDeviceSource)
        /// A camera that is asked by ONVIF where its stream is. The text may hold a password.
        case onvif(String)
    }

    /// Reads an address with the rules of the config's `source`: a URL, or a camera of this machine.
    public init(
        _ typed: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(Failure) {
        let camera: GatewayConfiguration.Camera
        do {
            camera = try .init(
                id: "camera", checking: CameraEntry(values: ["source": .text(typed)]), environment: environment)
        } catch {
            throw Failure(description: error.problems.map(\.reason).joined(separator: "; "))
        }
        do {
            switch camera.source {
            case .rtsp(let text):
                target = .rtsp(try RTSPURL(parsing: text))
                expanded = text
            case .pictures(let text):
                target = .pictures(try PictureSource(address: text))
                expanded = text
            case .stream(let text):
                target = .stream(try StreamSource(address: text))
                expanded = text
            case .videoDevice(let text):
                target = .videoDevice(VideoDeviceSource(address: try VideoDeviceAddress(text)))
                expanded = text
            case .onvif(let text):
                target = .onvif(text)
                expanded = text
            case .builtInDoorbell, .builtInSilent, .publisher:
                throw Failure(description: "expected the URL of a camera, or v4l2:/dev/video0")
            }
        } catch let failure as Failure {
            throw failure
        } catch HTTPAddressError.invalidAddress(let reason) {
            throw Failure(description: "the URL cannot be used: \(reason)")
        } catch {
            throw Failure(description: "the URL cannot be used: \(error)")
        }
        self.typed = typed
    }
}
