import RTSP
import Transport

/// The logins of one account of a camera, which its streams can share.
public struct CameraLogins: Sendable {
    let host: String
    let credentials: RTSPCredentials?
    let ledger: Locked<LoginLedger>
}
