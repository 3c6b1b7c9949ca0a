import HomeHub
import HomeTypes
import Signalling
import Transport

/// What a token in a publisher's address permits.
public enum PublisherVerdict: Equatable, Sendable {
    /// It permits publishing to the device, for this principal.
    case accepted(principal: String)
    /// The token is valid, but does not permit publishing.
    case forbidden(PublisherTokenFault)
    /// It does not work.
    case unknown
}

/// Who may publish.
public struct PublisherJudge: Sendable {
    /// Whether a principal may publish to a device now.
    public var mayPublish: @Sendable (_ principal: String, _ device: String) -> Bool
    /// What a token in an address permits.
    public var verdict: @Sendable (_ token: String, _ device: String) -> PublisherVerdict

    /// Judges so.
    public init(
        mayPublish: @escaping @Sendable (_ principal: String, _ device: String) -> Bool,
        verdict: @escaping @Sendable (_ token: String, _ device: String) -> PublisherVerdict
    ) {
        self.mayPublish = mayPublish
        self.verdict = verdict
    }

    /// Judges as the tokens say, with the right that WHIP asks for.
    init(_ registry: TokenRegistry, directory: HomeDirectory) {
        // The tokens keep the home, and the home keeps its cameras.
        self.init(
            mayPublish: { [weak registry] principal, device in
                registry?.access(of: principal).permits(.media, directory.device(device)) ?? false
            },
            verdict: { [weak registry] token, device in
                guard let holder = registry?.authorization(holding: token) else { return .unknown }
                guard holder.access.isMediaOnly else { return .forbidden(.permitsTooMuch) }
                guard holder.access.permits(.media, directory.device(device)) else {
                    return .forbidden(.mayNotPublish)
                }
                return .accepted(principal: holder.principal)
            })
    }
}

/// Who may publish by RTSP and RTMP. Their servers begin to listen before the tokens are read; until then nobody may.
final class PublisherAccess: Sendable {
    private let judge = Locked<PublisherJudge?>(nil)

    func set(_ judge: PublisherJudge) {
        self.judge.withLock { $0 = judge }
    }

    /// Whether a principal may publish to a device now.
    func mayPublish(_ principal: String, _ device: String) -> Bool {
        judge.withLock { $0 }?.mayPublish(principal, device) ?? false
    }

    /// What a token in an address permits.
    func judge(token: String, device: String) -> PublisherVerdict {
        judge.withLock { $0 }?.verdict(token, device) ?? .unknown
    }
}
