import HomeTypes
import Transport

/// The names that programs have given to cameras over the API of go2rtc: Home Assistant calls a stream by its camera entity.
/// They are kept until the gateway stops; a program that misses one gives it again.
final class Go2RTCStreams: Sendable {
    /// How many names a principal may give.
    static let most = 512

    /// A named stream.
    struct Stream: Sendable, Equatable {
        var deviceID: String
        /// The address that the program gave. It may hold a password, so only the same principal gets it back.
        var source: String
    }

    private let streams = Locked<[String: [String: Stream]]>([:])

    /// The names of a principal.
    func all(of principal: String) -> [String: Stream] { streams.withLock { $0[principal] ?? [:] } }

    /// What a principal has named; nil for an unknown name.
    func stream(_ name: String, of principal: String) -> Stream? { streams.withLock { $0[principal]?[name] } }

    /// Gives a camera a name.
    func set(_ stream: Stream, named name: String, of principal: String) throws(HomeError) {
        let isFull = streams.withLock { streams in
            let own = streams[principal] ?? [:]
            if own[name] == nil, own.count >= Self.most { return true }
            streams[principal, default: [:]][name] = stream
            return false
        }
        if isFull { throw .resourceExhausted("this token has named \(Self.most) streams already") }
    }

    /// Forgets the names of a principal for cameras that it may not watch any more: another token may get its name.
    func end(of principal: String, unless mayWatch: (_ deviceID: String) -> Bool) {
        streams.withLock { streams in
            let kept = streams[principal]?.filter { mayWatch($0.value.deviceID) } ?? [:]
            streams[principal] = kept.isEmpty ? nil : kept
        }
    }

    /// Forgets a name.
    func remove(_ name: String, of principal: String) {
        _ = streams.withLock { $0[principal]?.removeValue(forKey: name) }
    }
}
