import HTTPMedia
import XML

/// The configuration of a video source, of which the gateway changes the rotation and nothing else.
public struct VideoSourceConfiguration: Sendable, Equatable {
    private var kept: KeptConfiguration

    /// Takes the configuration from the answer to `GetVideoSourceConfiguration`.
    /// - Throws: ``ONVIFError/missing(element:in:)`` where the answer has none.
    public init(_ answer: XMLElement) throws(ONVIFError) {
        kept = try KeptConfiguration(answer.firstDescendant("Configuration"), of: "GetVideoSourceConfiguration")
    }

    /// By how many degrees the picture is turned, clockwise. A camera that turns it as it likes (`AUTO`) and does not
    /// say how far is treated as 0.
    public var rotation: UInt16 {
        get {
            guard let rotate = kept.element["Extension"]?["Rotate"] else { return 0 }
            let degree = rotate["Degree"].flatMap { UInt16($0.text) }.flatMap { $0 < 360 ? $0 : nil }
            switch rotate["Mode"]?.text.uppercased() {
            // Without a degree it is upside down (tt:Rotate).
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
            let extends = kept.element.children.firstIndex { $0.name.local == "Extension" }
            var part = extends.map { kept.element.children[$0] } ?? make("Extension")
            if let known = part.children.firstIndex(where: { $0.name.local == "Rotate" }) {
                // What else a device keeps there stays.
                rotate.children += part.children[known].children.filter { !["Mode", "Degree"].contains($0.name.local) }
                part.children[known] = rotate
            } else {
                part.children.insert(rotate, at: 0)
            }
            if let extends {
                kept.element.children[extends] = part
            } else {
                kept.element.children.append(part)
            }
        }
    }

    /// Asks the device to set it, for good.
    fileprivate func request(_ address: HTTPAddress) -> ONVIFRequest {
        MediaService.set(address, "SetVideoSourceConfiguration", kept)
    }
}

/// The rotation of the picture is a part of a video source's configuration.
extension MediaService {
    /// Asks for the configuration of a video source.
    public static func getVideoSourceConfiguration(_ address: HTTPAddress, token: String) -> ONVIFRequest {
        ask(address, "GetVideoSourceConfiguration", configuration: token)
    }

    /// Asks what the configuration of a video source can be.
    public static func getVideoSourceConfigurationOptions(_ address: HTTPAddress, token: String) -> ONVIFRequest {
        ask(address, "GetVideoSourceConfigurationOptions", configuration: token)
    }

    /// Sets the configuration of a video source, for good.
    public static func setVideoSourceConfiguration(
        _ address: HTTPAddress, _ configuration: VideoSourceConfiguration
    ) -> ONVIFRequest {
        configuration.request(address)
    }

    /// Reads the answer to `GetVideoSourceConfigurationOptions`: the degrees that the picture can be turned by, clockwise,
    /// 0 among them (the schema's `tt:RotateOptions`); empty where it cannot be turned.
    public static func rotations(_ answer: XMLElement) -> Set<UInt16> {
        guard let rotate = answer.firstDescendant("Rotate") else { return [] }
        let modes = Set(rotate.all("Mode").map { $0.text.uppercased() })
        guard modes.isSuperset(of: ["ON", "OFF"]) else { return [] }
        let listed = rotate["DegreeList"]?.all("Items").prefix(360).compactMap { UInt16($0.text) } ?? []
        // Without a list the picture can be upside down.
        let turned = listed.isEmpty ? [180] : listed.filter { (1..<360).contains($0) }
        return turned.isEmpty ? [] : Set(turned).union([0])
    }
}
