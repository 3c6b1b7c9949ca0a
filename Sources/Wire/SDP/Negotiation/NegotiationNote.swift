/// What a person should know about a negotiation: why a media description is not used, or what may go wrong with one
/// that is.
public struct NegotiationNote: Hashable, Sendable {
    /// A media description that a note is about.
    public struct Media: Hashable, Sendable {
        /// The position of its `m=` line, from 0.
        public var index: Int
        /// What ``SessionDescription/label(ofMediaAt:)`` called it when the note was made.
        public var label: String

        /// Names a media description.
        public init(index: Int, label: String) {
            self.index = index
            self.label = label
        }
    }

    /// What a person should know.
    public enum Reason: Hashable, Sendable {
        /// The media description is not used.
        case notUsed(MediaRefusal)
        /// It is used, although the receiver does not promise to play the stream. The list is not empty.
        case doubts([CodecDoubt])
        /// A publisher offers several layers of its picture (RFC 8853). One is used.
        case oneLayer(of: Int)
        /// A publisher sends it, and this side cannot receive it.
        case notReceivable
        /// A publisher's offer is accepted only as a whole (RFC 9725, section 4.4.3).
        case onlyAsAWhole
        /// The answer rejects it with port 0 (RFC 3264, section 6).
        case rejected
        /// The answer names no codec of the offer (RFC 3264, section 6.1).
        case noOfferedCodec
        /// Both sides agreed on it, and nothing flows in either direction.
        case nothingFlows
        /// The answer does not choose its DTLS role (RFC 8842, section 5.3). It is taken to be the client.
        case assumedSetup
    }

    /// The media description that it is about; nil for a note about the whole session.
    public var media: Media?
    /// What a person should know.
    public var reason: Reason

    /// Makes a note.
    /// - Parameter media: the media description that it is about; nil for the whole session.
    public init(_ reason: Reason, about media: Media? = nil) {
        self.media = media
        self.reason = reason
    }

    /// Makes a note about a media description.
    /// - Parameter index: the position of its `m=` line in `description`, from 0.
    public init(_ reason: Reason, ofMediaAt index: Int, in description: SessionDescription) {
        self.init(reason, about: Media(index: index, label: description.label(ofMediaAt: index)))
    }
}

extension NegotiatedSession {
    /// The first note about a media description; nil if there is none.
    /// - Parameter index: the position of its `m=` line, from 0.
    public func note(ofMediaAt index: Int) -> NegotiationNote? {
        notes.first { $0.media?.index == index }
    }
}

extension SessionDescription {
    /// A media description for a sentence: `m-line 1 (video, mid 0)`, numbered from 1.
    public func label(ofMediaAt index: Int) -> String {
        let section = media[index]
        return "m-line \(index + 1) (\(section.kind.name)\(section.mid.map { ", mid \($0)" } ?? ""))"
    }
}
