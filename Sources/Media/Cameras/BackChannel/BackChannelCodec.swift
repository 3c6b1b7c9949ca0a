import RTSP
import SDP

/// The codec for a camera's speaker, chosen from the session description.
struct BackChannelCodec: Sendable, Equatable {
    /// The absolute URI for SETUP of its track.
    var controlURI: String
    /// The payload type and its codec.
    var payload: RTPPayload

    /// The name as in `a=rtpmap`: `PCMU/8000`.
    var name: String { payload.codec.rateName }

    /// The codecs in order of preference: AAC, L16, PCMU and PCMA, G.726, Opus. Among equals the camera's first comes
    /// first.
    ///
    /// - Parameter tracks: the speakers of the session description. Most cameras have one with all codecs, some have
    ///   one for each.
    static func ranked(_ tracks: [(controlURI: String, payloads: [RTPPayload])]) -> [BackChannelCodec] {
        var ranked: [(rank: Rank, order: Int, codec: BackChannelCodec)] = []
        for track in tracks {
            for payload in track.payloads {
                guard let rank = Rank(payload.codec) else { continue }
                let codec = BackChannelCodec(controlURI: track.controlURI, payload: payload)
                ranked.append((rank, ranked.count, codec))
            }
        }
        return ranked.sorted { ($0.rank, $0.order) < ($1.rank, $1.order) }.map(\.codec)
    }

    /// How well a codec suits speech to a camera; less is better.
    struct Rank: Comparable {
        var family: Int
        var distance: Int

        init?(_ codec: MediaCodec) {
            switch codec.name.lowercased() {
            // A frame of AAC is 1,024 samples at any rate, so the highest rate has the shortest delay.
            case "mpeg4-generic": (family, distance) = (0, 48_000 - codec.clockRate)
            // Speech ends at 8 kHz: above a rate of 16 kHz an uncompressed codec needs more bandwidth and sounds the
            // same.
            case "l16": (family, distance) = (1, Self.distance(codec.clockRate))
            case "pcmu", "pcma": (family, distance) = (2, Self.distance(codec.clockRate))
            case let name where name.hasPrefix("g726"): (family, distance) = (3, -(Int(name.suffix(2)) ?? 0))
            case "opus": (family, distance) = (4, 0)
            default: return nil
            }
            if family <= 2, !(8000...48_000).contains(codec.clockRate) { return nil }
            if family < 4, codec.channels != 1 { return nil }
        }

        private static func distance(_ rate: Int) -> Int {
            rate <= 16_000 ? 16_000 - rate : rate
        }

        static func < (left: Rank, right: Rank) -> Bool {
            (left.family, left.distance) < (right.family, right.distance)
        }
    }
}

extension MediaCodec {
    /// Name and rate as in `a=rtpmap`.
    var rateName: String { "\(name)/\(clockRate)" + (channels > 1 ? "/\(channels)" : "") }
}
