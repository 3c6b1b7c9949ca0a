/// The `RTP-Info` header (RFC 2326, section 12.33), which says where each track begins.
///
/// Cameras leave fields out, send zero, or send numbers beyond 32 bits. A field that cannot be used is nil, and the
/// packets decide.
public struct RTPInfoHeader: Equatable, Sendable {
    /// The beginning of one track.
    public struct Entry: Equatable, Sendable {
        /// The track's URI as the camera writes it.
        public var uri: String
        /// The sequence number of the first packet.
        public var sequenceNumber: UInt16?
        /// The RTP timestamp of the first packet.
        public var rtpTimestamp: UInt32?
    }

    /// One entry for each track.
    public var entries: [Entry]

    /// Reads a header's value.
    public init(parsing text: String) {
        entries = text.splitOutsideQuotes(UInt8(ascii: ",")).compactMap { item in
            var entry = Entry(uri: "", sequenceNumber: nil, rtpTimestamp: nil)
            for part in item.split(separator: ";") {
                let (name, value) = part.cut(at: "=")
                switch name.trimmedASCII.lowercased() {
                case "url": entry.uri = value?.unquoted ?? ""
                case "seq": entry.sequenceNumber = value.flatMap { UInt16($0.trimmedASCII) }
                case "rtptime": entry.rtpTimestamp = value.flatMap { UInt32($0.trimmedASCII) }
                default: break
                }
            }
            return entry.uri.isEmpty && entry.sequenceNumber == nil && entry.rtpTimestamp == nil ? nil : entry
        }
    }
}
