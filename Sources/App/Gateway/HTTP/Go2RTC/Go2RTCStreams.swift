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

    /// How many refusals are kept for a principal. Later ones, of other names, are neither kept nor logged.
    static let mostRefusals = 64

    private let streams = Locked<[String: [String: Stream]]>([:])
    private let refused = Locked<[String: [String: Go2RTCRefusal]]>([:])

    /// The cameras that programs asked for and did not get, by principal and name.
    var refusals: [(principal: String, refusal: Go2RTCRefusal)] {
        var all: [(principal: String, refusal: Go2RTCRefusal)] = []
        for (principal, refusals) in refused.withLock({ $0 }) {
            all += refusals.values.map { (principal: principal, refusal: $0) }
        }
        return all.sorted { ($0.principal, $0.refusal.name) < ($1.principal, $1.refusal.name) }
    }

    /// Keeps a refusal.
    /// - Returns: whether it is the first with its name, which is logged.
    func record(_ refusal: Go2RTCRefusal, of principal: String) -> Bool {
        refused.withLock { refused in
            let own = refused[principal] ?? [:]
            let isFirst = own[refusal.name] == nil
            if isFirst, own.count >= Self.mostRefusals { return false }
            refused[principal, default: [:]][refusal.name] = refusal
            return isFirst
        }
    }

    /// A program has found the camera of a name.
    func forgetRefusal(named name: String, of principal: String) {
        let name = Go2RTCRefusal.key(of: name)
        refused.withLock { refused in
            refused[principal]?[name] = nil
            if refused[principal]?.isEmpty == true { refused[principal] = nil }
        }
    }

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
        forgetRefusal(named: name, of: principal)
    }

    /// Forgets the names of a principal for cameras that it may not watch any more: another token may get its name.
    func end(of principal: String, unless mayWatch: (_ deviceID: String) -> Bool) {
        streams.withLock { streams in
            let kept = streams[principal]?.filter { mayWatch($0.value.deviceID) } ?? [:]
            streams[principal] = kept.isEmpty ? nil : kept
        }
        // What was refused may be permitted now, or the token may be gone.
        _ = refused.withLock { $0.removeValue(forKey: principal) }
    }

    /// Forgets a name.
    func remove(_ name: String, of principal: String) {
        _ = streams.withLock { $0[principal]?.removeValue(forKey: name) }
    }
}
