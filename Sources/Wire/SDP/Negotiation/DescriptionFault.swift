/// What a description lacks that a WebRTC session needs, or where it contradicts itself or its offer.
public enum DescriptionFault: Hashable, Sendable {
    /// The offer has no `m=` line.
    case noMedia
    /// An `m=` line, given without `m=`, lacks its kind, its port or its protocol.
    case incompleteMediaLine(String)
    /// An `m=` line, given without `m=`, has something other than a port from 0 to 65535.
    case unusablePort(mediaLine: String)
    /// Two media descriptions have this identification tag.
    case repeatedTag(String)
    /// The answer has another number of `m=` lines than the offer.
    case mediaCount(answer: Int, offer: Int)
    /// A media description of the answer is in the place of one of this kind.
    case answersKind(NegotiationNote.Media, MediaKind)
    /// A media description of the answer is in the place of one with this identification tag.
    case answersTag(NegotiationNote.Media, String)
    /// The media description at this position, from 0, is used and not in the answer's BUNDLE group.
    case outsideBundle(index: Int)
}

extension DescriptionFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noMedia: "the offer has no m= line"
        case .incompleteMediaLine(let line): "m=\(line) does not have the form m=<media> <port> <protocol> <format>…"
        case .unusablePort(let line): "m=\(line) has no port from 0 to 65535"
        case .repeatedTag(let tag): "two media sections have the identification tag \(tag)"
        case .mediaCount(let answer, let offer):
            "the answer has \(answer) m= lines and the offer has \(offer); they must be the same"
        case .answersKind(let media, let kind): "\(media.label) answers a media section of \(kind.name)"
        case .answersTag(let media, let tag): "\(media.label) answers a media section with the tag \(tag)"
        case .outsideBundle(let index):
            "the answer has media outside its BUNDLE group (m-line \(index + 1)); one transport was offered"
        }
    }
}
