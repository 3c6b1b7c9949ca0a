/// A codec as an `a=rtpmap` line and its `a=fmtp` parameters name it (RFC 8866, sections 6.6 and 6.15).
public struct MediaCodec: Hashable, Sendable {
    /// The encoding name as written, for example `VP8`, `H264` or `opus`. Names compare without regard to case
    /// (RFC 4855, section 3): use ``isNamed(_:)``.
    public var name: String
    /// The RTP clock rate in hertz.
    public var clockRate: Int
    /// The number of audio channels; 1 where the line names none.
    public var channels: Int
    /// The format parameters in the order of the line, names in lower case.
    public var formatParameters: FormatParameters

    /// Describes a codec.
    public init(name: String, clockRate: Int, channels: Int = 1, formatParameters: FormatParameters = []) {
        self.name = name
        self.clockRate = clockRate
        self.channels = channels
        self.formatParameters = formatParameters
    }

    /// Whether this is the codec called `name`, whatever the case.
    public func isNamed(_ name: String) -> Bool {
        self.name.equalsIgnoringCase(name)
    }
}

/// The parameters of an `a=fmtp` line, in order, with names in lower case and values as written.
public struct FormatParameters: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// One `name=value`; the value is empty where the line holds a bare word.
    public struct Parameter: Hashable, Sendable {
        /// The name in lower case.
        public var name: String
        /// The value as written.
        public var value: String

        /// Makes a parameter; `name` is converted to lower case.
        public init(name: String, value: String) {
            self.name = name.lowercased()
            self.value = value
        }
    }

    /// The parameters in the order of the line.
    public var parameters: [Parameter]

    /// Makes a list from its parameters.
    public init(_ parameters: [Parameter]) {
        self.parameters = parameters
    }

    public init(arrayLiteral elements: Parameter...) {
        parameters = elements
    }

    /// The value of the first parameter called `name`, whatever the case.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }
}
