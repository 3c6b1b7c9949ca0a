import DatagramPort
import HTTPMedia
import ONVIF
import Transport
import XML

/// Asks a device for its settings, and changes them. It blocks the calling thread, until its deadline at the
/// latest.
struct SettingsConversation {
    /// Where a device keeps its settings, and what it offers.
    struct Place: Sendable {
        /// The imaging service; nil where none of its settings is offered.
        var imaging: HTTPAddress?
        var media: HTTPAddress
        /// The token of the video source.
        var source = ""
        /// The token of its configuration; nil where the picture cannot be turned.
        var configuration: String?
        var options = ImagingOptions()
        var rotations: Set<UInt16> = []
        /// The token of the configuration of the loudspeaker; nil where its level cannot be changed.
        var output: String?
        var levels: ClosedRange<UInt8>?
        /// How far the device's clock is ahead, in milliseconds.
        var clockOffset: Int64 = 0
    }

    let device: HTTPAddress
    var client: ONVIFClient
    let deadline: Instant

    /// Asks where the settings are, and what they can be.
    mutating func locate() throws(ONVIFError) -> Place {
        if let answer = try ask(DeviceService.getSystemDateAndTime(device)),
            let time = try? DeviceService.systemDateAndTime(answer)
        {
            client.clockOffset = time.millisecondsSince1970 &- WallTime.now.millisecondsSince1970
        }
        var services = ServiceAddresses()
        if let answer = try ask(DeviceService.getServices(device)) {
            services = DeviceService.services(answer, given: device)
        }
        // Devices that are older than GetServices, and those that forget a service there.
        if services.media == nil || services.imaging == nil, let answer = try ask(DeviceService.getCapabilities(device))
        {
            let older = DeviceService.capabilities(answer, given: device)
            services.media = services.media ?? older.media
            services.imaging = services.imaging ?? older.imaging
        }
        var place = Place(media: services.media ?? device, clockOffset: client.clockOffset)
        if let answer = try ask(MediaService.getAudioOutputConfigurations(place.media)),
            let output = try? AudioOutputConfiguration(answer), output.level != nil,
            let options = try ask(
                MediaService.getAudioOutputConfigurationOptions(place.media, token: output.token)),
            let levels = MediaService.outputLevels(options)
        {
            place.output = output.token
            place.levels = levels
        }
        guard let answer = try ask(MediaService.getProfiles(place.media)) else { return place }
        // The sensor of the stream that is recorded: a device may have several.
        let profiles = MediaProfile.ranked(MediaService.profiles(answer))
        guard let profile = profiles.first(where: { $0.videoSource != nil }), let source = profile.videoSource else {
            return place
        }
        place.source = source
        if let imaging = services.imaging, let answer = try ask(ImagingService.getOptions(imaging, source: source)) {
            place.options = ImagingService.options(answer)
            if place.options != ImagingOptions() { place.imaging = imaging }
        }
        if let token = profile.videoSourceConfiguration,
            let answer = try ask(MediaService.getVideoSourceConfigurationOptions(place.media, token: token))
        {
            place.rotations = MediaService.rotations(answer)
            if !place.rotations.isEmpty { place.configuration = token }
        }
        return place
    }

    /// Asks for the settings as they are.
    mutating func read(_ place: Place) throws(ONVIFError) -> ONVIFSettingsState {
        client.clockOffset = place.clockOffset
        var state = ONVIFSettingsState()
        if let imaging = place.imaging,
            let answer = try ask(ImagingService.getImagingSettings(imaging, source: place.source))
        {
            let settings = ImagingService.settings(answer)
            // With only one mode there is nothing to choose.
            if place.options.irCutFilterModes.count > 1, let filter = settings.irCutFilter {
                state.settings.nightVision = .init(filter)
                state.nightVisionModes = Set(place.options.irCutFilterModes.map { .init($0) })
            }
            if place.options.hasWideDynamicRange { state.settings.isHDREnabled = settings.wideDynamicRange }
        }
        if let configuration = place.configuration,
            let answer = try ask(MediaService.getVideoSourceConfiguration(place.media, token: configuration)),
            let current = try? VideoSourceConfiguration(answer)
        {
            state.settings.rotation = current.rotation
            state.rotations = place.rotations
        }
        if let output = place.output,
            let answer = try ask(MediaService.getAudioOutputConfiguration(place.media, token: output)),
            let level = try? AudioOutputConfiguration(answer).level
        {
            state.settings.speakerLevel = level
            state.speakerLevels = place.levels
        }
        return state
    }

    /// Changes what `wanted` has. When it returns, the device has accepted all of it.
    mutating func set(_ wanted: ONVIFSettings, at place: Place) throws(ONVIFError) {
        client.clockOffset = place.clockOffset
        let imaging = ImagingSettings(
            irCutFilter: wanted.nightVision.map { .init($0) }, wideDynamicRange: wanted.isHDREnabled)
        if imaging != ImagingSettings() {
            guard let address = place.imaging else {
                throw .unsupported(.imagingSettings)
            }
            _ = try call(ImagingService.setImagingSettings(address, source: place.source, imaging))
        }
        if let rotation = wanted.rotation { try set(rotation: rotation, at: place) }
        if let level = wanted.speakerLevel { try set(speakerLevel: level, at: place) }
    }

    private mutating func set(rotation: UInt16, at place: Place) throws(ONVIFError) {
        guard let token = place.configuration else {
            throw .unsupported(.rotation)
        }
        var configuration = try VideoSourceConfiguration(
            try call(MediaService.getVideoSourceConfiguration(place.media, token: token)))
        guard configuration.rotation != rotation else { return }
        configuration.rotation = rotation
        _ = try call(MediaService.setVideoSourceConfiguration(place.media, configuration))
    }

    private mutating func set(speakerLevel: UInt8, at place: Place) throws(ONVIFError) {
        guard let token = place.output else {
            throw .unsupported(.speakerLevel)
        }
        var configuration = try AudioOutputConfiguration(
            try call(MediaService.getAudioOutputConfiguration(place.media, token: token)))
        guard configuration.level != speakerLevel else { return }
        configuration.setLevel(speakerLevel)
        _ = try call(MediaService.setAudioOutputConfiguration(place.media, configuration))
    }

    /// The answer to a question that a device may refuse because it lacks the feature; nil where it does.
    private mutating func ask(_ request: ONVIFRequest) throws(ONVIFError) -> XMLElement? {
        do throws(ONVIFError) {
            return try call(request)
        } catch {
            if error.isRefusal, request.needsCredentials { throw error }
            switch error {
            case .fault, .status, .missing, .malformedXML, .documentType, .tooLarge, .unauthorized: return nil
            default: throw error
            }
        }
    }

    private mutating func call(_ request: ONVIFRequest) throws(ONVIFError) -> XMLElement {
        let left = deadline - MonotonicClock.now
        guard left > .zero else { throw .noAnswer(seconds: ONVIFSettingsControl.patience) }
        var request = request
        request.timeout = min(request.timeout, left)
        switch client.call(request) {
        case .answered(let result): return try result.get()
        case .abandoned: throw .stopped
        }
    }
}

extension ONVIFSettings.NightVision {
    /// The filter is in the way of night vision.
    init(_ filter: ImagingSettings.IRCutFilterMode) {
        switch filter {
        case .on: self = .off
        case .off: self = .on
        case .auto: self = .auto
        }
    }
}

extension ImagingSettings.IRCutFilterMode {
    init(_ nightVision: ONVIFSettings.NightVision) {
        switch nightVision {
        case .off: self = .on
        case .on: self = .off
        case .auto: self = .auto
        }
    }
}
