/// The session level of a description, or one media description: a list of lines in order.
///
/// The lines are the stored value and the typed properties are views of them, so a line that is not understood is
/// neither lost nor moved.
public protocol DescriptionSection {
    /// The lines in order, without the `m=` line.
    var lines: [SessionDescription.Line] { get set }
}

extension SessionDescription {
    /// One line of a description.
    public enum Line: Hashable, Sendable {
        /// An `a=` line.
        case attribute(Attribute)
        /// Any other line of the form `x=value`.
        case field(type: Unicode.Scalar, value: String)
        /// A line without that form, as written.
        case unreadable(String)

        /// The line as written, without its end.
        public var text: String {
            switch self {
            case .attribute(let attribute): "a=" + attribute.text
            case .field(let type, let value): "\(type)=\(value)"
            case .unreadable(let text): text
            }
        }
    }

    /// The content of an `a=` line (RFC 8866, section 5.13).
    public struct Attribute: Hashable, Sendable {
        /// The part before the colon.
        public var name: String
        /// The part after the colon; nil for a property attribute such as `a=rtcp-mux`.
        public var value: String?

        /// Makes an attribute.
        public init(_ name: String, _ value: String? = nil) {
            self.name = name
            self.value = value
        }

        /// The attribute without `a=`.
        public var text: String { value.map { name + ":" + $0 } ?? name }
    }

    /// A line that could not be understood, or that breaks a rule; it keeps its place.
    public struct Problem: Hashable, Sendable, Codable, CustomStringConvertible {
        /// The number of the line, from 1; 0 where a line is missing.
        public var line: Int
        /// The line as written, shortened when it is very long.
        public var text: String
        /// What is wrong with it.
        public var reason: String

        /// Describes a problem.
        public init(line: Int, text: String, reason: String) {
            self.line = line
            self.text = text
            self.reason = reason
        }

        public var description: String {
            line == 0 ? reason : "line \(line): \(reason): \(text)"
        }
    }
}

extension DescriptionSection {
    /// All attributes in order.
    public var attributes: [SessionDescription.Attribute] {
        lines.compactMap { if case .attribute(let attribute) = $0 { attribute } else { nil } }
    }

    /// Whether the section has the property attribute `name`.
    public func hasAttribute(_ name: String) -> Bool {
        lines.contains {
            if case .attribute(let attribute) = $0 { attribute.name.equalsIgnoringCase(name) } else { false }
        }
    }

    /// The value of the first attribute `name`; nil where there is none or it has no value.
    public func value(of name: String) -> String? {
        for case .attribute(let attribute) in lines where attribute.name.equalsIgnoringCase(name) {
            if let value = attribute.value { return value }
        }
        return nil
    }

    /// The values of all attributes `name`, in order.
    public func values(of name: String) -> [String] {
        lines.compactMap {
            if case .attribute(let attribute) = $0, attribute.name.equalsIgnoringCase(name) {
                attribute.value
            } else {
                nil
            }
        }
    }

    /// The value of the first line of this type.
    public func field(_ type: Unicode.Scalar) -> String? {
        for case .field(type, let value) in lines { return value }
        return nil
    }

    /// Adds an attribute at the end.
    public mutating func append(_ name: String, _ value: String? = nil) {
        lines.append(.attribute(.init(name, value)))
    }
}

// What may appear at either level. Transport attributes at the session level apply to every media description that does
// not have its own (RFC 8839, section 4.2; RFC 8122, section 5).
extension DescriptionSection {
    /// `c=`: where media would be sent to without ICE.
    public var connection: ConnectionData? { field("c").flatMap(ConnectionData.init(parsing:)) }

    /// The `b=` lines as (type, value) in order, for example `AS` and kilobits a second.
    public var bandwidths: [Bandwidth] {
        lines.compactMap { if case .field("b", let value) = $0 { Bandwidth(parsing: value) } else { nil } }
    }

    /// `a=sendrecv`, `a=recvonly`, `a=sendonly` or `a=inactive` of this level; the first of several.
    public var ownDirection: MediaDirection? {
        for case .attribute(let attribute) in lines where attribute.value == nil {
            if let direction = MediaDirection(rawValue: attribute.name.lowercased()) { return direction }
        }
        return nil
    }

    /// `a=ice-ufrag` of this level.
    public var iceUsernameFragment: String? { value(of: "ice-ufrag").map { String($0.trimmed) } }

    /// `a=ice-pwd` of this level.
    public var icePassword: String? { value(of: "ice-pwd").map { String($0.trimmed) } }

    /// The words of `a=ice-options` of this level.
    public var iceOptions: [String] { values(of: "ice-options").flatMap { $0.words.map(String.init) } }

    /// All readable `a=fingerprint` lines of this level.
    public var fingerprints: [Fingerprint] { values(of: "fingerprint").compactMap(Fingerprint.init(parsing:)) }

    /// `a=setup` of this level.
    public var setup: DTLSSetup? { value(of: "setup").flatMap { DTLSSetup(rawValue: $0.trimmed.lowercased()) } }

    /// All readable `a=candidate` lines of this level.
    public var candidates: [ICECandidate] { values(of: "candidate").compactMap { ICECandidate(parsing: $0) } }

    /// Whether `a=end-of-candidates` says that no candidate follows (RFC 8840, section 8.2).
    public var hasEndOfCandidates: Bool { hasAttribute("end-of-candidates") }

    /// All readable `a=extmap` lines of this level.
    public var headerExtensions: [HeaderExtension] { values(of: "extmap").compactMap(HeaderExtension.init(parsing:)) }

    /// `a=control`: the RTSP URL of this level, absolute or relative (RFC 2326, appendix C.1.1).
    public var control: String? { value(of: "control").map { String($0.trimmed) } }
}
