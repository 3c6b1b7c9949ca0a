import HTTPMedia
import XML

/// The configuration of an audio output, a camera's loudspeaker, of which the gateway changes the level and nothing else.
public struct AudioOutputConfiguration: Sendable, Equatable {
    private var kept: KeptConfiguration

    /// Takes the first configuration from the answer to `GetAudioOutputConfigurations` or `GetAudioOutputConfiguration`.
    /// - Throws: ``ONVIFError/missing(element:in:)`` where the answer has none.
    public init(_ answer: XMLElement) throws(ONVIFError) {
        kept = try KeptConfiguration(
            answer["Configurations"] ?? answer["Configuration"], of: "GetAudioOutputConfiguration")
    }

    /// The token by which requests name it.
    public var token: String { kept.token }

    /// How loud the output is, within what ``MediaService/outputLevels(_:)`` says; nil where the device does not state it.
    public var level: UInt8? { kept.element["OutputLevel"].flatMap { UInt8($0.text) } }

    /// Sets the level. A configuration without one stays without.
    public mutating func setLevel(_ level: UInt8) {
        guard let index = kept.element.children.firstIndex(where: { $0.name.local == "OutputLevel" }) else { return }
        kept.element.children[index].text = "\(level)"
    }

    /// Asks the device to set it, for good.
    fileprivate func request(_ address: HTTPAddress) -> ONVIFRequest {
        MediaService.set(address, "SetAudioOutputConfiguration", kept)
    }
}

/// The level of a loudspeaker is a part of an audio output's configuration (ONVIF Media, section 5.12).
extension MediaService {
    /// Asks for the configurations of all audio outputs.
    public static func getAudioOutputConfigurations(_ address: HTTPAddress) -> ONVIFRequest {
        make(address, "GetAudioOutputConfigurations", "")
    }

    /// Asks for the configuration of an audio output.
    public static func getAudioOutputConfiguration(_ address: HTTPAddress, token: String) -> ONVIFRequest {
        ask(address, "GetAudioOutputConfiguration", configuration: token)
    }

    /// Asks what the configuration of an audio output can be.
    public static func getAudioOutputConfigurationOptions(_ address: HTTPAddress, token: String) -> ONVIFRequest {
        ask(address, "GetAudioOutputConfigurationOptions", configuration: token)
    }

    /// Sets the configuration of an audio output, for good.
    public static func setAudioOutputConfiguration(
        _ address: HTTPAddress, _ configuration: AudioOutputConfiguration
    ) -> ONVIFRequest {
        configuration.request(address)
    }

    /// Reads the answer to `GetAudioOutputConfigurationOptions`: the lowest and the highest level of the output; nil where
    /// the level cannot be changed, or is not within what Matter has (0 to 254).
    public static func outputLevels(_ answer: XMLElement) -> ClosedRange<UInt8>? {
        guard let range = answer.firstDescendant("OutputLevelRange"),
            let lowest = range["Min"].flatMap({ UInt8($0.text) }),
            let highest = range["Max"].flatMap({ UInt8($0.text) }),
            lowest < highest, highest < 255
        else { return nil }
        return lowest...highest
    }
}
