/// The configuration of a video source, of which the gateway changes the rotation and nothing else.
public struct VideoSourceConfiguration: Sendable, Equatable {
    /// The configuration as the device has sent it: `SetVideoSourceConfiguration` replaces all of it.
    private var element: XMLElement

    /// Takes the configuration from the answer to `GetVideoSourceConfiguration`.
    /// - Throws: ``ONVIFError/missing(element:in:)`` where the answer has none.
    public init(_ answer: XMLElement) throws(ONVIFError) {
        guard let element = answer.firstDescendant("Configuration"), element.attribute("token") != nil else {
            throw .missing(element: "Configuration", in: "GetVideoSourceConfigurationResponse")
        }
        self.element = element
    }

    /// By how many degrees the picture is turned, clockwise. A camera that turns it as it likes (`AUTO`) and does not
    /// say how far counts as 0.
    public var rotation: UInt16 {
        get {
            guard let rotate = element["Extension"]?["Rotate"] else { return 0 }
            let degree = rotate["Degree"].flatMap { UInt16($0.text) }.flatMap { $0 < 360 ? $0 : nil }
            switch rotate["Mode"]?.text.uppercased() {
            // Without a degree it stands on its head (tt:Rotate).
            case "ON": return degree ?? 180
            case "AUTO": return degree ?? 0
            default: return 0
            }
        }
        set {
            func make(_ local: String, text: String = "") -> XMLElement {
                XMLElement(name: .init(namespace: XMLNamespace.schema, local: local), text: text)
            }
            var rotate = make("Rotate")
            rotate.children = [make("Mode", text: newValue == 0 ? "OFF" : "ON")]
            if newValue != 0 { rotate.children.append(make("Degree", text: "\(newValue)")) }
            // Extensions come last in the configuration, and Rotate comes first in its extension.
            let extends = element.children.firstIndex { $0.name.local == "Extension" }
            var part = extends.map { element.children[$0] } ?? make("Extension")
            if let known = part.children.firstIndex(where: { $0.name.local == "Rotate" }) {
                // What else a device keeps there stays.
                rotate.children += part.children[known].children.filter { !["Mode", "Degree"].contains($0.name.local) }
                part.children[known] = rotate
            } else {
                part.children.insert(rotate, at: 0)
            }
            if let extends {
                element.children[extends] = part
            } else {
                element.children.append(part)
            }
        }
    }

    /// The configuration as the request to set it holds it.
    var xml: String { element.renamed(.init(namespace: XMLNamespace.media, local: "Configuration")).serialized() }
}

extension XMLElement {
    /// The same element under another name.
    func renamed(_ name: Name) -> XMLElement {
        XMLElement(name: name, attributes: attributes, children: children, text: text)
    }
}

/// The rotation of the picture is a part of a video source's configuration.
extension MediaService {
    /// Asks for the configuration of a video source.
    public static func getVideoSourceConfiguration(_ address: HTTPAddress, token: String) -> ONVIFRequest {
        make(
            address, "GetVideoSourceConfiguration",
            "<trt:ConfigurationToken>\(token.escapedForXML)</trt:ConfigurationToken>")
    }

    /// Asks what the configuration of a video source can be.
    public static func getVideoSourceConfigurationOptions(_ address: HTTPAddress, token: String) -> ONVIFRequest {
        make(
            address, "GetVideoSourceConfigurationOptions",
            "<trt:ConfigurationToken>\(token.escapedForXML)</trt:ConfigurationToken>")
    }

    /// Sets the configuration of a video source, for good.
    public static func setVideoSourceConfiguration(
        _ address: HTTPAddress, _ configuration: VideoSourceConfiguration
    ) -> ONVIFRequest {
        make(
            address, "SetVideoSourceConfiguration",
            configuration.xml + "<trt:ForcePersistence>true</trt:ForcePersistence>")
    }

    /// Reads the answer to `GetVideoSourceConfigurationOptions`: the degrees that the picture can be turned by, clockwise,
    /// 0 among them (the schema's `tt:RotateOptions`); empty where it cannot be turned.
    public static func rotations(_ answer: XMLElement) -> Set<UInt16> {
        guard let rotate = answer.firstDescendant("Rotate") else { return [] }
        let modes = Set(rotate.all("Mode").map { $0.text.uppercased() })
        guard modes.isSuperset(of: ["ON", "OFF"]) else { return [] }
        let listed = rotate["DegreeList"]?.all("Items").prefix(360).compactMap { UInt16($0.text) } ?? []
        // Without a list the picture can stand on its head.
        let turned = listed.isEmpty ? [180] : listed.filter { (1..<360).contains($0) }
        return turned.isEmpty ? [] : Set(turned).union([0])
    }
}
