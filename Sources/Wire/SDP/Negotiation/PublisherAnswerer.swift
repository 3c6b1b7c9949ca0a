/// Answers a publisher's offer (RFC 9725): accepts its camera and microphone, and sends nothing back.
///
/// Exactly one codec is agreed on for each kind of media, so what viewers are offered is known before the first packet.
/// An offer lists codecs in the publisher's order of preference (RFC 8866, section 5.14). The first one that can be
/// relayed is chosen; for H.264 the payload type nearest to Constrained Baseline in fragments, which every browser
/// plays. Several layers of one picture (RFC 8853) are refused by not naming them: the publisher then sends one.
public struct PublisherAnswerer: Sendable {
    /// This side's transport.
    public var local: LocalTransportDescription
    /// Codecs that come before the publisher's own order: those that viewers of the camera are already receiving.
    public var preferred: [MediaCodec]

    /// Describes an answering side.
    public init(local: LocalTransportDescription, preferred: [MediaCodec] = []) {
        self.local = local
        self.preferred = preferred
    }

    /// What viewers can receive without transcoding.
    private static let codecs: [MediaKind: [MediaCodec]] = [
        .video: [.h264(profileLevelID: "42e01f"), .vp8, .av1], .audio: [.opus, .pcmu, .pcma, .g722],
    ]

    /// Answers an offer.
    public func answer(_ offer: SessionDescription) throws(NegotiationError) -> NegotiatedSession {
        // Narrowing an m= line makes it whole.
        try offer.requireWholeMediaLines()
        var narrowed = offer
        var notes: [NegotiationNote] = []
        for index in offer.media.indices {
            let section = offer.media[index]
            if let simulcast = section.simulcast, simulcast.send.count > 1 {
                notes.append(NegotiationNote(.oneLayer(of: simulcast.send.count), ofMediaAt: index, in: offer))
            }
            guard let payload = choose(section) else { continue }
            let retransmissions = section.payloads.retransmissions.filter { $0.value == payload.payloadType }.keys
            narrowed.media[index].formats = ([payload.payloadType] + retransmissions.sorted()).map { "\($0)" }
        }
        let answerer = LiveViewAnswerer(local: local, tracks: [Self.track(.video), Self.track(.audio)])
        var session: NegotiatedSession
        do {
            session = try answerer.answer(narrowed)
        } catch {
            guard case .codecMismatch(let kind, let mismatch, _) = error else { throw error }
            throw .codecMismatch(kind, mismatch, remedy: .publishOwnCodec)
        }
        try requireWhole(session, of: narrowed)
        session.notes += notes
        return session
    }

    /// If a part of the offer were left out, the publisher would believe that all of it is seen (RFC 9725, section
    /// 4.4.3).
    private func requireWhole(
        _ session: NegotiatedSession, of offer: SessionDescription
    ) throws(NegotiationError) {
        let taken = Set(session.media.filter(\.direction.receives).map(\.index))
        var missing: [NegotiationNote] = []
        for index in offer.media.indices where !taken.contains(index) {
            let section = offer.media[index]
            guard section.kind == .audio || section.kind == .video, !section.isRejected,
                offer.direction(of: section).sends
            else { continue }
            missing.append(
                session.note(ofMediaAt: index) ?? NegotiationNote(.notReceivable, ofMediaAt: index, in: offer))
        }
        guard !missing.isEmpty else { return }
        throw .noUsableMedia(missing + [NegotiationNote(.onlyAsAWhole)])
    }

    /// The payload type that is chosen from a media description; nil where none can be relayed.
    private func choose(_ section: MediaDescription) -> RTPPayload? {
        let offered = section.payloads.filter { !$0.codec.isAuxiliary }
        var order = preferred
        for payload in offered where !order.contains(where: { $0.isNamed(payload.codec.name) }) {
            order.append(payload.codec)
        }
        for wanted in order {
            guard let ours = Self.codecs[section.kind]?.first(where: { $0.isNamed(wanted.name) }) else { continue }
            if let best = MediaSelection.best(of: [ours], in: offered) { return best.payload }
        }
        return nil
    }

    private static func track(_ kind: MediaKind) -> LocalTrack {
        LocalTrack(
            kind: kind, codecs: [], sends: false, receives: true, receiveCodecs: codecs[kind] ?? [], ssrc: 0,
            cname: "gatehouse", streamID: "-", trackID: kind.name)
    }
}
