import Cameras
import ONVIF
import RTSP

/// Makes the sources that the config asks for.
struct SourceMaker: Sendable {
    /// Why a camera cannot be made.
    struct Failure: Error, Sendable, CustomStringConvertible {
        /// What is wrong and what to do; holds no password.
        var description: String
    }

    let profiles: ProfileStore

    /// The source of a camera; it does not run yet.
    func source(for camera: GatewayConfiguration.Camera) throws(Failure) -> any CameraSource {
        let main: any CameraSource
        switch camera.source {
        case .builtInDoorbell:
            return BuiltInCamera(BuiltInCamera.Configuration(name: camera.name))
        case .builtInSilent:
            return BuiltInCamera(
                BuiltInCamera.Configuration(name: camera.name, isDoorbell: false, hasSound: false))
        case .rtsp(let url):
            main = try self.source(url, of: camera, key: camera.id)
        case .onvif(let url):
            main = try self.onvifSource(
                url, of: camera, stream: camera.asksForSubstream ? .main : .best, key: camera.id)
        case .whip:
            return WHIPSource()
        }
        guard let substream = camera.substream else { return main }
        let key = ProfileStore.substreamKey(of: camera.id)
        if camera.asksForSubstream, case .onvif(let url) = camera.source {
            return MultiStreamSource(
                main: main, substream: try self.onvifSource(url, of: camera, stream: .sub, key: key))
        }
        return MultiStreamSource(main: main, substream: try self.source(substream, of: camera, key: key))
    }

    /// A camera that is asked by ONVIF for its stream's address. What is learned about the stream is kept like that of
    /// a camera whose address is in the config.
    private func onvifSource(
        _ text: String, of camera: GatewayConfiguration.Camera, stream: ONVIFSource.Stream, key: String
    ) throws(Failure) -> ONVIFSource {
        let profiles = self.profiles
        var settings = RTSPSource.Configuration(camera)
        // A user who chose HTTPS does not want the password in the clear, whatever address the camera names.
        settings.refusesBasic = text.lowercased().hasPrefix("https://")
        do {
            return try ONVIFSource(address: text, stream: stream) { [settings] url in
                let address = CameraAddress(text: url.requestURI).masked
                var configuration = settings
                configuration.profile = profiles.profile(ofMoving: key, at: address)
                return RTSPSource(url: url, configuration: configuration) { profile in
                    profiles.note(profile, of: key, at: address)
                }
            }
        } catch {
            throw Failure(description: "the source of \(camera.id) is no ONVIF address: \(error)")
        }
    }

    private func source(
        _ text: String, of camera: GatewayConfiguration.Camera, key: String
    ) throws(Failure) -> RTSPSource {
        let url: RTSPURL
        do {
            url = try RTSPURL(parsing: text)
        } catch {
            // The address may hold a password, so it is not repeated here.
            throw Failure(description: "the source or the substream of \(camera.id) is no RTSP address: \(error)")
        }
        let address = CameraAddress(text: url.requestURI).masked
        var configuration = RTSPSource.Configuration(camera)
        configuration.profile = self.profiles.profile(of: key, at: address)
        let profiles = self.profiles
        return RTSPSource(url: url, configuration: configuration) { profile in
            profiles.note(profile, of: key, at: address)
        }
    }
}
