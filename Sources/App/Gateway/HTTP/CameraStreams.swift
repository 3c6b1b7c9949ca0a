import HomeTypes
import Signalling
import Transport

/// The live streams that were promised to a cloud: each has an address for its signalling and a token for it.
final class CameraStreams: Sendable {
    /// How long a stream may wait for its offer.
    static let lifetime = Duration.seconds(300)
    /// How many there are, and how many of them one principal has; the oldest of its own gives way.
    static let (capacity, share) = (256, 64)

    /// One stream.
    struct Stream: Sendable {
        var deviceID: String
        var caller: Caller
        var tokenDigest: String
        var madeAt: Instant
        /// Whether an offer has come, which is being answered or has been.
        var isTaken = false
        /// The live view, once it has begun.
        var session: String?
    }

    private let streams = Locked<[String: Stream]>([:])

    /// Promises a stream.
    /// - Returns: the secret part of the address, and the token.
    func add(_ device: String, for caller: Caller, at now: Instant) -> (id: String, token: String) {
        let (id, token) = (TokenRegistry.newID(prefix: "v"), TokenRegistry.newID(prefix: "gatehouse_stream_"))
        streams.withLock { streams in
            streams = streams.filter { $0.value.session != nil || now - $0.value.madeAt < Self.lifetime }
            let own = streams.filter { $0.value.caller.principal == caller.principal }
            if own.count >= Self.share {
                Self.makeRoom(among: own, in: &streams)
            } else if streams.count >= Self.capacity {
                Self.makeRoom(among: streams, in: &streams)
            }
            streams[id] = Stream(
                deviceID: device, caller: caller, tokenDigest: TokenRegistry.digest(of: token), madeAt: now)
        }
        return (id, token)
    }

    /// One that nobody watches gives way first: without its entry a live view could not be ended from outside.
    private static func makeRoom(among candidates: [String: Stream], in streams: inout [String: Stream]) {
        let free = candidates.filter { !$0.value.isTaken }
        let oldest = (free.isEmpty ? candidates : free).min { $0.value.madeAt < $1.value.madeAt }
        if let oldest { streams[oldest.key] = nil }
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

    /// Takes a stream for an offer.
    /// - Returns: whether it was there and free.
    func take(_ id: String) -> Bool {
        streams.withLock { streams in
            guard streams[id]?.isTaken == false else { return false }
            streams[id]?.isTaken = true
            return true
        }
    }

    /// Gives a stream back whose offer was refused. The next offer may be better.
    func giveBack(_ id: String) {
        streams.withLock { $0[id]?.isTaken = false }
    }

    /// Notes the live view of a stream.
    /// - Returns: whether the stream is still there.
    func record(session: String, of id: String) -> Bool {
        streams.withLock { streams in
            guard streams[id] != nil else { return false }
            streams[id]?.session = session
            return true
        }
    }

    /// Forgets the streams of a principal for cameras that it may not watch any more: whoever has their tokens could
    /// begin them, or another principal may get the name. Their live views end with the right.
    func end(of principal: String, unless mayWatch: (_ deviceID: String) -> Bool) {
        streams.withLock { streams in
            streams = streams.filter { $0.value.caller.principal != principal || mayWatch($0.value.deviceID) }
        }
    }

    /// The live views that have begun.
    var begun: Set<String> { Set(streams.withLock { $0.values.compactMap(\.session) }) }

    /// Forgets the streams whose live views have ended. An address takes one offer, so nothing can use them again.
    func removeEnded(_ views: any LiveViewServing) async {
        // A live view that begins from here on may not be among the leases.
        let begun = self.begun
        guard !begun.isEmpty else { return }
        removeEnded(of: begun, alive: Set(await views.leases().map(\.mediaSessionId)))
    }

    /// Forgets the streams of those of the live views `begun` that are not alive. One that has begun since then stays.
    func removeEnded(of begun: Set<String>, alive: Set<String>) {
        let ended = begun.subtracting(alive)
        guard !ended.isEmpty else { return }
        streams.withLock { streams in
            streams = streams.filter { $0.value.session.map { !ended.contains($0) } ?? true }
        }
    }

    /// Forgets a stream.
    /// - Returns: the stream as it was; nil if it was gone already.
    func remove(_ id: String) -> Stream? {
        streams.withLock { $0.removeValue(forKey: id) }
    }
}
