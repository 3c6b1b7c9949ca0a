import SDP

/// Decides what to accept from a publisher's offer (RFC 9725). It answers WHIP, and `gatehouse sdp` uses it too.
public struct PublisherNegotiation: Sendable {
    /// The preferred codecs, before the publisher's own order: those that viewers of the camera are already receiving.
    public var preferred: [MediaCodec]

    /// Describes what viewers already receive.
    public init(preferred: [MediaCodec] = []) {
        self.preferred = preferred
    }

    /// Answers an offer. Every answer receives something.
    /// - Parameter local: the gateway's ICE credentials, certificate and candidates.
    public func answer(
        _ offer: SessionDescription, local: LocalTransportDescription
    ) throws(OfferRefusal) -> NegotiatedSession {
        let session: NegotiatedSession
        do throws(NegotiationError) {
            session = try PublisherAnswerer(local: local, preferred: preferred).answer(offer)
        } catch {
            switch error {
            case .codecMismatch, .noUsableMedia:
                throw OfferRefusal(
                    .noCommonCodec(error),
                    line: offer.lineOfMedia { $0.kind == .video || $0.kind == .audio })
            case .invalidDescription, .unusableTransport: throw OfferRefusal(invalid: error, in: offer)
            }
        }
        guard session.media.contains(where: \.direction.receives) else {
            throw OfferRefusal(.sendsNothing, line: offer.lineOfMedia { _ in true })
        }
        return session
    }
}
