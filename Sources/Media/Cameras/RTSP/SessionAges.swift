import RTSP
import Transport

/// How old a session was when its camera ended it or fell silent, in spite of a keep-alive.
struct SessionAge: Sendable {
    var age: Duration
    var keepAlive: RTSPKeepAlive
}

/// Notices a camera that ends its sessions at one and the same age, which a keep-alive that counts would prevent. What
/// the camera says of its timeout may be wrong, so that the age alone tells.
struct SessionAges: Sendable {
    /// A camera that ends a session sooner has other reasons than a timeout.
    private static let shortest: Duration = .seconds(10)
    /// A camera that starts itself anew each day or each hour ends sessions at one age as well.
    private static let longest: Duration = .seconds(1800)

    private var last: SessionAge?

    /// A session has ended. Answers the keep-alive to blame, where the session before ended at the same age.
    mutating func note(_ ended: SessionAge?) -> RTSPKeepAlive? {
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
