import HTTPMedia
import Transport
import XML

/// A request to one of a device's services.
public struct ONVIFRequest: Sendable, Equatable {
    /// Where it goes.
    public var address: HTTPAddress
    /// The action's URI.
    public var action: String
    /// The content of the SOAP body.
    public var body: String
    /// Whether the request carries the credentials. Only the request for the time does not: its answer is needed first.
    public var needsCredentials = true
    /// Headers that the device requires back (WS-Addressing, section 3.1.1: reference parameters).
    public var referenceParameters: [XMLElement] = []
    /// Whether it has the headers of WS-Addressing, which the services of WS-Notification need.
    public var isAddressed = false
    /// How long the complete answer may take.
    public var timeout: Duration = .seconds(10)

    /// Makes a request.
    public init(address: HTTPAddress, action: String, body: String) {
        self.address = address
        self.action = action
        self.body = body
    }

    /// The SOAP 1.2 message.
    /// - Parameters:
    ///   - token: authenticates the sender; nil for a message without WS-Security.
    ///   - messageID: random bytes for the message's identifier.
    public func envelope(token: UsernameToken?, messageID: (UInt64, UInt64)) -> String {
        var header = token?.xml ?? ""
        if isAddressed {
            let address = XMLNamespace.addressing
            header += "<wsa:Action xmlns:wsa=\"\(address)\">\(action.escapedForXML)</wsa:Action>"
            header += "<wsa:To xmlns:wsa=\"\(address)\">\(self.address.url.escapedForXML)</wsa:To>"
            header += "<wsa:MessageID xmlns:wsa=\"\(address)\">\(Self.uuid(messageID))</wsa:MessageID>"
            header +=
                "<wsa:ReplyTo xmlns:wsa=\"\(address)\"><wsa:Address>\(address)/anonymous</wsa:Address></wsa:ReplyTo>"
        }
        for parameter in referenceParameters { header += parameter.serialized() }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <s:Envelope xmlns:s="\(XMLNamespace.soap)"><s:Header>\(header)</s:Header><s:Body>\(body)</s:Body></s:Envelope>
            """
    }

    /// A UUID of version 4 (RFC 9562, section 5.4) as a URN.
    static func uuid(_ bits: (UInt64, UInt64)) -> String {
        let high = bits.0 & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = bits.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        func hexadecimal(_ value: UInt64) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        let digits = Array(hexadecimal(high) + hexadecimal(low))
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return "urn:uuid:" + groups.map { String(digits[$0]) }.joined(separator: "-")
    }
}

/// Reading of SOAP messages.
public enum SOAPEnvelope {
    /// The element inside the body of a message.
    /// - Throws: ``ONVIFError/fault(_:)`` where the element is a fault.
    public static func body(of bytes: [UInt8]) throws(ONVIFError) -> XMLElement {
        let root = try document(bytes)
        guard root.name.local == "Envelope", let body = root["Body"] else {
            throw .missing(element: "Body", in: "message")
        }
        if let fault = body["Fault"] { throw .fault(Self.fault(fault)) }
        // An answer without content has an empty body.
        return body.children.first ?? XMLElement(name: .init(local: ""))
    }

    private static func document(_ bytes: [UInt8]) throws(ONVIFError) -> XMLElement {
        do throws(XMLError) {
            return try XMLReader.read(bytes)
        } catch {
            switch error {
            case .malformed(let reason): throw .malformedXML(reason)
            case .documentType: throw .documentType
            case .tooLarge(let what, let limit): throw .tooLarge(what: what, limit: limit)
            case .noParser: throw .noParser
            }
        }
    }

    private static func fault(_ element: XMLElement) -> SOAPFault {
        var codes: [String] = []
        var code = element["Code"]
        while let current = code, codes.count < 8 {
            if let value = current["Value"] { codes.append(value.text.withoutPrefix) }
            code = current["Subcode"]
        }
        // SOAP 1.1 has one code.
        if codes.isEmpty, let value = element["faultcode"] { codes.append(value.text.withoutPrefix) }
        let reason = element["Reason"]?["Text"]?.text ?? element["faultstring"]?.text ?? ""
        return SOAPFault(codes: codes.map { $0.printable(upTo: 64) }, reason: reason.printable(upTo: 200))
    }
}

extension String {
    /// The name after the prefix of a qualified name.
    var withoutPrefix: String {
        guard let colon = lastIndex(of: ":") else { return self }
        return String(self[index(after: colon)...])
    }

    /// The text on one line with at most this many characters, without bidirectional controls: a camera must not shape a
    /// log or a page.
    func printable(upTo limit: Int) -> String {
        String(unicodeScalars.prefix(limit * 2).map { $0.isControlling ? " " : Character($0) })
            .prefix(limit).description
    }
}
