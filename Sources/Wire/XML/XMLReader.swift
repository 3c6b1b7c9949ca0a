import CExpat

/// Reads untrusted XML with libexpat: namespaces are resolved, and size, depth and number of elements are bounded. Any
/// document type declaration is refused, so no entity is ever defined, expanded or fetched.
public enum XMLReader {
    /// What a document may hold.
    public struct Limits: Sendable {
        /// The most bytes of the document.
        public var bytes = 1 << 20
        /// The most elements inside one another.
        public var depth = 48
        /// The most elements in total.
        public var elements = 20_000
        /// The most attributes of one element.
        public var attributes = 64
        /// The most bytes of the names of all elements and attributes, each with its namespace. The document writes a
        /// namespace once, and the tree has it at each name.
        public var names = 4 << 20

        /// The usual limits: ten times what the largest answer of a camera or of a router needs.
        public init() {}
    }

    /// The root element of a document.
    /// - Throws: ``XMLError``; for a document that is not well-formed, with the line.
    public static func read(_ bytes: [UInt8], limits: Limits = Limits()) throws(XMLError) -> XMLElement {
        guard bytes.count <= limits.bytes else { throw .tooLarge(what: "a document", limit: limits.bytes) }
        guard let parser = XML_ParserCreateNS(nil, XML_Char(bitPattern: TreeBuilder.separator)) else {
            throw .noParser
        }
        defer { XML_ParserFree(parser) }
        let builder = TreeBuilder(parser: parser, limits: limits)
        return try withExtendedLifetime(builder) { () throws(XMLError) -> XMLElement in
            XML_SetUserData(parser, Unmanaged.passUnretained(builder).toOpaque())
            XML_SetElementHandler(
                parser,
                { context, name, attributes in TreeBuilder.of(context)?.start(name, attributes) },
                { context, _ in TreeBuilder.of(context)?.end() })
            XML_SetCharacterDataHandler(parser) { context, text, count in TreeBuilder.of(context)?.append(text, count) }
            XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
                TreeBuilder.of(context)?.fail(.documentType)
            }
            let status = bytes.withUnsafeBytes { buffer in
                XML_Parse(
                    parser, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: buffer.count), 1)
            }
            if let failure = builder.failure { throw failure }
            guard status == XML_STATUS_OK, let root = builder.root else {
                let code = XML_GetErrorCode(parser)
                let reason = XML_ErrorString(code).map { String(cString: $0) } ?? "unknown error"
                throw .malformed("\(reason) in line \(XML_GetCurrentLineNumber(parser))")
            }
            return root
        }
    }
}

/// Builds the tree from what the parser finds. It lives for one call of ``XMLReader/read(_:limits:)``.
private final class TreeBuilder {
    /// Between the namespace and the local name: a character that XML does not allow anywhere.
    static let separator: UInt8 = 0x0C

    private struct Open {
        var element: XMLElement
        var text: [UInt8] = []
    }

    private let parser: XML_Parser
    private let limits: XMLReader.Limits
    private var open: [Open] = []
    private var elements = 0
    private var names = 0
    private(set) var root: XMLElement?
    private(set) var failure: XMLError?

    init(parser: XML_Parser, limits: XMLReader.Limits) {
        self.parser = parser
        self.limits = limits
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> TreeBuilder? {
        context.map { Unmanaged<TreeBuilder>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Ends the reading with this error.
    func fail(_ error: XMLError) {
        guard failure == nil else { return }
        failure = error
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    func start(_ name: UnsafePointer<XML_Char>?, _ list: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?) {
        // After a stop, expat may still call the handler of an empty element's end or of a pending start.
        guard failure == nil else { return }
        elements += 1
        guard elements <= limits.elements else {
            return fail(.tooLarge(what: "a number of elements", limit: limits.elements))
        }
        guard open.count < limits.depth else { return fail(.tooLarge(what: "a depth", limit: limits.depth)) }
        var attributes: [XMLElement.Attribute] = []
        var index = 0
        while let list, let attribute = list[index], let value = list[index + 1] {
            guard attributes.count < limits.attributes else {
                return fail(.tooLarge(what: "a number of attributes", limit: limits.attributes))
            }
            guard let attribute = self.name(attribute) else { return }
            attributes.append(.init(name: attribute, value: String(cString: value)))
            index += 2
        }
        guard let name = self.name(name) else { return }
        open.append(Open(element: XMLElement(name: name, attributes: attributes)))
    }

    func end() {
        guard failure == nil, var closing = open.popLast() else { return }
        closing.element.text = String(decoding: closing.text.trimmedOfSpace, as: UTF8.self)
        if open.isEmpty {
            root = closing.element
        } else {
            open[open.count - 1].element.children.append(closing.element)
        }
    }

    func append(_ text: UnsafePointer<XML_Char>?, _ count: Int32) {
        guard failure == nil, let text, count > 0, !open.isEmpty else { return }
        // The text in total is not longer than the document, since no entity can be defined.
        text.withMemoryRebound(to: UInt8.self, capacity: Int(count)) {
            open[open.count - 1].text.append(contentsOf: UnsafeBufferPointer(start: $0, count: Int(count)))
        }
    }

    /// A name with its namespace; nil once all names together are too long.
    private func name(_ text: UnsafePointer<XML_Char>?) -> XMLElement.Name? {
        guard let text else { return .init(local: "") }
        let bytes = Array(String(cString: text).utf8)
        names += bytes.count
        guard names <= limits.names else {
            fail(.tooLarge(what: "a length of all names", limit: limits.names))
            return nil
        }
        guard let cut = bytes.lastIndex(of: Self.separator) else {
            return .init(local: String(decoding: bytes, as: UTF8.self))
        }
        return .init(
            namespace: String(decoding: bytes[..<cut], as: UTF8.self),
            local: String(decoding: bytes[(cut + 1)...], as: UTF8.self))
    }
}

extension [UInt8] {
    /// The bytes without space and line ends on either side.
    var trimmedOfSpace: ArraySlice<UInt8> {
        var bytes = self[...]
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
        return bytes
    }
}
