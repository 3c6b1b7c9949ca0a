import HTTPMedia
import XML

/// The settings of a video source that the gateway knows (ONVIF Imaging, section 5.1.1). A setting that is nil is not in
/// the answer, or stays as it is.
public struct ImagingSettings: Sendable, Hashable {
    /// The filter that keeps infrared light from the sensor. A camera sees in the dark while it is off.
    public enum IRCutFilterMode: String, Sendable, Hashable, CaseIterable {
        /// In front of the sensor, as by day.
        case on = "ON"
        /// Out of the way, as by night.
        case off = "OFF"
        /// As the camera decides.
        case auto = "AUTO"
    }

    /// Where the infrared cut filter is.
    public var irCutFilter: IRCutFilterMode?
    /// Whether wide dynamic range is on.
    public var wideDynamicRange: Bool?

    /// Names settings.
    public init(irCutFilter: IRCutFilterMode? = nil, wideDynamicRange: Bool? = nil) {
        self.irCutFilter = irCutFilter
        self.wideDynamicRange = wideDynamicRange
    }
}

/// What a video source can be set to (ONVIF Imaging, section 5.1.2), as far as the gateway knows the settings.
public struct ImagingOptions: Sendable, Hashable {
    /// The modes of the infrared cut filter; empty where the source has none.
    public var irCutFilterModes: Set<ImagingSettings.IRCutFilterMode>
    /// Whether wide dynamic range can be both on and off.
    public var hasWideDynamicRange: Bool

    /// Names what a source can be set to.
    public init(irCutFilterModes: Set<ImagingSettings.IRCutFilterMode> = [], hasWideDynamicRange: Bool = false) {
        self.irCutFilterModes = irCutFilterModes
        self.hasWideDynamicRange = hasWideDynamicRange
    }
}

/// The requests to the imaging service, and their answers (ONVIF Imaging, section 5.2).
public enum ImagingService {
    /// Asks what a video source is set to.
    public static func getImagingSettings(_ address: HTTPAddress, source: String) -> ONVIFRequest {
        make(address, "GetImagingSettings", token(source))
    }

    /// Asks what a video source can be set to.
    public static func getOptions(_ address: HTTPAddress, source: String) -> ONVIFRequest {
        make(address, "GetOptions", token(source))
    }

    /// Sets what `settings` has, for good. The other settings are left out, and stay as they are.
    public static func setImagingSettings(
        _ address: HTTPAddress, source: String, _ settings: ImagingSettings
    ) -> ONVIFRequest {
        // In the order of the schema's sequence (tt:ImagingSettings20).
        var content = ""
        if let mode = settings.irCutFilter { content += "<tt:IrCutFilter>\(mode.rawValue)</tt:IrCutFilter>" }
        if let isOn = settings.wideDynamicRange {
            content += "<tt:WideDynamicRange><tt:Mode>\(isOn ? "ON" : "OFF")</tt:Mode></tt:WideDynamicRange>"
        }
        return make(
            address, "SetImagingSettings",
            token(source)
                + "<timg:ImagingSettings xmlns:tt=\"\(XMLNamespace.schema)\">\(content)</timg:ImagingSettings>"
                + "<timg:ForcePersistence>true</timg:ForcePersistence>")
    }

    private static func token(_ source: String) -> String {
        "<timg:VideoSourceToken>\(source.escapedForXML)</timg:VideoSourceToken>"
    }

    private static func make(_ address: HTTPAddress, _ operation: String, _ content: String) -> ONVIFRequest {
        ONVIFRequest(
            address: address, action: "\(XMLNamespace.imaging)/\(operation)",
            body: "<timg:\(operation) xmlns:timg=\"\(XMLNamespace.imaging)\">\(content)</timg:\(operation)>")
    }

    /// Reads the answer to `GetImagingSettings`. A value that is not in the schema is treated as none.
    public static func settings(_ answer: XMLElement) -> ImagingSettings {
        guard let settings = answer.firstDescendant("ImagingSettings") else { return ImagingSettings() }
        return ImagingSettings(
            irCutFilter: settings["IrCutFilter"].flatMap { ImagingSettings.IRCutFilterMode($0) },
            wideDynamicRange: settings["WideDynamicRange"]?["Mode"].flatMap { $0.isOn })
    }

    /// Reads the answer to `GetOptions`.
    public static func options(_ answer: XMLElement) -> ImagingOptions {
        guard let options = answer.firstDescendant("ImagingOptions") else { return ImagingOptions() }
        let ranges = options["WideDynamicRange"]?.all("Mode").compactMap { $0.isOn } ?? []
        return ImagingOptions(
            irCutFilterModes: Set(
                options.all("IrCutFilterModes").compactMap { ImagingSettings.IRCutFilterMode($0) }),
            hasWideDynamicRange: ranges.contains(true) && ranges.contains(false))
    }
}

extension ImagingSettings.IRCutFilterMode {
    /// Nil for a mode that is not in the schema.
    fileprivate init?(_ element: XMLElement) { self.init(rawValue: element.text.uppercased()) }
}

extension XMLElement {
    /// Whether a mode is `ON`; nil for one that is neither `ON` nor `OFF`.
    fileprivate var isOn: Bool? {
        switch text.uppercased() {
        case "ON": true
        case "OFF": false
        default: nil
        }
    }
}
