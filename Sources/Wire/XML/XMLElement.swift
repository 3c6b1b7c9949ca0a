/// An element of an XML document with all its content.
///
/// Elements are looked up by their local names: firmware of every maker gets some namespace wrong. No two elements that
/// the gateway reads differ only in their namespace.
public struct XMLElement: Equatable, Sendable {
    /// A name with the namespace of its prefix.
    public struct Name: Hashable, Sendable {
        /// The namespace's URI; empty where there is none.
        public var namespace: String
        /// The name without prefix.
        public var local: String

        /// The namespace of `xml:lang` and the like, whose prefix needs no declaration (Namespaces in XML 1.0, section 3).
        static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

        /// Makes a name.
        public init(namespace: String = "", local: String) {
            self.namespace = namespace
            self.local = local
        }
    }

    /// One attribute.
    public struct Attribute: Equatable, Sendable {
        /// The name; most have no namespace.
        public var name: Name
        /// The value, entities resolved.
        public var value: String

        /// Makes an attribute.
        public init(name: Name, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The element's name.
    public var name: Name
    /// The attributes in order.
    public var attributes: [Attribute]
    /// The child elements in order.
    public var children: [XMLElement]
    /// The element's own text, without that of its children and without space around it.
    public var text: String

    /// Makes an element.
    public init(name: Name, attributes: [Attribute] = [], children: [XMLElement] = [], text: String = "") {
        self.name = name
        self.attributes = attributes
        self.children = children
        self.text = text
    }

    /// The first child of this local name.
    public subscript(local: String) -> XMLElement? {
        children.first { $0.name.local == local }
    }

    /// The children of this local name.
    public func all(_ local: String) -> [XMLElement] {
        children.filter { $0.name.local == local }
    }

    /// The value of the attribute of this local name.
    public func attribute(_ local: String) -> String? {
        attributes.first { $0.name.local == local }?.value
    }

    /// The first element with this local name, in document order: this one or one inside it.
    public func firstDescendant(_ local: String) -> XMLElement? {
        if name.local == local { return self }
        for child in children {
            if let found = child.firstDescendant(local) { return found }
        }
        return nil
    }

    /// The element as XML, with a declaration of its namespace on each element. It sends back what a device requires
    /// back. There only the content matters, not the form.
    public func serialized() -> String {
        var result = "<"
        let tag = name.namespace.isEmpty ? name.local : "n:\(name.local)"
        result += tag
        result += name.namespace.isEmpty ? " xmlns=\"\"" : " xmlns:n=\"\(name.namespace.escapedForXML)\""
        for (index, attribute) in attributes.enumerated() {
            if attribute.name.namespace.isEmpty {
                result += " \(attribute.name.local)=\"\(attribute.value.escapedForXML)\""
            } else if attribute.name.namespace != Name.xmlNamespace {
                let prefix = "a\(index)"
                result += " xmlns:\(prefix)=\"\(attribute.name.namespace.escapedForXML)\""
                result += " \(prefix):\(attribute.name.local)=\"\(attribute.value.escapedForXML)\""
            }
        }
        result += ">\(text.escapedForXML)"
        for child in children { result += child.serialized() }
        return result + "</\(tag)>"
    }
}

extension String {
    /// The text, escaped for an element or a quoted attribute. Characters that XML 1.0 does not allow are left out.
    public var escapedForXML: String {
        var result = ""
        result.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&apos;"
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            case "\u{0}"..<"\u{20}", "\u{FFFE}", "\u{FFFF}": break
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
