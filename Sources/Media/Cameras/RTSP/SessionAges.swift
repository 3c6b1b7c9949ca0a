import RTSP
import Transport

/// How old a session was when its camera ended it or fell silent, in spite of a keep-alive.
struct SessionAge: Sendable {
    var age: Duration
    var keepAlive: RTSPKeepAlive
}

/// Notices a camera that ends its sessions always at the same age, which an effective keep-alive would prevent. The
/// camera's stated timeout may be wrong, so only the age counts.
struct SessionAges: Sendable {
    /// A camera that ends a session sooner has other reasons than a timeout.
    private static let shortest: Duration = .seconds(10)
    /// A camera that restarts itself each day or each hour also ends sessions at the same age.
    private static let longest: Duration = .seconds(1800)

    private var last: SessionAge?

    /// Records the end of a session. Returns the keep-alive to blame, where the session before ended at the same age.
    mutating func record(_ ended: SessionAge?) -> RTSPKeepAlive? {
        guard let ended, ended.age >= Self.shortest, ended.age <= Self.longest else { return nil }
        guard let before = last, before.keepAlive == ended.keepAlive,
            ended.age >= before.age * 0.8, ended.age <= before.age * 1.2
        else {
            last = ended
            return nil
        }
        last = nil
        return ended.keepAlive
    }
}
