import HTTPMedia
import XML

/// A configuration as a device has sent it. To set one replaces all of it, so what the gateway does not change goes back as it
/// came.
struct KeptConfiguration: Sendable, Equatable {
    /// The token by which requests name it.
    let token: String
    /// The configuration itself.
    var element: XMLElement

    /// Takes an element of an answer.
    /// - Parameters:
    ///   - element: nil where the answer has none.
    ///   - operation: the request that was answered, for the error.
    /// - Throws: ``ONVIFError/missing(element:in:)`` where there is none, or where it has no token.
    init(_ element: XMLElement?, of operation: String) throws(ONVIFError) {
        guard let element, let token = element.attribute("token")?.asToken else {
            throw .missing(element: "Configuration", in: "\(operation)Response")
        }
        self.token = token
        self.element = element
    }

    /// The configuration as the request to set it holds it.
    fileprivate var xml: String {
        XMLElement(
            name: .init(namespace: XMLNamespace.media, local: "Configuration"), attributes: element.attributes,
            children: element.children, text: element.text
        ).serialized()
    }
}

/// The requests for configurations have one shape, whatever they configure (ONVIF Media, sections 5.5 and 5.12).
extension MediaService {
    /// Asks for a configuration, or for what it can be.
    static func ask(_ address: HTTPAddress, _ operation: String, configuration token: String) -> ONVIFRequest {
        make(address, operation, "<trt:ConfigurationToken>\(token.escapedForXML)</trt:ConfigurationToken>")
    }

    /// Sets a configuration, for good.
    static func set(
        _ address: HTTPAddress, _ operation: String, _ configuration: KeptConfiguration
    ) -> ONVIFRequest {
        make(address, operation, configuration.xml + "<trt:ForcePersistence>true</trt:ForcePersistence>")
    }
}
