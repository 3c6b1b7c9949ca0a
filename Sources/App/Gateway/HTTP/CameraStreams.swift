import HomeTypes
import Transport

/// The live streams that were promised to a cloud: each has an address for its signalling and a token for it.
final class CameraStreams: Sendable {
    /// How long a stream may wait for its offer.
    static let lifetime = Duration.seconds(300)
    /// How many there are; the oldest gives way.
    static let capacity = 256

    /// One stream.
    struct Stream: Sendable {
        var deviceID: String
        var caller: Caller
        var tokenDigest: String
        var madeAt: Instant
        /// The live view, once the offer has come.
        var session: String?
    }

    private let streams = Locked<[String: Stream]>([:])

    /// Promises a stream.
    /// - Returns: the secret part of the address, and the token.
    func add(_ device: String, for caller: Caller, at now: Instant) -> (id: String, token: String) {
        let (id, token) = (TokenRegistry.newID(prefix: "v"), TokenRegistry.newID(prefix: "gatehouse_stream_"))
        streams.withLock { streams in
            streams = streams.filter { $0.value.session != nil || now - $0.value.madeAt < Self.lifetime }
            if streams.count >= Self.capacity, let oldest = streams.min(by: { $0.value.madeAt < $1.value.madeAt }) {
                streams[oldest.key] = nil
            }
            streams[id] = Stream(
                deviceID: device, caller: caller, tokenDigest: TokenRegistry.digest(of: token), madeAt: now)
        }
        return (id, token)
    }

    /// A stream; nil with another token, or after its time.
    func stream(_ id: String, token: String, at now: Instant) -> Stream? {
        streams.withLock { streams in
            guard let stream = streams[id], stream.tokenDigest == TokenRegistry.digest(of: token),
                stream.session != nil || now - stream.madeAt < Self.lifetime
            else { return nil }
            return stream
        }
    }

    /// Notes the live view of a stream.
    func note(session: String, of id: String) {
        streams.withLock { $0[id]?.session = session }
    }

    /// Forgets a stream.
    func remove(_ id: String) {
        streams.withLock { $0[id] = nil }
    }
}
