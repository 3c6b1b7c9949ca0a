/// The configuration of an audio output, a camera's loudspeaker, of which the gateway changes the level and nothing else.
public struct AudioOutputConfiguration: Sendable, Equatable {
    /// The token by which requests name it.
    public let token: String
    /// The configuration as the device has sent it: `SetAudioOutputConfiguration` replaces all of it.
    private var element: XMLElement

    /// Takes the first configuration from the answer to `GetAudioOutputConfigurations` or `GetAudioOutputConfiguration`.
    /// - Throws: ``ONVIFError/missing(element:in:)`` where the answer has none.
    public init(_ answer: XMLElement) throws(ONVIFError) {
        guard let element = answer["Configurations"] ?? answer["Configuration"],
            let token = element.attribute("token")?.asToken
        else { throw .missing(element: "Configuration", in: "GetAudioOutputConfigurationResponse") }
        self.element = element
        self.token = token
    }

    /// How loud the output is, within what ``MediaService/outputLevels(_:)`` says; nil where the device does not state it.
    public var level: UInt8? { element["OutputLevel"].flatMap { UInt8($0.text) } }

    /// Sets the level. A configuration without one stays without.
    public mutating func setLevel(_ level: UInt8) {
        guard let index = element.children.firstIndex(where: { $0.name.local == "OutputLevel" }) else { return }
        element.children[index].text = "\(level)"
    }

    /// The configuration as the request to set it holds it.
    var xml: String { element.renamed(.init(namespace: XMLNamespace.media, local: "Configuration")).serialized() }
}

/// The level of a loudspeaker is a part of an audio output's configuration (ONVIF Media, section 5.12).
extension MediaService {
    /// Asks for the configurations of all audio outputs.
    public static func getAudioOutputConfigurations(_ address: HTTPAddress) -> ONVIFRequest {
        make(address, "GetAudioOutputConfigurations", "")
    }

    /// Asks for the configuration of an audio output.
    public static func getAudioOutputConfiguration(_ address: HTTPAddress, token: String) -> ONVIFRequest {
        make(
            address, "GetAudioOutputConfiguration",
            "<trt:ConfigurationToken>\(token.escapedForXML)</trt:ConfigurationToken>")
    }

    /// Asks what the configuration of an audio output can be.
    public static func getAudioOutputConfigurationOptions(_ address: HTTPAddress, token: String) -> ONVIFRequest {
        make(
            address, "GetAudioOutputConfigurationOptions",
            "<trt:ConfigurationToken>\(token.escapedForXML)</trt:ConfigurationToken>")
    }

    /// Sets the configuration of an audio output, for good.
    public static func setAudioOutputConfiguration(
        _ address: HTTPAddress, _ configuration: AudioOutputConfiguration
    ) -> ONVIFRequest {
        make(
            address, "SetAudioOutputConfiguration",
            configuration.xml + "<trt:ForcePersistence>true</trt:ForcePersistence>")
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
