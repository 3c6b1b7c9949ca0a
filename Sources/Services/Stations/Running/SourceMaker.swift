import Cameras
import ONVIF
import RTSP

/// Makes the sources that the config asks for.
public struct SourceMaker: Sendable {
    /// Why a camera cannot be made.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What is wrong and what to do; holds no password.
        public var description: String

        /// Says what is wrong.
        public init(description: String) { self.description = description }
    }

    let profiles: ProfileStore
    let masksSecrets: @Sendable (String) -> String

    /// Sources begin with what the store knows, and report to it what they learn.
    /// - Parameter masksSecrets: gives a camera's address without the secrets in it.
    public init(profiles: ProfileStore, masksSecrets: @escaping @Sendable (String) -> String) {
        self.profiles = profiles
        self.masksSecrets = masksSecrets
    }

    /// The source of a camera; it does not run yet.
    public func source(for camera: CameraSettings) throws(Failure) -> any CameraSource {
        let main: any CameraSource
        switch camera.source {
        case .builtInDoorbell:
            return BuiltInCamera(BuiltInCamera.Configuration(name: camera.name))
        case .builtInSilent:
            return BuiltInCamera(
                BuiltInCamera.Configuration(name: camera.name, isDoorbell: false, hasSound: false))
        case .rtsp(let url):
            main = try source(url, of: camera, key: camera.id)
        case .onvif(let url):
            // A camera with one stream has to send what most viewers play.
            let whole = try onvifSource(url, of: camera, stream: camera.substream == nil ? .best : .main)
            if case .ofDevice? = camera.substream {
                let key = ProfileStore.substreamKey(of: camera.id)
                return MultiStreamSource(
                    main: whole,
                    substream: ONVIFSource(substreamOf: whole, makeSource: streamMaker(url, of: camera, key: key)))
            }
            main = whole
        case .pictures(let url):
            return try pictureSource(url, of: camera)
        case .stream(let url):
            return try streamSource(url, of: camera)
        case .videoDevice(let text):
            return try deviceSource(text, of: camera)
        case .published:
            return PublishedSource()
        }
        guard let substream = camera.substream else { return main }
        let key = ProfileStore.substreamKey(of: camera.id)
        switch substream {
        case .ofDevice:
            throw Failure(description: "\(camera.id) has no ONVIF source that could name a substream")
        case .rtsp(let url):
            return MultiStreamSource(main: main, substream: try source(url, of: camera, key: key))
        }
    }

    /// A camera that is asked by ONVIF for its stream's address.
    private func onvifSource(
        _ text: String, of camera: CameraSettings, stream: ONVIFSource.Stream
    ) throws(Failure) -> ONVIFSource {
        let makeSource = streamMaker(text, of: camera, key: camera.id)
        do {
            return try ONVIFSource(address: text, stream: stream, makeSource: makeSource)
        } catch {
            throw Failure(description: "the source of \(camera.id) is not an ONVIF address: \(error)")
        }
    }

    /// Makes the sources of the streams that a camera names by ONVIF. What is learned about a stream is kept like that of
    /// a camera whose address is in the config.
    private func streamMaker(
        _ text: String, of camera: CameraSettings, key: String
    ) -> @Sendable (RTSPURL) -> any CameraSource {
        let (profiles, masksSecrets) = (self.profiles, self.masksSecrets)
        var settings = RTSPSource.Configuration(camera)
        // A user who chose HTTPS does not want the password in the clear, whatever address the camera names.
        settings.refusesBasic = text.lowercased().hasPrefix("https://")
        return { [settings] url in
            let address = masksSecrets(url.description)
            var configuration = settings
            configuration.profile = profiles.profile(ofMoving: key, at: address)
            return RTSPSource(url: url, configuration: configuration) { profile in
                profiles.record(profile, of: key, at: address)
            }
        }
    }

    private func pictureSource(_ text: String, of camera: CameraSettings) throws(Failure) -> PictureSource {
        let address = masksSecrets(text)
        var configuration = PictureSource.Configuration()
        configuration.framesPerSecond = camera.framesPerSecond
        configuration.profile = self.profiles.profile(of: camera.id, at: address)
        let (profiles, id) = (self.profiles, camera.id)
        do {
            return try PictureSource(address: text, configuration: configuration) { profile in
                profiles.record(profile, of: id, at: address)
            }
        } catch {
            // The address may hold a password, so it is not repeated here.
            throw Failure(description: "the source of \(camera.id) is not an HTTP address: \(error)")
        }
    }

    private func streamSource(_ text: String, of camera: CameraSettings) throws(Failure) -> StreamSource {
        let address = masksSecrets(text)
        var configuration = StreamSource.Configuration()
        configuration.profile = self.profiles.profile(of: camera.id, at: address)
        let (profiles, id) = (self.profiles, camera.id)
        do {
            return try StreamSource(address: text, configuration: configuration) { profile in
                profiles.record(profile, of: id, at: address)
            }
        } catch {
            // As above.
            throw Failure(description: "the source of \(camera.id) is not the address of a stream: \(error)")
        }
    }

    private func deviceSource(_ text: String, of camera: CameraSettings) throws(Failure) -> VideoDeviceSource {
        var configuration = VideoDeviceSource.Configuration()
        if let rate = camera.framesPerSecond { configuration.framesPerSecond = rate }
        do {
            return VideoDeviceSource(address: try VideoDeviceAddress(text), configuration: configuration)
        } catch {
            throw Failure(description: "the source of \(camera.id) is not a camera of this machine: \(error)")
        }
    }

    private func source(
        _ text: String, of camera: CameraSettings, key: String
    ) throws(Failure) -> RTSPSource {
        let url: RTSPURL
        do {
            url = try RTSPURL(parsing: text)
        } catch {
            // The address may hold a password, so it is not repeated here.
            throw Failure(description: "the source or the substream of \(camera.id) is not an RTSP address: \(error)")
        }
        let address = masksSecrets(url.description)
        var configuration = RTSPSource.Configuration(camera)
        configuration.profile = self.profiles.profile(of: key, at: address)
        let profiles = self.profiles
        return RTSPSource(url: url, configuration: configuration) { profile in
            profiles.record(profile, of: key, at: address)
        }
    }
}
